/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves large assignment problems by the mapping engine: the flows become a
 * communication pattern, and the distances become a machine. */
#include "halo/plan/assignment.h"

#include "base/array.h"

#include <math.h>
#include <nodewise/map.h>
#include <nodewise/pattern.h>
#include <nodewise/topology.h>
#include <stdlib.h>
#include <string.h>

#define SCALE 1e12 /* bytes of the pattern's largest message */

static nw_status make_pattern(const struct nw_halo_assignment *problem,
                              nw_pattern **out)
{
    size_t n = (size_t)problem->n;
    double most = 0;
    nw_pattern_builder *builder = NULL;
    nw_status status = nw_pattern_builder_new(problem->n, &builder);

    for (size_t i = 0; i < n * n; i++)
        if (problem->flow[i] > most)
            most = problem->flow[i];
    for (size_t i = 0; !status && i < n * n; i++)
        if (problem->flow[i] > 0)
            status = nw_pattern_builder_add(
                builder, (int32_t)(i / n), (int32_t)(i % n), NW_KIND_HH,
                (uint64_t)(problem->flow[i] / most * SCALE), 1);
    if (!status)
        status = nw_pattern_builder_build(builder, out);
    nw_pattern_builder_free(builder);
    return status;
}

/* Improves the engine's mapping by swaps, in `at`. Copies it to `out` if it is
 * better than `out`. */
static void engine_take(const struct nw_halo_assignment *problem,
                        const nw_mapping *mapping, int32_t *at, int32_t *out)
{
    for (int32_t i = 0; i < problem->n; i++)
        at[i] = nw_mapping_cores(mapping, i).values[0];
    nw_halo_assignment_descend(problem, at);
    if (nw_halo_assignment_cost(problem, at) <
        nw_halo_assignment_cost(problem, out))
        memcpy(out, at, (size_t)problem->n * sizeof *at);
}

#define MOST_CHECKED 512

/* Returns true if the distances can be those between the leaves of a tree whose
 * leaves are all equally deep: among the three distances of any three
 * locations, the two longest are equal. Returns false for more than
 * MOST_CHECKED locations, without a check. */
static bool engine_is_tree(const struct nw_halo_assignment *problem)
{
    size_t n = (size_t)problem->n;
    const double *d = problem->distance;

    if (n > MOST_CHECKED)
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < n; k++)
                if (i != j && d[i * n + j] * (1 - 1e-9) >
                                  fmax(d[i * n + k], d[k * n + j]))
                    return false;
    return true;
}

/* Uses the engine's "fast" effort if the distances form a tree: recursive
 * bisection is then as good as a search and takes a hundredth of the time. */
nw_status nw_halo_assignment_engine(const struct nw_halo_assignment *problem,
                                    int32_t *out)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_topology *machine = NULL;
    nw_pattern *pattern = NULL;
    nw_mapping *mapping = NULL;
    int32_t *at = NULL;
    nw_status status = nw_alloc((size_t)problem->n, sizeof *at, &at);

    options.objective = NW_OBJECTIVE_HOP_BYTES;
    options.progress = problem->progress;
    options.effort =
        engine_is_tree(problem) ? NW_EFFORT_FAST : NW_EFFORT_DEFAULT;
    if (!status)
        status = make_pattern(problem, &pattern);
    if (!status)
        status = nw_topology_from_distances("placement", problem->distance,
                                            (size_t)problem->n, &machine);
    if (!status)
        status = nw_map(machine, pattern, &options, &mapping, NULL);
    if (!status)
        engine_take(problem, mapping, at, out);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(machine);
    free(at);
    return status;
}
