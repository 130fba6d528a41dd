/* SPDX-License-Identifier: BSD-3-Clause */
/* Algorithm 1 of MAGC (section V-B): the process whose traffic is most with
 * what is mapped goes to the element that leaves the least maximum congestion.
 * Sums and loads are kept up to date instead of computed anew; whole numbers
 * of bytes make both ways equal to the last bit. */
#include "map/placement/placement.h"
#include "base/array.h"
#include "base/status.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

/* What a process exchanges with one side: mapped or unmapped. */
struct side {
    double bytes;
    int32_t neighbours;
};

struct greedy {
    struct nw_placing *placing;
    struct side *mapped, *unmapped; /* [processes] */
    double *load;                   /* [hops] bytes */
    double *trial;                  /* [hops] bytes added by a trial */
    uint32_t *touched;              /* hops with a trial load */
    size_t touched_count;
    uint32_t *room; /* for a route */
    double congestion;
};

static double average(const struct side *side)
{
    return side->neighbours ? side->bytes / side->neighbours : 0;
}

static bool talks(const struct nw_arc *arc)
{
    return arc->out > 0 || arc->in > 0;
}

static void sum_neighbours(struct greedy *work, int32_t p)
{
    const struct nw_placing *placing = work->placing;

    for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++) {
        const struct nw_arc *arc = &placing->arc[a];
        struct side *side = placing->place[arc->peer] >= 0 ? &work->mapped[p]
                                                           : &work->unmapped[p];

        side->bytes += arc->out + arc->in;
        side->neighbours += talks(arc);
    }
}

/* p becomes mapped in the sums of its neighbours. */
static void move_sums(struct greedy *work, int32_t p)
{
    const struct nw_placing *placing = work->placing;

    for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++) {
        const struct nw_arc *arc = &placing->arc[a];
        struct side *mapped = &work->mapped[arc->peer];
        struct side *unmapped = &work->unmapped[arc->peer];

        mapped->bytes += arc->out + arc->in;
        mapped->neighbours += talks(arc);
        unmapped->bytes -= arc->out + arc->in;
        unmapped->neighbours -= talks(arc);
    }
}

/* The unmapped process with the highest delta, the lowest of equals. */
static int32_t next_process(const struct greedy *work)
{
    const struct nw_placing *placing = work->placing;
    int32_t best = -1;
    double best_delta = 0;

    for (int32_t q = 0; q < placing->count; q++) {
        double delta;

        if (placing->place[q] >= 0)
            continue;
        delta = average(&work->mapped[q]) - average(&work->unmapped[q]);
        if (best < 0 || delta > best_delta) {
            best = q;
            best_delta = delta;
        }
    }
    return best;
}

static void try_hops(struct greedy *work, struct nw_hops hops, double bytes)
{
    for (size_t i = 0; i < hops.count; i++) {
        uint32_t hop = hops.hop[i];

        if (work->trial[hop] == 0)
            work->touched[work->touched_count++] = hop;
        work->trial[hop] += bytes;
    }
}

/* Loads in `trial` what p would send and receive on `place`. */
static void try_place(struct greedy *work, int32_t p, int32_t place)
{
    const struct nw_placing *placing = work->placing;
    const struct nw_places *places = placing->places;

    for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++) {
        const struct nw_arc *arc = &placing->arc[a];
        int32_t other = placing->place[arc->peer];

        if (other < 0 || other == place)
            continue;
        if (arc->out > 0)
            try_hops(work, nw_places_route(places, place, other, work->room),
                     arc->out);
        if (arc->in > 0)
            try_hops(work, nw_places_route(places, other, place, work->room),
                     arc->in);
    }
}

/* The maximum congestion of loads and trial together; the trial is over. */
static double end_trial(struct greedy *work, bool keep)
{
    const double *bandwidth = work->placing->places->bandwidth;
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
    work->placing->steps++;
    return most;
}

static double pull_of(const struct nw_placing *placing, int32_t p,
                      int32_t place)
{
    if (!placing->pull)
        return 0;
    return placing
        ->pull[(size_t)p * (size_t)placing->places->count + (size_t)place];
}

