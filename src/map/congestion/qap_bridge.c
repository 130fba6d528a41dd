/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows out of the pattern, distances out of the topology, the searches over
 * them run within the budget: two populations side by side, each of its own
 * seed, so that one thread or two give the same answer. */
#include "map/congestion/qap_bridge.h"
#include "base/array.h"
#include "base/status.h"
#include "map/common/budget.h"
#include "map/qap/linear_assignment.h"
#include "map/congestion/route_cache.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ISLANDS 2
#define EPOCH_WORK 2e7 /* matrix cells between looks at the budget */
#define SMALL 27       /* elements: most ways into dead ends, and cheap steps */
#define NODES_SLICE 20000

bool nw_dense_fits(const struct nw_seats *seats)
{
    const struct nw_problem *problem = seats->problem;
    enum nw_objective objective = problem->options.objective;

    if (problem->limit || (objective != NW_OBJECTIVE_HOP_BYTES &&
                           objective != NW_OBJECTIVE_LATENCY))
        return false;
    for (int32_t h = 0; h < problem->host_count; h++)
        if (problem->room[h] < seats->first[h + 1] - seats->first[h])
            return false;
    return seats->core_count == seats->count;
}

/* --- building --- */

static void add_item(struct nw_dense *dense, int32_t *count, int32_t actor,
                     int32_t seat)
{
    dense->actor[*count] = actor;
    dense->place[(*count)++] = seat;
}

/* One that may move inside its node alone does not move here. */
static bool stays(const struct nw_seats *seats, int32_t rank)
{
    return seats->locked[rank] || seats->held[rank];
}

static void list_items(struct nw_dense *dense)
{
    const struct nw_seats *seats = dense->seats;
    int32_t count = 0;

    for (int32_t r = 0; r < seats->rank_count; r++)
        if (!stays(seats, r))
            add_item(dense, &count, r, seats->seat[r]);
    dense->qap.real = count;
    for (int32_t s = 0; s < seats->count; s++)
        if (seats->owner[s] < 0)
            add_item(dense, &count, -1, s);
    dense->qap.movable = count;
    for (int32_t r = 0; r < seats->rank_count; r++)
        if (stays(seats, r)) {
            dense->open |= seats->unit[seats->seat[r]] >= 0;
            add_item(dense, &count, r, seats->seat[r]);
        }
}

static void add_flows(struct nw_dense *dense, int32_t *item_of)
{
    const nw_pattern *pattern = dense->seats->problem->pattern;
    bool messages =
        dense->seats->problem->options.objective == NW_OBJECTIVE_LATENCY;
    size_t n = (size_t)dense->qap.n;

    for (int32_t i = 0; (size_t)i < n; i++)
        if (dense->actor[i] >= 0)
            item_of[dense->actor[i]] = i;
    for (int32_t r = 0; r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++)
            dense->qap.flow[(size_t)item_of[r] * n +
                            (size_t)item_of[pattern->dst[e]]] +=
                (double)(messages ? pattern->messages[e] : pattern->bytes[e]);
}

static nw_status fill_distances(struct nw_dense *dense)
{
    const struct nw_problem *problem = dense->seats->problem;
    bool latency = problem->options.objective == NW_OBJECTIVE_LATENCY;
    struct nw_ways ways = {.topology = problem->topology,
                           .end = dense->seats->end,
                           .count = dense->qap.n,
                           .wants_latency = latency,
                           .wants_distance = !latency};
    int32_t n = dense->qap.n;
    nw_status status = nw_ways_init(&ways);

    for (int32_t a = 0; !status && a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            struct nw_way way = nw_ways_find(&ways, a, b);

            dense->qap.distance[(size_t)a * (size_t)n + (size_t)b] =
                latency ? way.latency : way.distance;
        }
    nw_ways_fini(&ways);
    return status;
}

