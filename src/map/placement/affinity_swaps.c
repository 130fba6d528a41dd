/* SPDX-License-Identifier: BSD-3-Clause */
/* Affinity for placers that know nothing of it: swaps and moves within a node
 * that lower the sum of bytes x seconds per byte on the route, and of the pull
 * of each place. Algorithm 1 has its own way. */
#include "map/placement/placement.h"
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>

#define PASSES_MOST 8

struct settling {
    struct nw_placing *placing;
    size_t count;    /* places */
    double *seconds; /* [count^2] per byte from a to b */
};

static double seconds_between(const struct settling *work, int32_t a, int32_t b)
{
    return work->seconds[(size_t)a * work->count + (size_t)b];
}

/* What p costs on `place`, if `partner` were on `partner_place`. */
static double cost_at(const struct settling *work, int32_t p, int32_t place,
                      const int32_t partner[2])
{
    const struct nw_placing *placing = work->placing;
    double sum = placing->pull[(size_t)p * work->count + (size_t)place];

    for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++) {
        const struct nw_arc *arc = &placing->arc[a];
        int32_t other =
            arc->peer == partner[0] ? partner[1] : placing->place[arc->peer];

        sum += arc->out * seconds_between(work, place, other) +
               arc->in * seconds_between(work, other, place);
    }
    return sum;
}

static double swap_gain(const struct settling *work, int32_t p, int32_t q)
{
    int32_t a = work->placing->place[p], b = work->placing->place[q];
    double before = cost_at(work, p, a, (int32_t[]){q, b}) +
                    cost_at(work, q, b, (int32_t[]){p, a});
    double after = cost_at(work, p, b, (int32_t[]){q, a}) +
                   cost_at(work, q, a, (int32_t[]){p, b});

    return before - after;
}

static bool is_gain(double gain, double before)
{
    return gain > 1e-9 * before;
}

static bool move_free(struct settling *work, int32_t p)
{
    struct nw_placing *placing = work->placing;
    const int32_t nobody[] = {-1, -1};
    double here = cost_at(work, p, placing->place[p], nobody);

    for (int32_t place = 0; place < placing->places->count; place++)
        if (nw_placing_fits(placing, p, place) &&
            is_gain(here - cost_at(work, p, place, nobody), here)) {
            nw_rooms_give(&placing->rooms, placing->place[p],
                          nw_placing_wants_gpu(placing, p));
            nw_placing_put(placing, p, place);
            return true;
        }
    return false;
}

static bool swap_any(struct settling *work, int32_t p)
{
    struct nw_placing *placing = work->placing;

    for (int32_t q = 0; q < p; q++) {
        int32_t place = placing->place[p];

        if (nw_placing_is_fixed(placing, q) || placing->place[q] == place)
            continue;
        placing->steps++;
        if (!is_gain(swap_gain(work, p, q),
                     cost_at(work, p, place, (int32_t[]){-1, -1})))
            continue;
        placing->place[p] = placing->place[q];
        placing->place[q] = place;
        return true;
    }
    return false;
}

static bool pass(struct settling *work)
{
    bool better = false;

    for (int32_t p = 0; p < work->placing->count; p++)
        if (!nw_placing_is_fixed(work->placing, p))
            better |= move_free(work, p) || swap_any(work, p);
    return better;
}

static nw_status fill_seconds(struct settling *work)
{
    const struct nw_places *places = work->placing->places;
    uint32_t *room = NULL;
    nw_status status = nw_alloc(work->count * work->count,
                                sizeof *work->seconds, &work->seconds);

    if (!status)
        status = nw_alloc(nw_topology_route_max(places->topology), sizeof *room,
                          &room);
    for (size_t i = 0; !status && i < work->count * work->count; i++) {
        struct nw_hops hops =
            nw_places_route(places, (int32_t)(i / work->count),
                            (int32_t)(i % work->count), room);

        for (size_t k = 0; k < hops.count; k++)
            work->seconds[i] += 1 / places->bandwidth[hops.hop[k]];
    }
    free(room);
    return status;
}

nw_status nw_placing_settle(struct nw_placing *placing)
{
    struct settling work = {.placing = placing,
                            .count = (size_t)placing->places->count};
    nw_status status = fill_seconds(&work);

    for (int i = 0; !status && i < PASSES_MOST && pass(&work); i++)
        ;
    free(work.seconds);
    return status;
}
