/* SPDX-License-Identifier: BSD-3-Clause */
/* Every seating of few ranks, one rank's seats after the other's: what the
 * ranks seated so far cost can only grow, so a branch that costs as much as the
 * best known is cut. It knows every objective, GPUs, rooms and ranks held on
 * their nodes, where a dense problem knows sums over pairs of cores. */
#include "map/congestion/branch_bound.h"
#include "base/array.h"
#include "map/common/budget.h"
#include "map/congestion/route_cache.h"
#include "topology/topology.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLICE 1000 /* seatings between looks at the budget */

/* What those seated so far cost. */
struct sums {
    double hop_bytes, latency, busy, most;
    size_t changes; /* of loads */
};

/* A link's load before it was changed. */
struct change {
    uint32_t hop;
    double load;
};

struct work {
    struct nw_seats *seats;
    const struct nw_aim *aim;
    struct nw_budget *budget;
    struct nw_ways ways;
    double *load, *slow;   /* [hops] bytes, s per byte; NULL: no links */
    struct change *change; /* all that led to the loads of now */
    struct sums now;
    int32_t *order; /* [ranks] */
    int32_t *best;  /* [2 x ranks] seats */
    double best_value[2];
    uint64_t left;         /* seatings until the end */
    uint64_t slice, taken; /* between two looks at the budget, since one */
    bool cut;
};

/* --- costs --- */

static void add_way(struct work *work, const int32_t seat[2],
                    const double amount[2])
{
    double bytes = amount[0], messages = amount[1];
    struct nw_way way;

    if (bytes == 0 && messages == 0)
        return;
    way = nw_ways_find(&work->ways, seat[0], seat[1]);
    work->now.hop_bytes += bytes * way.distance;
    work->now.latency += messages * way.latency;
    for (uint32_t i = 0; work->load && i < way.count; i++) {
        uint32_t hop = way.hop[i];

        work->change[work->now.changes++] =
            (struct change){hop, work->load[hop]};
        work->load[hop] += bytes;
        work->now.busy += bytes * work->slow[hop];
        work->now.most =
            fmax(work->now.most, work->load[hop] * work->slow[hop]);
    }
}

/* An actor's messages with those that are seated. */
static void add_actor(struct work *work, int32_t actor)
{
    const struct nw_seats *seats = work->seats;
    int32_t here = seats->seat[actor];

    for (size_t t = seats->row[actor]; t < seats->row[actor + 1]; t++) {
        const struct nw_tie *tie = &seats->tie[t];
        int32_t there = seats->seat[tie->peer];

        if (there < 0)
            continue;
        add_way(work, (int32_t[]){here, there},
                (double[]){tie->out, tie->out_messages});
        add_way(work, (int32_t[]){there, here},
                (double[]){tie->in, tie->in_messages});
    }
}

static double value(const struct work *work, enum nw_objective objective)
{
    switch (objective) {
    case NW_OBJECTIVE_CONGESTION:
        return work->now.most;
    case NW_OBJECTIVE_LATENCY:
        return work->now.latency;
    case NW_OBJECTIVE_TIME:
        return work->now.most + (work->now.busy + work->now.latency) /
                                    (double)work->seats->rank_count;
    default:
        return work->now.hop_bytes;
    }
}

static bool is_less(const struct work *work)
{
    double mine[2] = {value(work, work->aim->first),
                      value(work, work->aim->second)};

    for (int i = 0; i < 2; i++) {
        double near = 1e-9 * fmax(mine[i], work->best_value[i]);

        if (fabs(mine[i] - work->best_value[i]) > near)
            return mine[i] < work->best_value[i];
    }
    return false;
}

/* --- seats --- */

static void take(struct work *work, int32_t actor, int32_t seat)
{
    work->seats->seat[actor] = seat;
    work->seats->owner[seat] = actor;
    add_actor(work, actor);
}

/* The last one seated; what was before it, to the last bit: much taken off
 * again would leave nothing right of the little beside it. */
static void leave(struct work *work, int32_t actor, const struct sums *before)
{
    struct nw_seats *seats = work->seats;

    for (size_t i = work->now.changes; i-- > before->changes;)
        work->load[work->change[i].hop] = work->change[i].load;
    work->now = *before;
    seats->owner[seats->seat[actor]] = -1;
    seats->seat[actor] = -1;
}

/* Free, of a unit whose places before it are taken, and its own where the rank
 * is fixed to it. */
static bool may_take(const struct nw_seats *seats, int32_t seat)
{
    return seats->owner[seat] < 0 && seats->unit[seat] >= 0 &&
           (!seat || seats->unit[seat - 1] != seats->unit[seat] ||
            seats->owner[seat - 1] >= 0);
}

