/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of mapping algorithms: one row for each name that the user can
 * give. */
#include "map/portfolio/algorithm.h"

#include <string.h>

#define PARTITION_PHASES                                                       \
    {                                                                          \
        nw_place_partition, nw_place_partition, nw_place_partition             \
    }

static const struct nw_algorithm algorithms[NW_ALGORITHM_COUNT] = {
    [NW_ALGORITHM_AUTO] = {.name = "auto",
                           .summary =
                               "the best of the cheap ones for the objective",
                           .several = NW_SEVERAL_BY_KWAY},
    [NW_ALGORITHM_MAGC] =
        {.name = "magc",
         .summary = "magc-scotch if Scotch is present, else magc-greedy",
         .run = nw_run_phases,
         .phase = {nw_place_partition, nw_place_magc, nw_place_magc},
         .several = NW_SEVERAL_BY_PHASES},
    [NW_ALGORITHM_MAGC_SCOTCH] =
        {.name = "magc-scotch",
         .summary = "MAGC: nodes by partition, cores and GPUs by Scotch",
         .run = nw_run_phases,
         .phase = {nw_place_partition, nw_place_scotch, nw_place_scotch},
         .several = NW_SEVERAL_BY_PHASES},
    [NW_ALGORITHM_MAGC_GREEDY] =
        {.name = "magc-greedy",
         .summary = "MAGC: nodes by partition, cores and GPUs by Algorithm 1",
         .run = nw_run_phases,
         .phase = {nw_place_partition, nw_place_greedy, nw_place_greedy},
         .several = NW_SEVERAL_BY_PHASES},
    [NW_ALGORITHM_STRATEGY1] = {.name = "strategy1",
                                .summary =
                                    "as magc, but nodes by host messages alone",
                                .run = nw_run_phases,
                                .phase = {nw_place_partition, nw_place_magc,
                                          nw_place_magc},
                                .host_only = true,
                                .baseline = true},
    [NW_ALGORITHM_STRATEGY2] =
        {.name = "strategy2",
         .summary = "as strategy1, and GPUs in the order of local ranks",
         .run = nw_run_phases,
         .phase = {nw_place_partition, nw_place_magc, NULL},
         .host_only = true,
         .baseline = true},
    [NW_ALGORITHM_INDEPENDENT] =
        {.name = "independent",
         .summary = "cores and GPUs each by themselves, GPUs anywhere",
         .run = nw_run_independent,
         .phase = {NULL, nw_place_partition, nw_place_partition},
         .baseline = true},
    [NW_ALGORITHM_INDEPENDENT_REMAP] =
        {.name = "independent-remap",
         .summary = "independent, then ranks moved to their GPU's node",
         .run = nw_run_independent,
         .phase = {NULL, nw_place_partition, nw_place_partition},
         .baseline = true,
         .remaps = true},
    [NW_ALGORITHM_SCOTCH] = {.name = "scotch",
                             .summary = "Scotch on all cores at once",
                             .run = nw_run_all_units,
                             .phase = {nw_place_scotch, nw_place_scotch,
                                       nw_place_scotch},
                             .placer = nw_place_scotch,
                             .several = NW_SEVERAL_BY_PHASES},
    [NW_ALGORITHM_RASHTI] =
        {.name = "rashti",
         .summary = "Scotch on the integer loads of the MPI topology functions",
         .run = nw_run_all_units,
         .phase = {nw_place_rashti, nw_place_rashti, nw_place_rashti},
         .placer = nw_place_rashti,
         .several = NW_SEVERAL_BY_PHASES},
    [NW_ALGORITHM_TILE] =
        {.name = "tile",
         .summary = "a stencil's grid cut into boxes, level by level",
         .run = nw_run_all_units,
         .phase = PARTITION_PHASES,
         .placer = nw_place_tile,
         .takes_start = true},
    [NW_ALGORITHM_SECTION] = {.name = "section",
                              .summary = "boxes of a grid, or recursive "
                                         "sections along the machine: quick",
                              .run = nw_run_all_units,
                              .phase = PARTITION_PHASES,
                              .placer = nw_place_section,
                              .takes_start = true},
    [NW_ALGORITHM_MULTILEVEL] =
        {.name = "multilevel",
         .summary = "recursive sections along the machine, then swaps of ranks "
                    "and subtrees",
         .run = nw_run_all_units,
         .phase = PARTITION_PHASES,
         .placer = nw_place_multilevel,
         .several = NW_SEVERAL_BY_KWAY,
         .takes_start = true},
    [NW_ALGORITHM_FOLD] = {.name = "fold",
                           .summary = "a stencil folded onto a torus, a "
                                      "dragonfly or any other network",
                           .run = nw_run_search,
                           .search = nw_search_fold,
                           .takes_start = true},
    [NW_ALGORITHM_ANNEAL] = {.name = "anneal",
                             .summary = "simulated annealing of swaps",
                             .run = nw_run_search,
                             .search = nw_search_anneal,
                             .several = NW_SEVERAL_BY_SLOTS,
                             .takes_start = true},
    [NW_ALGORITHM_TABU] = {.name = "tabu",
                           .summary = "robust tabu search of swaps",
                           .run = nw_run_search,
                           .search = nw_search_tabu,
                           .several = NW_SEVERAL_BY_SLOTS,
                           .takes_start = true},
    [NW_ALGORITHM_EXACT] = {.name = "exact",
                            .summary = "the proven best, for few ranks",
                            .run = nw_run_search,
                            .search = nw_search_exact,
                            .several = NW_SEVERAL_BY_SLOTS,
                            .takes_start = true},
    [NW_ALGORITHM_REFINE] = {.name = "refine",
                             .summary = "swaps that lower the objective, from "
                                        "--from or the default",
                             .run = nw_run_refine,
                             .phase = PARTITION_PHASES,
                             .placer = nw_place_refine,
                             .search = nw_search_descend,
                             .several = NW_SEVERAL_BY_KWAY,
                             .takes_start = true},
    [NW_ALGORITHM_PARTITION] =
        {.name = "partition",
         .summary = "recursive bisection and refinement in all phases",
         .run = nw_run_phases,
         .phase = PARTITION_PHASES,
         .several = NW_SEVERAL_BY_PHASES},
    [NW_ALGORITHM_DEFAULT] = {.name = "default",
                              .summary = "what the launcher would do",
                              .run = nw_run_default},
    [NW_ALGORITHM_BLOCK] =
        {.name = "block",
         .summary = "ranks in order, node after node, core after core",
         .run = nw_run_phases,
         .phase = {nw_place_block, nw_place_block, nw_place_block},
         .several = NW_SEVERAL_BY_KWAY,
         .cores_stay = true},
    [NW_ALGORITHM_SORTED] = {.name = "sorted",
                             .summary = "what the launcher would do on nodes "
                                        "sorted by switch",
                             .run = nw_run_sorted,
                             .cores_stay = true},
    [NW_ALGORITHM_CYCLIC] = {.name = "cyclic",
                             .summary = "ranks in order, a node each in turn",
                             .run = nw_run_phases,
                             .phase = {nw_place_cyclic, nw_place_block,
                                       nw_place_block},
                             .several = NW_SEVERAL_BY_PHASES,
                             .baseline = true},
    [NW_ALGORITHM_RANDOM] = {.name = "random",
                             .summary = "any valid mapping, from the seed",
                             .run = nw_run_phases,
                             .phase = {nw_place_random, nw_place_random,
                                       nw_place_random},
                             .several = NW_SEVERAL_BY_PHASES,
                             .baseline = true},
};

const struct nw_algorithm *nw_algorithm_get(enum nw_algorithm_id id)
{
    return &algorithms[id];
}

const struct nw_algorithm *nw_algorithm_find(const char *name)
{
    for (size_t i = 0; i < NW_ALGORITHM_COUNT; i++)
        if (!strcmp(name, algorithms[i].name))
            return &algorithms[i];
    return NULL;
}

bool nw_map_algorithm(size_t index, const char **name, const char **summary)
{
    if (index >= NW_ALGORITHM_COUNT)
        return false;
    *name = algorithms[index].name;
    *summary = algorithms[index].summary;
    return true;
}