/* Where there are no links to congest (matrices): bytes x distance added. */
static double distance_cost(const struct greedy *work, int32_t p, int32_t place)
{
    const struct nw_placing *placing = work->placing;
    double cost = 0;

    for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++) {
        const struct nw_arc *arc = &placing->arc[a];
        int32_t other = placing->place[arc->peer];

        if (other >= 0)
            cost +=
                arc->out * nw_places_distance(placing->places, place, other) +
                arc->in * nw_places_distance(placing->places, other, place);
    }
    return cost;
}

static double cost_of(struct greedy *work, int32_t p, int32_t place)
{
    if (!work->placing->places->bandwidth)
        return distance_cost(work, p, place);
    try_place(work, p, place);
    return end_trial(work, false) + pull_of(work->placing, p, place);
}

static int32_t best_place(struct greedy *work, int32_t p)
{
    const struct nw_placing *placing = work->placing;
    bool lonely = !work->mapped[p].neighbours && !placing->pull;
    int32_t best = -1;
    double best_cost = 0;

    for (int32_t place = 0; place < placing->places->count; place++) {
        double cost;

        if (!nw_placing_fits(placing, p, place))
            continue;
        if (lonely) /* every place costs the same */
            return place;
        cost = cost_of(work, p, place);
        if (best < 0 || cost < best_cost) {
            best = place;
            best_cost = cost;
        }
    }
    return best;
}

static nw_status put(struct greedy *work, int32_t p)
{
    int32_t place = best_place(work, p);

    if (place < 0)
        return nw_fail_about(NW_FIXED(-1), NW_EINVAL,
                             "the fixed ranks leave no room for process %d", p);
    if (work->placing->places->bandwidth) {
        try_place(work, p, place);
        work->congestion = end_trial(work, true);
    }
    nw_placing_put(work->placing, p, place);
    move_sums(work, p);
    return NW_OK;
}

static nw_status prepare(struct greedy *work)
{
    const struct nw_placing *placing = work->placing;
    const struct nw_places *places = placing->places;
    size_t n = (size_t)placing->count, hops = places->hop_count;
    nw_status status = nw_alloc(n, sizeof *work->mapped, &work->mapped);

    if (!status)
        status = nw_alloc(n, sizeof *work->unmapped, &work->unmapped);
    if (!status)
        status = nw_alloc(hops, sizeof *work->load, &work->load);
    if (!status)
        status = nw_alloc(hops, sizeof *work->trial, &work->trial);
    if (!status)
        status = nw_alloc(hops, sizeof *work->touched, &work->touched);
    if (!status)
        status = nw_alloc(nw_topology_route_max(places->topology),
                          sizeof *work->room, &work->room);
    for (int32_t p = 0; !status && p < placing->count; p++)
        sum_neighbours(work, p);
    return status;
}

/* Loads what fixed processes exchange with each other. */
static void load_fixed(struct greedy *work)
{
    const struct nw_placing *placing = work->placing;

    for (int32_t p = 0; p < placing->count; p++)
        for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++) {
            const struct nw_arc *arc = &placing->arc[a];
            int32_t from = placing->place[p], to = placing->place[arc->peer];

            if (from >= 0 && to >= 0 && arc->out > 0)
                try_hops(work,
                         nw_places_route(placing->places, from, to, work->room),
                         arc->out);
        }
    work->congestion = end_trial(work, true);
}

nw_status nw_place_greedy(struct nw_placing *placing)
{
    struct greedy work = {.placing = placing};
    nw_status status;

    status = prepare(&work);
    if (!status && placing->fixed && placing->places->bandwidth)
        load_fixed(&work);
    while (!status) {
        int32_t p = next_process(&work);

        if (p < 0)
            break;
        status = put(&work, p);
    }
    free(work.mapped);
    free(work.unmapped);
    free(work.load);
    free(work.trial);
    free(work.touched);
    free(work.room);
    return status;
}
