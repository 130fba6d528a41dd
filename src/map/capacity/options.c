/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the options of a call that allows several ranks per element or limits
 * loads, and answers questions about them. */
#include "map/capacity/several.h"
#include "base/array.h"
#include "map/capacity/map_several.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>

bool nw_several_is_asked(const struct nw_map_options *options)
{
    struct nw_map_options mine = nw_problem_options(options);

    return mine.capacity > 1 || mine.imbalance >= 0;
}

bool nw_several_is_single(const struct nw_map_options *options)
{
    return options->capacity == 1 && options->imbalance >= 0;
}

bool nw_several_uses_gpus(const struct nw_several *several)
{
    return several->options.gpus_per_rank ||
           nw_pattern_has_gpu(several->pattern);
}

/* Limits of load exclude assignments if an element cannot take the heaviest
 * rank. They also do if an element that takes no rank now, because its host has
 * too few slots, is slower than all elements that do: a mapping without limits
 * might use it. */
bool nw_several_is_plain(const struct nw_several *several)
{
    const struct nw_kway_machine *m = &several->machine;
    const double *speeds = several->options.speeds;
    double least = HUGE_VAL;
    bool binds = !nw_several_is_single(&several->options);

    for (int32_t q = 0; q < m->k; q++)
        if (m->capacity[q]) {
            binds |= m->limit[q] < several->heaviest;
            if (speeds && speeds[several->element[q]] < least)
                least = speeds[several->element[q]];
        }
    for (int32_t q = 0; speeds && q < m->k; q++)
        binds |= speeds[several->element[q]] < least;
    return !binds;
}

struct nw_map_options
nw_several_without_limits(const struct nw_several *several)
{
    struct nw_map_options options = several->options;

    options.capacity = 0;
    options.imbalance = -1;
    options.weights = NULL;
    options.speeds = NULL;
    return options;
}

bool nw_several_is_even(const struct nw_several *several)
{
    const int64_t *load = several->graph.load;

    for (int32_t v = 1; v < several->graph.n; v++)
        if (load[v] != load[0])
            return false;
    return true;
}

void nw_several_fini(struct nw_several *several)
{
    nw_graph_fini(&several->graph);
    nw_kway_machine_fini(&several->machine);
    NW_FREE_ALL(several->table, several->host, several->slots, several->order,
                several->host_of, several->first, several->element,
                several->end);
}

/* Returns NW_EINVAL or NW_EUNSUPPORTED if an option is invalid or cannot be
 * combined with several ranks per element or with limits of load, or if the
 * objective needs links and the machine has none. */
static nw_status several_check_options(const struct nw_several *several)
{
    const struct nw_map_options *options = &several->options;

    if (options->capacity < 0 || !(options->imbalance < 1e6))
        return nw_fail(NW_EINVAL, "the capacity must be at least 1, and the "
                                  "imbalance less than a million");
    if (options->cores_per_rank > 1 || options->gpus_per_rank > 1)
        return nw_fail(NW_EINVAL, "several cores or GPUs per rank and several "
                                  "ranks per element exclude each other");
    if (nw_pattern_has_gpu(several->pattern) && !nw_several_is_single(options))
        return nw_fail(NW_EUNSUPPORTED,
                       "several ranks per element are mapped by host traffic "
                       "alone, and the pattern has a GPU layer; 'nodewise "
                       "pattern --kind hh' leaves it out");
    for (int i = 0; i < 3; i++)
        if (options->phase[i])
            return nw_fail(NW_EINVAL,
                           "--phase1, --phase2 and --phase3 cannot be "
                           "used if ranks share an element");
    return nw_problem_check_links(several->topology, options);
}

nw_status nw_several_init(struct nw_several *several,
                          const struct nw_map_call *call)
{
    struct nw_map_options *mine = &several->options;

    *several = (struct nw_several){.topology = call->topology,
                                   .pattern = call->pattern};
    *mine = nw_problem_options(call->options);
    nw_budget_init(&several->budget, mine); /* starts the clock of --time */
    return several_check_options(several);
}
