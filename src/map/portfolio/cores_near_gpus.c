/* SPDX-License-Identifier: BSD-3-Clause */
/* Of mappings that cost the same, the one whose ranks are nearest to their GPUs
 * is taken: within each node ranks exchange cores, or exchange GPUs, or go to
 * free ones, where a rank's core, GPU and network card come nearer each other
 * and no figure of the mapping gets worse. */
#include "map/portfolio/algorithm.h"
#include "map/common/budget.h"
#include "map/congestion/link_loads.h"
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>

#define EQUAL 1e-9 /* relative difference of equal figures */

/* A distance between core and GPU counts more than all links to cards, of which
 * no node has so many. */
#define CARD (1. / 1024)

struct beside {
    const struct nw_problem *problem;
    struct nw_seats seats;
    struct nw_ledger ledger; /* made for the first move that needs it */
    bool has_ledger, moved;
    bool cores_stay;
    double *card;       /* [seats] links to the card, where known */
    double *near;       /* of the host at hand: [its core x its GPU seats] */
    int32_t *gpu_ranks; /* [GPU units] ranks that have it */
};

struct seat_range {
    int32_t first, end;
};

static struct seat_range seats_of(const struct beside *work, int32_t host,
                                  bool gpus)
{
    const int32_t *first =
        work->seats.first + host + (gpus ? work->problem->host_count + 1 : 0);

    return (struct seat_range){first[0], first[1]};
}

static bool holds(struct seat_range range, int32_t seat)
{
    return seat >= range.first && seat < range.end;
}

static struct nw_ints members_of(const struct nw_units *units, int32_t unit)
{
    size_t size = (size_t)units->size;

    return (struct nw_ints){units->member + (size_t)unit * size, size};
}

/* Mean number of links between the cores of one seat and the GPUs of another;
 * those of a fixed rank are counted from its first. */
static double links_between(const struct beside *work, int32_t core,
                            int32_t gpu)
{
    const struct nw_problem *problem = work->problem;
    const struct nw_seats *seats = &work->seats;
    int32_t host = seats->host[core];
    struct nw_ints cores, gpus;
    double sum = 0;

    if (seats->unit[core] < 0 || seats->unit[gpu] < 0)
        return nw_topology_distance(problem->topology, seats->end[core],
                                    seats->end[gpu]);
    cores = members_of(&problem->core, seats->unit[core]);
    gpus = members_of(&problem->gpu, seats->unit[gpu]);
    for (size_t i = 0; i < cores.count; i++)
        for (size_t j = 0; j < gpus.count; j++)
            sum += nw_topology_distance(
                problem->topology,
                nw_problem_core_end(problem, host, cores.values[i]),
                nw_problem_gpu_end(problem, host, gpus.values[j]));
    return sum / (double)(cores.count * gpus.count);
}

static double links_to_card(const nw_topology *topology, struct nw_end end)
{
    int32_t card = nw_end_card(topology, end);

    if (card < 0)
        return 0;
    return nw_topology_distance(topology, end,
                                nw_topology_nic_end(topology, end.node, card));
}

static void measure_host(struct beside *work, int32_t host)
{
    struct seat_range cores = seats_of(work, host, false);
    struct seat_range gpus = seats_of(work, host, true);
    double *near = work->near;

    for (int32_t c = cores.first; c < cores.end; c++)
        for (int32_t g = gpus.first; g < gpus.end; g++)
            *near++ = links_between(work, c, g);
}

/* How far a rank's parts are from each other; 0 without a GPU. */
static double distance_of(const struct beside *work, int32_t core, int32_t gpu)
{
    struct seat_range cores, gpus;
    double links;

    if (gpu < 0)
        return 0;
    cores = seats_of(work, work->seats.host[core], false);
    gpus = seats_of(work, work->seats.host[core], true);
    if (holds(cores, core) && holds(gpus, gpu))
        links = work->near[(size_t)(core - cores.first) *
                               (size_t)(gpus.end - gpus.first) +
                           (size_t)(gpu - gpus.first)];
    else
        links = links_between(work, core, gpu);
    return links + CARD * (work->card[core] + work->card[gpu]);
}

/* The same where one of its actors is on `seat`. */
static double distance_at(const struct beside *work, int32_t actor,
                          int32_t seat)
{
    int32_t n = work->seats.rank_count;

    if (actor < 0)
        return 0;
    if (actor < n)
        return distance_of(work, seat, work->seats.seat[n + actor]);
    return distance_of(work, work->seats.seat[actor - n], seat);
}