nw_status nw_dense_init(struct nw_dense *dense, struct nw_seats *seats)
{
    int32_t *item_of = NULL;
    size_t n = (size_t)seats->count;
    nw_status status;

    *dense = (struct nw_dense){.seats = seats};
    status = nw_qap_init(&dense->qap, seats->count);
    if (!status)
        status = nw_alloc(n, sizeof *dense->actor, &dense->actor);
    if (!status)
        status = nw_alloc(n, sizeof *dense->place, &dense->place);
    if (!status)
        status = nw_alloc(n, sizeof *item_of, &item_of);
    if (!status)
        status = fill_distances(dense);
    if (!status) {
        list_items(dense);
        add_flows(dense, item_of);
        nw_qap_finish(&dense->qap);
    } else {
        nw_dense_fini(dense);
    }
    free(item_of);
    return status;
}

void nw_dense_fini(struct nw_dense *dense)
{
    nw_qap_fini(&dense->qap);
    free(dense->actor);
    free(dense->place);
    dense->actor = dense->place = NULL;
}

void nw_dense_finish(struct nw_dense *dense)
{
    struct nw_seats *seats = dense->seats;
    int32_t hosts = seats->problem->host_count;

    memset(seats->used, 0, (size_t)hosts * sizeof *seats->used);
    for (int32_t i = 0; i < dense->qap.n; i++) {
        int32_t actor = dense->actor[i], seat = dense->place[i];

        seats->owner[seat] = actor;
        if (actor < 0)
            continue;
        seats->seat[actor] = seat;
        seats->used[seats->host[seat]]++;
    }
}

/* --- tabu search --- */

struct island {
    struct nw_breed breed;
    uint64_t until; /* steps of its own */
    uint64_t limit; /* what --steps leaves it */
};

static void *advance(void *user)
{
    struct island *island = user;
    struct nw_breed *breed = &island->breed;

    while (breed->steps < island->until && breed->steps < island->limit) {
        uint64_t left = island->limit - breed->steps;

        if (breed->child_steps > left)
            breed->child_steps = left;
        nw_breed_next(breed);
    }
    return NULL;
}

/* Where no thread can be had the islands take turns. */
static void advance_all(struct island *island, int32_t threads)
{
    pthread_t thread;
    bool beside =
        threads > 1 && !pthread_create(&thread, NULL, advance, &island[1]);

    advance(&island[0]);
    if (beside)
        pthread_join(thread, NULL);
    else
        advance(&island[1]);
}

static const struct nw_breed *better(const struct island *island)
{
    return island[1].breed.best_cost < island[0].breed.best_cost
               ? &island[1].breed
               : &island[0].breed;
}

/* Steps of all islands that an effort is worth: as many as small problems
 * need, of larger ones what takes a second or two. */
static uint64_t effort_steps(const struct nw_qap *qap,
                             const struct nw_budget *budget)
{
    double n = qap->n;
    double steps = fmin((n > SMALL ? 25 : 75) * n * n * n, 1.7e9 / (n * n));

    if (budget->endless)
        return UINT64_MAX;
    if (budget->effort == NW_EFFORT_FAST)
        steps /= 1000;
    if (budget->effort == NW_EFFORT_STRONG)
        steps *= 8;
    return (uint64_t)steps;
}

/* Halves of what --steps leaves, to a step. */
static void limit_islands(const struct nw_budget *budget, struct island *island)
{
    uint64_t left = budget->steps_most - budget->steps;

    for (uint64_t i = 0; i < ISLANDS; i++)
        island[i].limit = budget->steps_most == UINT64_MAX
                              ? UINT64_MAX
                              : (left + ISLANDS - 1 - i) / ISLANDS;
}

