/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of a placing, from scratch. */
#include "map/placement/congestion_swaps.h"
#include "base/array.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

static void price_arc(const struct nw_placing *placing, int32_t p,
                      const struct nw_arc *arc, double *load, uint32_t *room,
                      double *hop_bytes)
{
    int32_t from = placing->place[p], to = placing->place[arc->peer];
    struct nw_hops hops;

    if (from == to || arc->out <= 0)
        return;
    if (!load || placing->places->topology->depth_distance)
        *hop_bytes += arc->out * nw_places_distance(placing->places, from, to);
    if (!load)
        return;
    hops = nw_places_route(placing->places, from, to, room);
    if (!placing->places->topology->depth_distance)
        *hop_bytes += arc->out * (double)hops.count;
    for (size_t i = 0; i < hops.count; i++)
        load[hops.hop[i]] += arc->out;
}

nw_status nw_placing_price(const struct nw_placing *placing,
                           struct nw_placing_cost *out)
{
    const struct nw_places *places = placing->places;
    struct nw_placing_cost cost = {0, 0};
    double *load = NULL;
    uint32_t *room = NULL;
    nw_status status =
        nw_alloc(nw_topology_route_max(places->topology), sizeof *room, &room);

    if (!status && places->bandwidth)
        status = nw_alloc(places->hop_count, sizeof *load, &load);
    for (int32_t p = 0; !status && p < placing->count; p++)
        for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++)
            price_arc(placing, p, &placing->arc[a], load, room,
                      &cost.hop_bytes);
    for (uint32_t i = 0; load && i < places->hop_count; i++)
        cost.congestion = fmax(cost.congestion, load[i] / places->bandwidth[i]);
    if (!status)
        *out = cost;
    free(load);
    free(room);
    return status;
}

bool nw_placing_cost_less(const struct nw_placing *placing,
                          const struct nw_placing_cost *a,
                          const struct nw_placing_cost *b)
{
    const double left[] = {a->congestion, a->hop_bytes};
    const double right[] = {b->congestion, b->hop_bytes};

    for (int i = 0; i < 2; i++) {
        int k = placing->by_distance ? 1 - i : i;

        if (fabs(left[k] - right[k]) > 1e-9 * fmax(left[k], right[k]))
            return left[k] < right[k];
    }
    return false;
}
