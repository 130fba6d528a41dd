/* SPDX-License-Identifier: BSD-3-Clause */
/* Objectives out of a ledger's figures. */
#include "map/congestion/objectives.h"

#include <math.h>

struct nw_aim nw_aim_of(const struct nw_problem *problem)
{
    const struct nw_map_options *options = &problem->options;
    struct nw_aim aim = {.first = options->objective,
                         .second = NW_OBJECTIVE_HOP_BYTES};

    if (options->has_second)
        aim.second = options->second;
    else if (aim.first == NW_OBJECTIVE_HOP_BYTES)
        aim.second = nw_topology_has_links(problem->topology)
                         ? NW_OBJECTIVE_CONGESTION
                         : NW_OBJECTIVE_LATENCY;
    return aim;
}

static bool is_named(const struct nw_aim *aim, enum nw_objective objective)
{
    return aim->first == objective || aim->second == objective;
}

struct nw_ledger_wants nw_aim_wants(const struct nw_aim *aim)
{
    bool time = is_named(aim, NW_OBJECTIVE_TIME);

    return (struct nw_ledger_wants){
        .links = time || aim->most_limit > 0 ||
                 is_named(aim, NW_OBJECTIVE_CONGESTION),
        .latency = time || is_named(aim, NW_OBJECTIVE_LATENCY),
        .hop_bytes =
            aim->hop_limit > 0 || is_named(aim, NW_OBJECTIVE_HOP_BYTES)};
}

static double combine(const struct nw_ledger *ledger, double most,
                      const struct nw_figures *figures,
                      enum nw_objective objective)
{
    switch (objective) {
    case NW_OBJECTIVE_CONGESTION:
        return most;
    case NW_OBJECTIVE_LATENCY:
        return figures->latency;
    case NW_OBJECTIVE_TIME:
        return most + (figures->busy + figures->latency) /
                          (double)ledger->seats->problem->pattern->rank_count;
    default:
        return figures->hop_bytes;
    }
}

double nw_aim_value(const struct nw_ledger *ledger, enum nw_objective objective)
{
    return combine(ledger, nw_ledger_most(ledger), &ledger->now, objective);
}

double nw_aim_smooth(const struct nw_ledger *ledger,
                     enum nw_objective objective, bool after)
{
    struct nw_figures figures = ledger->now;
    double most = 0;

    if (after) {
        figures.hop_bytes += ledger->change.hop_bytes;
        figures.latency += ledger->change.latency;
        figures.busy += ledger->change.busy;
        figures.power += ledger->change.power;
    }
    if (objective == NW_OBJECTIVE_CONGESTION || objective == NW_OBJECTIVE_TIME)
        most = ledger->scale * sqrt(sqrt(sqrt(fmax(0, figures.power))));
    return combine(ledger, most, &figures, objective);
}
