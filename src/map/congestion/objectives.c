/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the values of objectives from the figures of struct nw_link_loads.
 */
#include "map/congestion/objectives.h"

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

double nw_objectives_combine(const struct nw_slots *slots, double most,
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
                          (double)slots->problem->pattern->rank_count;
    default:
        return figures->hop_bytes;
    }
}

double nw_objectives_value(const struct nw_link_loads *loads,
                           enum nw_objective objective)
{
    return nw_objectives_combine(loads->slots, nw_link_loads_max(loads),
                                 &loads->now, objective);
}

double nw_objectives_smooth(const struct nw_link_loads *loads,
                            enum nw_objective objective, bool after)
{
    struct nw_load_figures figures = loads->now;
    double most = 0;

    if (after)
        nw_load_figures_add(&figures, &loads->change);
    if (objective == NW_OBJECTIVE_CONGESTION || objective == NW_OBJECTIVE_TIME)
        most = loads->scale * nw_eighth_root(figures.power);
    return nw_objectives_combine(loads->slots, most, &figures, objective);
}
