/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the cost of a placement from scratch. */
#include "map/placement/congestion_swaps.h"
#include "base/array.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

/* Adds the bytes that process p sends over one arc, times their distance, to
 * the hop-bytes. Also adds them to load[] of every hop (direction of a link) on
 * the route; load is NULL if the topology has no links. */
static void placement_cost_price_arc(const struct nw_placement *placement,
                                     int32_t p, const struct nw_arc *arc,
                                     double *load, uint32_t *buffer,
                                     double *hop_bytes)
{
    int32_t from = placement->place[p], to = placement->place[arc->peer];
    struct nw_hops hops;

    if (from == to || arc->out <= 0)
        return;
    if (!load || placement->places->topology->depth_distance)
        *hop_bytes +=
            arc->out * nw_places_distance(placement->places, from, to);
    if (!load)
        return;
    hops = nw_places_route(placement->places, from, to, buffer);
    if (!placement->places->topology->depth_distance)
        *hop_bytes += arc->out * (double)hops.count;
    for (size_t i = 0; i < hops.count; i++)
        load[hops.hop[i]] += arc->out;
}

nw_status nw_placement_evaluate(const struct nw_placement *placement,
                                struct nw_placement_cost *out)
{
    const struct nw_places *places = placement->places;
    struct nw_placement_cost cost = {0, 0};
    double *load = NULL;
    uint32_t *buffer = NULL;
    nw_status status = nw_alloc(nw_topology_route_max(places->topology),
                                sizeof *buffer, &buffer);

    if (!status && places->bandwidth)
        status = nw_alloc(places->hop_count, sizeof *load, &load);
    for (int32_t p = 0; !status && p < placement->count; p++)
        for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++)
            placement_cost_price_arc(placement, p, &placement->arc[a], load,
                                     buffer, &cost.hop_bytes);
    for (uint32_t i = 0; load && i < places->hop_count; i++)
        cost.congestion = fmax(cost.congestion, load[i] / places->bandwidth[i]);
    if (!status)
        *out = cost;
    free(load);
    free(buffer);
    return status;
}

bool nw_placement_cost_less(const struct nw_placement *placement,
                            const struct nw_placement_cost *a,
                            const struct nw_placement_cost *b)
{
    const double left[] = {a->congestion, a->hop_bytes};
    const double right[] = {b->congestion, b->hop_bytes};

    for (int i = 0; i < 2; i++) {
        int k = placement->by_distance ? 1 - i : i;

        if (fabs(left[k] - right[k]) > 1e-9 * fmax(left[k], right[k]))
            return left[k] < right[k];
    }
    return false;
}
