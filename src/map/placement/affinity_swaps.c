/* SPDX-License-Identifier: BSD-3-Clause */
/* Lowers the affinity cost of a placement, after placers that ignore affinity.
 * Swaps and moves processes between the places of a node if that lowers the sum
 * of two costs. These are bytes x seconds per byte on all routes, and the
 * affinity cost of each process at its place. Algorithm 1 of MAGC includes
 * affinity itself and does not need this. */
#include "map/placement/placement.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>

/* Gains of less than this fraction may be rounding errors. */
#define SMALL 1e-9

/* The placement, and the time per byte between its places. */
struct affinity_swaps_work {
    struct nw_placement *placement;
    size_t count;    /* places */
    double *seconds; /* [places x places] seconds per byte on the route from
                        place a to place b, at a * count + b */
};

static double
affinity_swaps_seconds_between(const struct affinity_swaps_work *work,
                               int32_t a, int32_t b)
{
    return work->seconds[(size_t)a * work->count + (size_t)b];
}

/* Returns the cost of process p on `place`, if process partner[0] is on place
 * partner[1] and all others stay where they are. */
static double affinity_swaps_cost_at(const struct affinity_swaps_work *work,
                                     int32_t p, int32_t place,
                                     const int32_t partner[2])
{
    const struct nw_placement *placement = work->placement;
    double sum = placement->affinity[(size_t)p * work->count + (size_t)place];

    for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++) {
        const struct nw_arc *arc = &placement->arc[a];
        int32_t other =
            arc->peer == partner[0] ? partner[1] : placement->place[arc->peer];

        sum += arc->out * affinity_swaps_seconds_between(work, place, other) +
               arc->in * affinity_swaps_seconds_between(work, other, place);
    }
    return sum;
}

/* Moves p to the first place with a free slot where p costs less than now.
 * Returns true if p was moved. */
static bool affinity_swaps_move_free(struct affinity_swaps_work *work,
                                     int32_t p)
{
    struct nw_placement *placement = work->placement;
    const int32_t nobody[] = {-1, -1};
    double here = affinity_swaps_cost_at(work, p, placement->place[p], nobody);

    for (int32_t place = 0; place < placement->places->count; place++)
        if (nw_placement_fits(placement, p, place) &&
            here - affinity_swaps_cost_at(work, p, place, nobody) >
                SMALL * here) {
            nw_free_slots_give(&placement->free_slots, placement->place[p],
                               nw_placement_wants_gpu(placement, p));
            nw_placement_put(placement, p, place);
            return true;
        }
    return false;
}

/* Swaps p with the first process of a lower number on another place if that
 * lowers the cost; fixed processes stay. Returns true if p was swapped. */
static bool affinity_swaps_swap_any(struct affinity_swaps_work *work, int32_t p)
{
    struct nw_placement *placement = work->placement;

    for (int32_t q = 0; q < p; q++) {
        int32_t place = placement->place[p], there;
        double before, after; /* traffic between p and q counts twice */

        if (nw_placement_is_fixed(placement, q) || placement->place[q] == place)
            continue;
        placement->steps++;
        there = placement->place[q];
        before = affinity_swaps_cost_at(work, p, place, (int32_t[]){q, there}) +
                 affinity_swaps_cost_at(work, q, there, (int32_t[]){p, place});
        after = affinity_swaps_cost_at(work, p, there, (int32_t[]){q, place}) +
                affinity_swaps_cost_at(work, q, place, (int32_t[]){p, there});
        if (before - after <=
            SMALL * affinity_swaps_cost_at(work, p, place, (int32_t[]){-1, -1}))
            continue;
        placement->place[p] = there;
        placement->place[q] = place;
        return true;
    }
    return false;
}

/* Fills seconds[] with the sum of 1 / bandwidth on each route between places.
 */
static nw_status affinity_swaps_fill_seconds(struct affinity_swaps_work *work)
{
    const struct nw_places *places = work->placement->places;
    uint32_t *buffer = NULL;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(work->count * work->count, work->seconds),
                     NW_ARRAY(nw_topology_route_max(places->topology), buffer));

    for (size_t i = 0; !status && i < work->count * work->count; i++) {
        struct nw_hops hops =
            nw_places_route(places, (int32_t)(i / work->count),
                            (int32_t)(i % work->count), buffer);

        for (size_t k = 0; k < hops.count; k++)
            work->seconds[i] += 1 / places->bandwidth[hops.hop[k]];
    }
    free(buffer);
    return status;
}

nw_status nw_placement_affinity_swaps(struct nw_placement *placement)
{
    struct affinity_swaps_work work = {
        .placement = placement, .count = (size_t)placement->places->count};
    nw_status status = affinity_swaps_fill_seconds(&work);
    bool better = true;

    for (int i = 0; !status && better && i < nw_tuned.placement.passes; i++) {
        better = false;
        for (int32_t p = 0; p < placement->count; p++)
            if (!nw_placement_is_fixed(placement, p))
                better |= affinity_swaps_move_free(&work, p) ||
                          affinity_swaps_swap_any(&work, p);
    }
    free(work.seconds);
    return status;
}