static bool has_room(const struct nw_seats *seats, int32_t host, int32_t rank)
{
    const struct nw_problem *problem = seats->problem;

    if (problem->fixed_host && problem->fixed_host[rank] >= 0)
        return problem->fixed_host[rank] == host;
    return seats->used[host] < problem->room[host] &&
           (!problem->wants_gpu[rank] || seats->remote ||
            seats->gpu_used[host] < problem->gpu_room[host]);
}

static void look(struct work *work)
{
    bool goes = nw_budget_go(work->budget, work->taken, work->best_value[0]);

    work->left -= work->taken < work->left ? work->taken : work->left;
    work->taken = 0;
    work->slice = nw_budget_slice(work->budget, SLICE);
    work->cut |= !goes || !work->left;
}

static bool goes_on(struct work *work)
{
    if (work->taken >= work->slice)
        look(work);
    work->taken++;
    return !work->cut;
}

static void sit(struct work *work, int32_t depth);

/* Takes a seat, goes on from there, and leaves it. */
static void try_gpu(struct work *work, int32_t depth, int32_t seat)
{
    struct nw_seats *seats = work->seats;
    int32_t actor = seats->rank_count + work->order[depth];
    struct sums before = work->now;

    if (work->cut || !goes_on(work))
        return;
    take(work, actor, seat);
    if (is_less(work))
        sit(work, depth + 1);
    leave(work, actor, &before);
}

/* `best` is where the search began until it finds better: what it says of
 * fixed seats stays true. */
static void seat_gpu(struct work *work, int32_t depth, int32_t host)
{
    const struct nw_seats *seats = work->seats;
    int32_t own = work->best[seats->rank_count + work->order[depth]];
    int32_t hosts = seats->problem->host_count;
    const int32_t *first = seats->first + hosts + 1;
    int32_t low = first[seats->remote ? 0 : host];
    int32_t high = first[seats->remote ? hosts : host + 1];

    if (own < 0)
        sit(work, depth + 1);
    else if (seats->unit[own] < 0)
        try_gpu(work, depth, own);
    else
        for (int32_t s = low; s < high; s++)
            if (may_take(seats, s))
                try_gpu(work, depth, s);
}

static void try_core(struct work *work, int32_t depth, int32_t seat)
{
    struct nw_seats *seats = work->seats;
    int32_t rank = work->order[depth], host = seats->host[seat];
    bool gpu = work->best[seats->rank_count + rank] >= 0;
    struct sums before = work->now;

    if (work->cut || !goes_on(work))
        return;
    take(work, rank, seat);
    seats->used[host]++;
    seats->gpu_used[host] += gpu;
    if (is_less(work))
        seat_gpu(work, depth, host);
    seats->used[host]--;
    seats->gpu_used[host] -= gpu;
    leave(work, rank, &before);
}

static void record(struct work *work)
{
    const struct nw_seats *seats = work->seats;

    work->best_value[0] = value(work, work->aim->first);
    work->best_value[1] = value(work, work->aim->second);
    memcpy(work->best, seats->seat,
           2 * (size_t)seats->rank_count * sizeof *work->best);
}

static void sit(struct work *work, int32_t depth)
{
    const struct nw_seats *seats = work->seats;
    int32_t own;

    if (depth == seats->rank_count) {
        record(work);
        return;
    }
    own = work->best[work->order[depth]];
    if (seats->unit[own] < 0) {
        try_core(work, depth, own);
        return;
    }
    for (int32_t h = 0; h < seats->problem->host_count; h++) {
        if (!has_room(seats, h, work->order[depth]))
            continue;
        for (int32_t s = seats->first[h]; s < seats->first[h + 1]; s++)
            if (may_take(seats, s) &&
                nw_problem_bears(seats->problem, seats->unit[s],
                                 work->order[depth]))
                try_core(work, depth, s);
    }
}

/* --- the order --- */

/* Fixed ranks come first, since they need their rooms; then whoever exchanges
 * most with those before. */
static double pull_of(const struct work *work, int32_t rank,
                      const bool *ordered)
{
    const struct nw_seats *seats = work->seats;
    int32_t n = seats->rank_count;
    double pull = 0;

    if (seats->problem->fixed_host && seats->problem->fixed_host[rank] >= 0)
        return HUGE_VAL;
    for (int32_t a = rank; a < 2 * n; a += n)
        for (size_t t = seats->row[a]; t < seats->row[a + 1]; t++) {
            const struct nw_tie *tie = &seats->tie[t];

            if (ordered[tie->peer % n])
                pull += tie->out + tie->in;
        }
    return pull;
}