/* What an actor that goes to a seat, and its owner who comes back, gain. */
static double gain_of(const struct beside *work, int32_t actor, int32_t to)
{
    int32_t from = work->seats.seat[actor], other = work->seats.owner[to];

    return distance_at(work, actor, from) + distance_at(work, other, to) -
           distance_at(work, actor, to) - distance_at(work, other, from);
}

static bool has_ties(const struct nw_seats *seats, int32_t actor)
{
    return actor >= 0 && seats->row[actor + 1] > seats->row[actor];
}

/* Free GPUs may not be left for shared ones; cores bear what comes. */
static bool is_allowed(const struct beside *work, int32_t actor, int32_t to)
{
    const struct nw_seats *seats = &work->seats;
    int32_t other = seats->owner[to], from = seats->seat[actor];

    if (actor >= seats->rank_count)
        return other >= 0 || work->gpu_ranks[seats->unit[to]] <
                                 work->gpu_ranks[seats->unit[from]];
    return nw_problem_bears(work->problem, seats->unit[to], actor) &&
           (other < 0 ||
            nw_problem_bears(work->problem, seats->unit[from], other));
}

static bool is_no_worse(const struct nw_ledger *ledger)
{
    const struct nw_figures *now = &ledger->now, *change = &ledger->change;

    return change->hop_bytes <= EQUAL * now->hop_bytes &&
           change->latency <= EQUAL * now->latency &&
           change->busy <= EQUAL * now->busy &&
           change->power <= EQUAL * now->power &&
           (!ledger->has_links ||
            ledger->touched_most <= nw_ledger_most(ledger) * (1 + EQUAL));
}

static struct nw_move move_of(const struct nw_seats *seats, int32_t actor,
                              int32_t to)
{
    int32_t from = seats->seat[actor];
    struct nw_move move = {1, {{actor, from, to}}};

    if (seats->owner[to] >= 0)
        move.part[move.count++] =
            (struct nw_moving){seats->owner[to], to, from};
    return move;
}

/* Moves of actors without messages change no figure. */
static nw_status try_move(struct beside *work, int32_t actor, int32_t to,
                          bool keep, bool *fits)
{
    struct nw_seats *seats = &work->seats;
    struct nw_move move = move_of(seats, actor, to);
    bool silent = !has_ties(seats, actor) && !has_ties(seats, seats->owner[to]);

    *fits = true;
    if (!silent && !work->has_ledger) {
        nw_status status = nw_ledger_init(
            &work->ledger, seats, (struct nw_ledger_wants){true, true, true});

        if (status)
            return status;
        work->has_ledger = true;
    }
    if (!silent) {
        nw_ledger_try(&work->ledger, &move);
        *fits = keep || is_no_worse(&work->ledger);
        nw_ledger_end(&work->ledger, keep);
    }
    if (keep)
        nw_seats_apply(seats, &move);
    return NW_OK;
}

static nw_status move_actor(struct beside *work, int32_t actor, int32_t to)
{
    const struct nw_seats *seats = &work->seats;
    bool fits;

    if (actor >= seats->rank_count && seats->owner[to] < 0) {
        work->gpu_ranks[seats->unit[seats->seat[actor]]]--;
        work->gpu_ranks[seats->unit[to]]++;
    }
    work->moved = true;
    return try_move(work, actor, to, true, &fits);
}

/* The seat of its host that brings most. */
static nw_status bring_near(struct beside *work, int32_t actor)
{
    const struct nw_seats *seats = &work->seats;
    int32_t from = seats->seat[actor], best = -1;
    struct seat_range range =
        seats_of(work, seats->host[from], actor >= seats->rank_count);
    double most = EQUAL;
    nw_status status = NW_OK;

    for (int32_t to = range.first; !status && to < range.end; to++) {
        double gain;
        bool fits;

        if (seats->unit[to] == seats->unit[from])
            continue;
        gain = gain_of(work, actor, to);
        if (gain <= most + EQUAL || !is_allowed(work, actor, to))
            continue;
        status = try_move(work, actor, to, false, &fits);
        if (status || !fits)
            continue;
        best = to;
        most = gain;
    }
    return status || best < 0 ? status : move_actor(work, actor, best);
}

/* Seats of fixed ranks are outside their host's range. */
static bool may_move(const struct beside *work, int32_t actor)
{
    int32_t seat = work->seats.seat[actor];

    return seat >= 0 && work->seats.unit[seat] >= 0;
}