static void run_islands(struct nw_dense *dense, struct island *island)
{
    struct nw_budget *budget = dense->seats->problem->budget;
    double n = dense->qap.n;
    uint64_t epoch = (uint64_t)(EPOCH_WORK / (n * n)) + 1;
    uint64_t last = effort_steps(&dense->qap, budget), done = 0;
    bool goes = !budget->stopped;

    limit_islands(budget, island);
    while (goes && done < last) {
        uint64_t before = done, each = (last - done) / ISLANDS;

        each = each < epoch ? each + 1 : epoch;
        each = nw_budget_slice(budget, each);
        done = 0;
        for (int i = 0; i < ISLANDS; i++)
            island[i].until = island[i].breed.steps + each;
        advance_all(island, budget->threads);
        for (int i = 0; i < ISLANDS; i++)
            done += island[i].breed.steps;
        goes = nw_budget_go(budget, done - before, better(island)->best_cost);
    }
}

nw_status nw_dense_tabu(struct nw_dense *dense)
{
    struct island island[ISLANDS] = {0};
    uint64_t seed = dense->seats->problem->options.seed;
    const struct nw_qap *qap = &dense->qap;
    uint64_t last = effort_steps(qap, dense->seats->problem->budget);
    nw_status status = NW_OK;

    if (!qap->real || qap->movable < 2)
        return NW_OK;
    for (int i = 0; !status && i < ISLANDS; i++) {
        struct nw_breed *breed = &island[i].breed;

        status = nw_breed_init(
            breed, qap, seed + (uint64_t)i * 0x9e3779b97f4a7c15u, dense->place);
        if (breed->child_steps > last / ISLANDS)
            breed->child_steps = last / ISLANDS + 1;
    }
    if (!status) {
        run_islands(dense, island);
        memcpy(dense->place, better(island)->best,
               (size_t)qap->n * sizeof *dense->place);
    }
    for (int i = 0; i < ISLANDS; i++)
        nw_breed_fini(&island[i].breed);
    return status;
}

/* --- the others --- */

nw_status nw_dense_anneal(struct nw_dense *dense)
{
    struct nw_budget *budget = dense->seats->problem->budget;
    const struct nw_qap *qap = &dense->qap;
    uint64_t steps = effort_steps(qap, budget), seed = 0;
    double best = nw_qap_cost(qap, dense->place);
    int32_t *trial;
    nw_status status = nw_alloc((size_t)qap->n, sizeof *trial, &trial);
    bool goes = !budget->stopped;

    if (budget->endless)
        steps = 50000;
    while (!status && goes) {
        uint64_t now = nw_budget_slice(budget, steps);
        double cost;

        memcpy(trial, dense->place, (size_t)qap->n * sizeof *trial);
        status =
            nw_qap_anneal(qap, dense->seats->problem->options.seed + seed++,
                          now, trial, &cost);
        if (!status && cost < best) {
            best = cost;
            memcpy(dense->place, trial, (size_t)qap->n * sizeof *trial);
        }
        goes = nw_budget_go(budget, now, best) && budget->endless;
    }
    free(trial);
    return status;
}

static bool goes_on(struct nw_exact *exact, double best)
{
    struct nw_dense *dense = exact->user;
    struct nw_budget *budget = dense->seats->problem->budget;
    bool goes = nw_budget_go(budget, exact->nodes - dense->told, best);

    dense->told = exact->nodes;
    exact->look = exact->nodes + nw_budget_slice(budget, NODES_SLICE);
    return goes;
}

nw_status nw_dense_exact(struct nw_dense *dense, uint64_t nodes, bool *proven)
{
    struct nw_budget *budget = dense->seats->problem->budget;
    struct nw_exact exact = {.nodes_most = nodes ? nodes : UINT64_MAX,
                             .look = nw_budget_slice(budget, NODES_SLICE),
                             .goes_on = goes_on,
                             .user = dense};
    nw_status status;

    dense->told = 0;
    status = nw_qap_exact(&dense->qap, &exact, dense->place);
    if (status)
        return status;
    *proven = exact.proven && !dense->open;
    (void)goes_on(&exact, nw_qap_cost(&dense->qap, dense->place));
    return NW_OK;
}
