/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the values of objectives from the figures of struct nw_link_loads.
 */
#include "map/congestion/objectives.h"

#include <math.h>

struct nw_objectives
nw_objectives_from_options(const struct nw_problem *problem)
{
    const struct nw_map_options *options = &problem->options;
    struct nw_objectives objectives = {.first = options->objective,
                                       .second = NW_OBJECTIVE_HOP_BYTES};

    if (options->has_second)
        objectives.second = options->second;
    else if (objectives.first == NW_OBJECTIVE_HOP_BYTES)
        objectives.second = nw_topology_has_links(problem->topology)
                                ? NW_OBJECTIVE_CONGESTION
                                : NW_OBJECTIVE_LATENCY;
    return objectives;
}

static bool objectives_is_named(const struct nw_objectives *objectives,
                                enum nw_objective objective)
{
    return objectives->first == objective || objectives->second == objective;
}

struct nw_link_loads_wants
nw_objectives_wants(const struct nw_objectives *objectives)
{
    bool time = objectives_is_named(objectives, NW_OBJECTIVE_TIME);

    return (struct nw_link_loads_wants){
        .links = time || objectives->most_limit > 0 ||
                 objectives_is_named(objectives, NW_OBJECTIVE_CONGESTION),
        .latency =
            time || objectives_is_named(objectives, NW_OBJECTIVE_LATENCY),
        .hop_bytes = objectives->hop_limit > 0 ||
                     objectives_is_named(objectives, NW_OBJECTIVE_HOP_BYTES)};
}

/* Returns the value of an objective; `most` is the largest congestion in
 * seconds. The time of an exchange is `most` plus the summed congestion of all
 * links and the summed latency, both divided by the number of ranks. */
static double objectives_combine(const struct nw_link_loads *loads, double most,
                                 const struct nw_load_figures *figures,
                                 enum nw_objective objective)
{
    switch (objective) {
    case NW_OBJECTIVE_CONGESTION:
        return most;
    case NW_OBJECTIVE_LATENCY:
        return figures->latency;
    case NW_OBJECTIVE_TIME:
        return most + (figures->busy + figures->latency) /
                          (double)loads->slots->problem->pattern->rank_count;
    default:
        return figures->hop_bytes;
    }
}

double nw_objectives_value(const struct nw_link_loads *loads,
                           enum nw_objective objective)
{
    return objectives_combine(loads, nw_link_loads_max(loads), &loads->now,
                              objective);
}

double nw_objectives_smooth(const struct nw_link_loads *loads,
                            enum nw_objective objective, bool after)
{
    struct nw_load_figures figures = loads->now;
    double most = 0;

    if (after) {
        figures.hop_bytes += loads->change.hop_bytes;
        figures.latency += loads->change.latency;
        figures.busy += loads->change.busy;
        figures.power += loads->change.power;
    }
    if (objective == NW_OBJECTIVE_CONGESTION || objective == NW_OBJECTIVE_TIME)
        most = loads->scale * sqrt(sqrt(sqrt(fmax(0, figures.power))));
    return objectives_combine(loads, most, &figures, objective);
}