static nw_status settle_host(struct beside *work, const int32_t *next,
                             int32_t first)
{
    int32_t n = work->seats.rank_count;
    nw_status status = NW_OK;
    bool moved = work->moved;

    do {
        work->moved = false;
        for (int32_t r = first; !status && r >= 0; r = next[r]) {
            if (may_move(work, n + r))
                status = bring_near(work, n + r);
            if (!status && !work->cores_stay && may_move(work, r))
                status = bring_near(work, r);
        }
        moved |= work->moved;
    } while (!status && work->moved &&
             !nw_budget_is_overdue(work->problem->budget));
    work->moved = moved;
    return status;
}

static nw_status settle_hosts(struct beside *work)
{
    const struct nw_seats *seats = &work->seats;
    int32_t hosts = work->problem->host_count, *first = NULL, *next = NULL;
    nw_status status = nw_alloc((size_t)hosts, sizeof *first, &first);

    if (!status)
        status = nw_alloc((size_t)seats->rank_count, sizeof *next, &next);
    for (int32_t h = 0; !status && h < hosts; h++)
        first[h] = -1;
    for (int32_t r = seats->rank_count; !status && r-- > 0;) {
        int32_t h = seats->host[seats->seat[r]];

        next[r] = first[h];
        first[h] = r;
    }
    for (int32_t h = 0; !status && h < hosts; h++) {
        measure_host(work, h);
        status = settle_host(work, next, first[h]);
    }
    free(first);
    free(next);
    return status;
}

static nw_status measure(struct beside *work)
{
    const struct nw_problem *problem = work->problem;
    const struct nw_seats *seats = &work->seats;
    size_t most = 0;
    nw_status status = nw_alloc((size_t)problem->gpu.first[problem->host_count],
                                sizeof *work->gpu_ranks, &work->gpu_ranks);

    for (int32_t h = 0; h < problem->host_count; h++) {
        struct seat_range cores = seats_of(work, h, false);
        struct seat_range gpus = seats_of(work, h, true);
        size_t pairs =
            (size_t)(cores.end - cores.first) * (size_t)(gpus.end - gpus.first);

        most = pairs > most ? pairs : most;
    }
    if (!status)
        status =
            nw_alloc((size_t)seats->count, sizeof *work->card, &work->card);
    if (!status)
        status = nw_alloc(most, sizeof *work->near, &work->near);
    for (int32_t s = 0; !status && s < seats->count; s++) {
        work->card[s] = links_to_card(problem->topology, seats->end[s]);
        if (s >= seats->core_count && seats->owner[s] >= 0 &&
            seats->unit[s] >= 0)
            work->gpu_ranks[seats->unit[s]]++;
    }
    return status;
}

static bool is_layer_worse(const struct nw_cost *cost,
                           const struct nw_cost *than)
{
    return cost->max_congestion_host >
               than->max_congestion_host * (1 + EQUAL) ||
           cost->max_congestion_gpu > than->max_congestion_gpu * (1 + EQUAL);
}

/* Taken where no figure that people see is worse. */
static nw_status take_answer(const struct beside *work,
                             struct nw_answer *answer,
                             struct nw_candidate *best)
{
    struct nw_candidate other = {0}, former = *best;
    nw_status status;

    nw_seats_finish(&work->seats, answer);
    status =
        nw_candidate_finish(work->problem, answer, best->algorithm, &other);
    if (!status && nw_candidate_within(&other, best->guard) &&
        !nw_candidate_better(best, &other) &&
        !is_layer_worse(&other.cost, &best->cost)) {
        *best = other;
        other = former;
    }
    nw_candidate_fini(&other);
    return status;
}

nw_status nw_place_beside_gpus(const struct nw_problem *problem,
                               bool cores_stay, struct nw_candidate *best)
{
    struct beside work = {.problem = problem, .cores_stay = cores_stay};
    struct nw_problem begun = *problem;
    struct nw_answer answer = {0};
    nw_status status;

    if (!problem->uses_gpus || best->mapping->gpu_node)
        return NW_OK;
    begun.options.start = best->mapping;
    status = nw_answer_begin(&begun, &answer);
    if (!status)
        status = nw_seats_init(&work.seats, problem, &answer);
    if (!status)
        status = measure(&work);
    if (!status)
        status = settle_hosts(&work);
    if (!status && work.moved)
        status = take_answer(&work, &answer, best);
    nw_ledger_fini(&work.ledger);
    nw_seats_fini(&work.seats);
    nw_answer_fini(&answer);
    free(work.card);
    free(work.near);
    free(work.gpu_ranks);
    return status;
}
