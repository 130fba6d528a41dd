/* SPDX-License-Identifier: BSD-3-Clause */
/* Algorithm 1 of the MAGC paper (section V-B). It maps one process after the
 * other: the one whose mean traffic with mapped neighbours exceeds that with
 * unmapped ones most. The process gets the place with the lowest resulting
 * maximum congestion plus affinity cost, or with the lowest bytes x distance if
 * the machine has no links. Sums and loads are updated instead of recomputed,
 * which gives the same result because bytes are whole numbers. */
#include "map/placement/placement.h"
#include "base/array.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

/* Sums of the traffic of one process, with its mapped or its unmapped peers. */
struct magc_greedy_side {
    double bytes;
    int32_t neighbours; /* number of these peers */
};

/* State of the algorithm for one placement. */
struct magc_greedy_work {
    struct nw_placement *placement;
    struct magc_greedy_side *mapped, *unmapped; /* [processes] traffic with
                                                   mapped and unmapped peers */
    double *load;                               /* [hops] bytes that mapped
                                                   processes send over each hop
                                                   (one direction of a link) */
    double *trial;     /* [hops] bytes that the present trial adds to each
                          hop */
    uint32_t *touched; /* hops in which `trial` is not 0 */
    size_t touched_count;
    uint32_t *buffer;  /* scratch for one route */
    double congestion; /* maximum congestion of mapped processes, in seconds */
};

/* Returns the mean traffic per peer in bytes; 0 without peers. */
static double magc_greedy_average(const struct magc_greedy_side *side)
{
    return side->neighbours ? side->bytes / side->neighbours : 0;
}

/* Adds the traffic of an arc to the sums of a side, or if `sign` is -1, takes
 * it off. */
static void magc_greedy_add(struct magc_greedy_side *side,
                            const struct nw_arc *arc, int sign)
{
    side->bytes += sign * (arc->out + arc->in);
    side->neighbours += arc->out > 0 || arc->in > 0 ? sign : 0;
}

/* Returns the unmapped process with the highest delta of Algorithm 1: mean
 * traffic with mapped peers minus that with unmapped ones. Among equal
 * processes, returns the one with the lowest number; -1 if all are mapped. */
static int32_t magc_greedy_next_process(const struct magc_greedy_work *work)
{
    const struct nw_placement *placement = work->placement;
    int32_t best = -1;
    double best_delta = 0;

    for (int32_t q = 0; q < placement->count; q++) {
        double delta;

        if (placement->place[q] >= 0)
            continue;
        delta = magc_greedy_average(&work->mapped[q]) -
                magc_greedy_average(&work->unmapped[q]);
        if (best < 0 || delta > best_delta) {
            best = q;
            best_delta = delta;
        }
    }
    return best;
}

/* Adds bytes to work->trial on all hops of a route. */
static void magc_greedy_try_hops(struct magc_greedy_work *work,
                                 struct nw_hops hops, double bytes)
{
    for (size_t i = 0; i < hops.count; i++) {
        uint32_t hop = hops.hop[i];

        if (work->trial[hop] == 0)
            work->touched[work->touched_count++] = hop;
        work->trial[hop] += bytes;
    }
}

/* Adds to work->trial the bytes that p would exchange with mapped processes if
 * it were on `place`. */
static void magc_greedy_try_place(struct magc_greedy_work *work, int32_t p,
                                  int32_t place)
{
    const struct nw_placement *placement = work->placement;
    const struct nw_places *places = placement->places;

    for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++) {
        const struct nw_arc *arc = &placement->arc[a];
        int32_t other = placement->place[arc->peer];

        if (other < 0 || other == place)
            continue;
        if (arc->out > 0)
            magc_greedy_try_hops(
                work, nw_places_route(places, place, other, work->buffer),
                arc->out);
        if (arc->in > 0)
            magc_greedy_try_hops(
                work, nw_places_route(places, other, place, work->buffer),
                arc->in);
    }
}

/* Ends a trial and returns the maximum congestion, in seconds, of load[] plus
 * trial[]. If `keep` is true, adds trial[] to load[]. Clears trial[]. */
static double magc_greedy_end_trial(struct magc_greedy_work *work, bool keep)
{
    const double *bandwidth = work->placement->places->bandwidth;
    double most = work->congestion;

    for (size_t i = 0; i < work->touched_count; i++) {
        uint32_t hop = work->touched[i];
        double load = work->load[hop] + work->trial[hop];

        most = fmax(most, load / bandwidth[hop]);
        work->trial[hop] = 0;
        if (keep)
            work->load[hop] = load;
    }
    work->touched_count = 0;
    work->placement->steps++;
    return most;
}

