/* SPDX-License-Identifier: BSD-3-Clause */
/* Tries random moves of single ranks, or exchanges of whole nodes. A move is
 * made, and undone if it does not shorten the predicted exchange time by more
 * than the cost of the ranks that it moves. */
#include "map/congestion/migration_cost.h"
#include "base/array.h"
#include "base/random.h"
#include "map/common/budget.h"
#include "map/common/parameters.h"
#include "map/congestion/node_swaps.h"
#include "map/congestion/objectives.h"

#include <stdlib.h>
#include <string.h>

/* State of one call of nw_slots_move_at_cost. */
struct migration_cost_work {
    struct nw_slots *slots;
    const struct nw_move_cost *cost;
    struct nw_link_loads loads;
    struct nw_random random;
    int32_t *home; /* [2 x ranks] slot of each endpoint when the search began */
    int32_t away;  /* number of ranks that are not on their `home` slots; ranks
                      in cost->displaced do not count */
    double time;   /* s: predicted exchange time of the present slots */
};

/* Returns true if a rank counts in `away`: it is not displaced, and its core or
 * its GPU is not on the home slot. */
static bool migration_cost_is_away(const struct migration_cost_work *work,
                                   int32_t rank)
{
    const int32_t *slot = work->slots->slot, *home = work->home;
    int32_t n = work->slots->rank_count;

    return !work->cost->displaced[rank] &&
           (slot[rank] != home[rank] || slot[n + rank] != home[n + rank]);
}

/* Returns the rank of an endpoint. */
static int32_t migration_cost_rank_of(const struct migration_cost_work *work,
                                      int32_t endpoint)
{
    int32_t n = work->slots->rank_count;

    return endpoint < n ? endpoint : endpoint - n;
}

/* Returns how many ranks of a move are away. A rank whose core and GPU both
 * move is counted once. */
static int32_t migration_cost_count_away(const struct migration_cost_work *work,
                                         const struct nw_move *move)
{
    int32_t away = 0;

    for (int k = 0; k < move->count; k++) {
        int32_t rank = migration_cost_rank_of(work, move->part[k].endpoint);
        bool counted = false;

        for (int i = 0; i < k; i++)
            counted |=
                migration_cost_rank_of(work, move->part[i].endpoint) == rank;
        away += !counted && migration_cost_is_away(work, rank);
    }
    return away;
}

/* Applies a move and updates `away`. */
static void migration_cost_apply(struct migration_cost_work *work,
                                 const struct nw_move *move)
{
    work->away -= migration_cost_count_away(work, move);
    nw_link_loads_try(&work->loads, move);
    nw_link_loads_end(&work->loads, true);
    nw_slots_apply(work->slots, move);
    work->away += migration_cost_count_away(work, move);
}

static double migration_cost_time(const struct migration_cost_work *work)
{
    return nw_objectives_value(&work->loads, NW_OBJECTIVE_TIME);
}

/* Decides whether to keep the present slots. Returns true, and updates
 * work->time, if the predicted time fell by more than the cost of the ranks
 * that are newly away (negative if more ranks have come back). `away` is
 * work->away before the trial. */
static bool migration_cost_pays(struct migration_cost_work *work, int32_t away)
{
    double time = migration_cost_time(work), gain = work->time - time;
    double cost = work->cost->each * (work->away - away);

    if (gain - cost <= 1e-9 * work->time)
        return false;
    work->time = time;
    return true;
}

/* Tries a random move of a random rank. Returns the number of trials: 1. */
static uint64_t migration_cost_try_rank(struct migration_cost_work *work)
{
    struct nw_slots *slots = work->slots;
    int32_t away = work->away;
    struct nw_move move;
    int32_t rank =
        (int32_t)nw_random_below(&work->random, (uint64_t)slots->rank_count);

    nw_slots_draw_move(slots, &work->random, rank, &move);
    if (!move.count)
        return 1;
    migration_cost_apply(work, &move);
    if (migration_cost_pays(work, away))
        return 1;
    for (int k = 0; k < move.count; k++) {
        int32_t from = move.part[k].from;

        move.part[k].from = move.part[k].to;
        move.part[k].to = from;
    }
    migration_cost_apply(work, &move);
    return 1;
}

/* Exchanges all endpoints on two hosts of the same kind, slot by slot. Returns
 * the number of slot pairs that were exchanged. */
static uint64_t migration_cost_exchange(struct migration_cost_work *work,
                                        int32_t here, int32_t there)
{
    const struct nw_slots *slots = work->slots;
    int32_t hosts = slots->problem->host_count;
    uint64_t moves = 0;

    for (int gpu = 0; gpu <= (slots->count > slots->core_count); gpu++) {
        const int32_t *first = slots->first + (gpu ? hosts + 1 : 0);

        for (int32_t i = 0; i < first[here + 1] - first[here]; i++) {
            int32_t s = first[here] + i, t = first[there] + i;
            struct nw_move move = {0};

            nw_slots_exchange(slots, s, t, &move);
            if (move.count)
                migration_cost_apply(work, &move);
            moves += move.count > 0;
        }
    }
    return moves;
}

/* Exchanges the host of a random rank with a random host if both are of the
 * same kind, and undoes that if it does not pay. Returns the number of trials,
 * at least 1. */
static uint64_t migration_cost_try_node(struct migration_cost_work *work)
{
    struct nw_slots *slots = work->slots;
    uint64_t hosts = (uint64_t)slots->problem->host_count;
    int32_t away = work->away;
    int32_t rank =
        (int32_t)nw_random_below(&work->random, (uint64_t)slots->rank_count);
    int32_t here = slots->host[slots->slot[rank]];
    int32_t there = (int32_t)nw_random_below(&work->random, hosts);
    uint64_t moves;

    if (here == there ||
        !nw_node_swaps_is_same_kind(slots->problem, here, there))
        return 1;
    moves = migration_cost_exchange(work, here, there);
    if (!migration_cost_pays(work, away))
        migration_cost_exchange(work, here, there);
    return moves;
}

/* Tries random moves until the number of trials or the budget is used up. */
static void migration_cost_run(struct migration_cost_work *work)
{
    struct nw_budget *budget = work->slots->problem->budget;
    uint64_t steps = (uint64_t)work->slots->rank_count *
                     nw_tuned.congestion.tighten_trials_each;

    if (steps > nw_tuned.congestion.tighten_trials_max)
        steps = nw_tuned.congestion.tighten_trials_max;
    for (uint64_t done = 0, slice; done < steps && !budget->stopped;
         done += slice) {
        for (slice = 0; slice < nw_tuned.congestion.slice;)
            slice += work->cost->whole ? migration_cost_try_node(work)
                                       : migration_cost_try_rank(work);
        (void)nw_budget_spend(budget, slice);
    }
}

nw_status nw_slots_move_at_cost(struct nw_slots *slots,
                                const struct nw_move_cost *cost)
{
    struct migration_cost_work work = {.slots = slots, .cost = cost};
    size_t ends = 2 * (size_t)slots->rank_count;
    nw_status status = nw_link_loads_init(
        &work.loads, slots,
        (struct nw_link_loads_wants){.links = true, .latency = true});

    if (!status)
        status = nw_alloc(ends, sizeof *work.home, &work.home);
    if (!status && slots->core_count > 1) {
        memcpy(work.home, slots->slot, ends * sizeof *work.home);
        nw_random_init(&work.random, slots->problem->options.seed);
        work.time = migration_cost_time(&work);
        migration_cost_run(&work);
    }
    nw_link_loads_fini(&work.loads);
    free(work.home);
    return status;
}