static nw_status choose_order(struct work *work)
{
    int32_t n = work->seats->rank_count;
    bool *ordered = NULL;
    nw_status status = nw_alloc((size_t)n, sizeof *ordered, &ordered);

    for (int32_t at = 0; !status && at < n; at++) {
        int32_t best = -1;
        double most = -1;

        for (int32_t r = 0; r < n; r++) {
            double pull = ordered[r] ? -1 : pull_of(work, r, ordered);

            if (pull > most) {
                most = pull;
                best = r;
            }
        }
        work->order[at] = best;
        ordered[best] = true;
    }
    free(ordered);
    return status;
}

/* --- the whole --- */

static nw_status prepare_links(struct work *work,
                               const struct nw_topology *topology)
{
    size_t n = 2 * (size_t)nw_topology_link_count(topology);
    size_t ties = work->seats->row[2 * work->seats->rank_count];
    nw_status status = nw_alloc(n, sizeof *work->load, &work->load);

    if (!status)
        status = nw_alloc(n, sizeof *work->slow, &work->slow);
    if (!status) /* two ways for a tie, which stands with both its ends */
        status = nw_alloc(ties * nw_topology_route_max(topology),
                          sizeof *work->change, &work->change);
    for (size_t i = 0; !status && i < n; i++) {
        int32_t class = nw_topology_link_class_of(topology, (int32_t)(i / 2));

        if (class >= 0)
            work->slow[i] = 1 / topology->class[class].bandwidth[i & 1];
    }
    return status;
}

static nw_status prepare(struct work *work)
{
    const struct nw_topology *topology = work->seats->problem->topology;
    size_t n = (size_t)work->seats->rank_count;
    struct nw_ledger_wants wants = nw_aim_wants(work->aim);
    nw_status status;

    work->ways = (struct nw_ways){.topology = topology,
                                  .end = work->seats->end,
                                  .count = work->seats->count,
                                  .keeps = true,
                                  .wants_hops = wants.links,
                                  .wants_latency = wants.latency,
                                  .wants_distance = wants.hop_bytes};
    status = nw_ways_init(&work->ways);
    if (!status && wants.links && nw_topology_has_links(topology))
        status = prepare_links(work, topology);
    if (!status)
        status = nw_alloc(n, sizeof *work->order, &work->order);
    if (!status)
        status = nw_alloc(2 * n, sizeof *work->best, &work->best);
    if (!status)
        status = choose_order(work);
    return status;
}

static void stand_up(struct work *work)
{
    struct nw_seats *seats = work->seats;
    size_t hosts = (size_t)seats->problem->host_count;
    size_t links = (size_t)nw_topology_link_count(work->ways.topology);

    for (int32_t a = 0; a < 2 * seats->rank_count; a++)
        seats->seat[a] = -1;
    for (int32_t s = 0; s < seats->count; s++)
        seats->owner[s] = -1;
    memset(seats->used, 0, hosts * sizeof *seats->used);
    memset(seats->gpu_used, 0, hosts * sizeof *seats->gpu_used);
    if (work->load)
        memset(work->load, 0, 2 * links * sizeof *work->load);
    work->now = (struct sums){0};
}

/* As `best` says, what that costs counted from nothing. */
static void seat_all(struct work *work)
{
    struct nw_seats *seats = work->seats;

    stand_up(work);
    for (int32_t a = 0; a < 2 * seats->rank_count; a++) {
        int32_t *used = a < seats->rank_count ? seats->used : seats->gpu_used;

        if (work->best[a] < 0)
            continue;
        take(work, a, work->best[a]);
        used[seats->host[work->best[a]]]++;
    }
}

nw_status nw_seats_exhaust(struct nw_seats *seats, const struct nw_aim *aim,
                           uint64_t seatings, bool *proven)
{
    struct work work = {.seats = seats,
                        .aim = aim,
                        .budget = seats->problem->budget,
                        .left = seatings ? seatings : UINT64_MAX};
    nw_status status = prepare(&work);

    if (!status) {
        memcpy(work.best, seats->seat,
               2 * (size_t)seats->rank_count * sizeof *work.best);
        seat_all(&work);
        record(&work);
        stand_up(&work);
        work.slice = nw_budget_slice(work.budget, SLICE);
        work.cut = work.budget->stopped;
        if (!work.cut)
            sit(&work, 0);
        *proven = !work.cut;
        look(&work);
        seat_all(&work);
        assert(fabs(value(&work, aim->first) - work.best_value[0]) <=
               1e-9 * fabs(work.best_value[0]));
    }
    nw_ways_fini(&work.ways);
    free(work.load);
    free(work.slow);
    free(work.change);
    free(work.order);
    free(work.best);
    return status;
}