/* Returns the cost of p on `place`: the maximum congestion in seconds plus the
 * affinity cost; or bytes x distance if the machine has no links. */
static double magc_greedy_cost_of(struct magc_greedy_work *work, int32_t p,
                                  int32_t place)
{
    const struct nw_placement *placement = work->placement;
    double cost;

    if (!placement->places->bandwidth)
        return nw_placement_distance_cost(placement, p, place);
    magc_greedy_try_place(work, p, place);
    cost = magc_greedy_end_trial(work, false);
    if (placement->affinity)
        cost +=
            placement->affinity[(size_t)p * (size_t)placement->places->count +
                                (size_t)place];
    return cost;
}

/* Returns the place with a free slot where p costs least, the first of several;
 * -1 if no place has a free slot. */
static int32_t magc_greedy_best_place(struct magc_greedy_work *work, int32_t p)
{
    const struct nw_placement *placement = work->placement;
    bool lonely = !work->mapped[p].neighbours && !placement->affinity;
    int32_t best = -1;
    double best_cost = 0;

    for (int32_t place = 0; place < placement->places->count; place++) {
        double cost;

        if (!nw_placement_fits(placement, p, place))
            continue;
        if (lonely) /* no traffic with mapped processes: all places are equal */
            return place;
        cost = magc_greedy_cost_of(work, p, place);
        if (best < 0 || cost < best_cost) {
            best = place;
            best_cost = cost;
        }
    }
    return best;
}

/* Maps process p to the place where it costs least, and updates the sums of its
 * peers and the loads of hops. Returns NW_EINVAL if no slot is free. */
static nw_status magc_greedy_put(struct magc_greedy_work *work, int32_t p)
{
    struct nw_placement *placement = work->placement;
    int32_t place = magc_greedy_best_place(work, p);

    if (place < 0)
        return nw_placement_full(p);
    if (placement->places->bandwidth) {
        magc_greedy_try_place(work, p, place);
        work->congestion = magc_greedy_end_trial(work, true);
    }
    nw_placement_put(placement, p, place);
    for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++) {
        const struct nw_arc *arc = &placement->arc[a];

        magc_greedy_add(&work->mapped[arc->peer], arc, 1);
        magc_greedy_add(&work->unmapped[arc->peer], arc, -1);
    }
    return NW_OK;
}

/* Allocates the arrays and computes the sums of all processes with their peers.
 */
static nw_status magc_greedy_prepare(struct magc_greedy_work *work)
{
    const struct nw_placement *placement = work->placement;
    const struct nw_places *places = placement->places;
    size_t n = (size_t)placement->count, hops = places->hop_count;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(n, work->mapped), NW_ARRAY(n, work->unmapped),
        NW_ARRAY(hops, work->load), NW_ARRAY(hops, work->trial),
        NW_ARRAY(hops, work->touched),
        NW_ARRAY(nw_topology_route_max(places->topology), work->buffer));

    for (int32_t p = 0; !status && p < placement->count; p++)
        for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++)
            magc_greedy_add(placement->place[placement->arc[a].peer] >= 0
                                ? &work->mapped[p]
                                : &work->unmapped[p],
                            &placement->arc[a], 1);
    return status;
}

/* Adds the traffic between processes that are already mapped to the loads of
 * hops. */
static void magc_greedy_load_fixed(struct magc_greedy_work *work)
{
    const struct nw_placement *placement = work->placement;

    for (int32_t p = 0; p < placement->count; p++)
        for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++) {
            const struct nw_arc *arc = &placement->arc[a];
            int32_t from = placement->place[p],
                    to = placement->place[arc->peer];

            if (from >= 0 && to >= 0 && arc->out > 0)
                magc_greedy_try_hops(
                    work,
                    nw_places_route(placement->places, from, to, work->buffer),
                    arc->out);
        }
    work->congestion = magc_greedy_end_trial(work, true);
}

nw_status nw_place_greedy(struct nw_placement *placement)
{
    struct magc_greedy_work work = {.placement = placement};
    nw_status status;

    placement->counts_affinity = true;
    status = magc_greedy_prepare(&work);
    if (!status && placement->fixed && placement->places->bandwidth)
        magc_greedy_load_fixed(&work);
    while (!status) {
        int32_t p = magc_greedy_next_process(&work);

        if (p < 0)
            break;
        status = magc_greedy_put(&work, p);
    }
    NW_FREE_ALL(work.mapped, work.unmapped, work.load, work.trial, work.touched,
                work.buffer);
    return status;
}
