/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memetic search with a population of good solutions (members). A child keeps
 * the assignments that its parents have in common, takes the others from either
 * parent if possible and is improved by tabu search. It replaces the worst
 * member if it costs less and is not in the population (after Benlic and Hao,
 * Expert Systems with Applications 42, 2015). When the population no longer
 * changes, all members but the best are perturbed.
 */
#include "map/qap/qap.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <math.h>
#include <string.h>

#define POPULATION 12 /* members of a complete population */

/* Returns the row of member i: the place of each item in that solution. */
static int32_t *qap_memetic_member_of(const struct nw_qap_memetic *memetic,
                                      int32_t i)
{
    return memetic->member + (size_t)i * (size_t)memetic->qap->n;
}

nw_status nw_qap_memetic_init(struct nw_qap_memetic *memetic,
                              const struct nw_qap *qap, uint64_t seed,
                              const int32_t *start)
{
    size_t n = (size_t)qap->n;
    double of = qap->n;
    nw_status status;

    *memetic = (struct nw_qap_memetic){.qap = qap};
    /* so many steps that the search converges; fewer if n is large, because
     * each step then takes longer */
    memetic->child_steps =
        (uint64_t)fmax(fmin(15e6 / (of * of), 60 * of), 2 * of);
    nw_random_init(&memetic->random, seed);
    status = nw_robust_tabu_new(qap, &memetic->tabu);
    if (!status)
        status = NW_ALLOC_ALL(
            NW_ARRAY((POPULATION + 1) * n, memetic->member),
            NW_ARRAY(POPULATION, memetic->cost), NW_ARRAY(n, memetic->best),
            NW_ARRAY(n, memetic->open), NW_ARRAY(n, memetic->taken));
    if (status)
        return status;
    memcpy(memetic->best, start, n * sizeof *start);
    memetic->best_cost = nw_qap_cost(qap, start);
    return NW_OK;
}

void nw_qap_memetic_fini(struct nw_qap_memetic *memetic)
{
    nw_robust_tabu_free(memetic->tabu);
    NW_FREE_ALL(memetic->member, memetic->cost, memetic->best, memetic->open,
                memetic->taken);
    *memetic = (struct nw_qap_memetic){0};
}

/* Improves a child by tabu search, sets *cost to its cost, and keeps it as the
 * best solution if it is better. */
static void qap_memetic_improve(struct nw_qap_memetic *memetic, int32_t *child,
                                double *cost)
{
    *cost = nw_robust_tabu_run(memetic->tabu, &memetic->random,
                               memetic->child_steps, child);
    memetic->steps += memetic->child_steps;
    if (*cost < memetic->best_cost) {
        memetic->best_cost = *cost;
        memcpy(memetic->best, child, (size_t)memetic->qap->n * sizeof *child);
    }
}

/* Adds a member to the population: the first is the given start; for the
 * others, the movable items are shuffled over their places. Each is improved by
 * tabu search. */
static void qap_memetic_add_member(struct nw_qap_memetic *memetic)
{
    int32_t *child = qap_memetic_member_of(memetic, memetic->count);

    memcpy(child, memetic->best, (size_t)memetic->qap->n * sizeof *child);
    if (memetic->count)
        nw_random_shuffle(&memetic->random, child,
                          (size_t)memetic->qap->movable);
    qap_memetic_improve(memetic, child, &memetic->cost[memetic->count]);
    memetic->count++;
}

/* Returns the cheaper of two members drawn at random, which may be the same
 * one. */
static int32_t qap_memetic_choose_parent(struct nw_qap_memetic *memetic)
{
    int32_t a = (int32_t)nw_random_below(&memetic->random, POPULATION);
    int32_t b = (int32_t)nw_random_below(&memetic->random, POPULATION);

    return memetic->cost[a] < memetic->cost[b] ? a : b;
}

/* Puts the items of the child that have no place yet on free places at random.
 */
static void qap_memetic_fill_open(struct nw_qap_memetic *memetic,
                                  int32_t *child)
{
    size_t n = (size_t)memetic->qap->n, count = 0, at = 0;
    int32_t *open = memetic->open;

    for (size_t i = 0; i < n; i++)
        if (!memetic->taken[i])
            open[count++] = (int32_t)i;
    nw_random_shuffle(&memetic->random, open, count);
    for (size_t i = 0; i < n; i++)
        if (child[i] < 0)
            child[i] = open[at++];
}

/* Makes `child` by uniform crossover of two parents: each item gets its place
 * in either parent, at random, or a random free place if both are taken. */
static void qap_memetic_cross(struct nw_qap_memetic *memetic,
                              const int32_t *mother, const int32_t *father,
                              int32_t *child)
{
    size_t n = (size_t)memetic->qap->n;
    bool *taken = memetic->taken;

    memset(taken, 0, n * sizeof *taken);
    for (size_t i = 0; i < n; i++) {
        child[i] = mother[i] == father[i] ? mother[i] : -1;
        if (child[i] >= 0)
            taken[child[i]] = true;
    }
    for (size_t i = 0; i < n; i++) {
        bool first = nw_random_next(&memetic->random) >> 63;
        int32_t a = first ? mother[i] : father[i];
        int32_t b = first ? father[i] : mother[i];

        if (child[i] >= 0 || (taken[a] && taken[b]))
            continue;
        child[i] = taken[a] ? b : a;
        taken[child[i]] = true;
    }
    qap_memetic_fill_open(memetic, child);
}

/* Returns true if a member is equal to the child. A member that was perturbed
 * and not yet replaced never is. */
static bool qap_memetic_is_known(const struct nw_qap_memetic *memetic,
                                 const int32_t *child, double cost)
{
    size_t bytes = (size_t)memetic->qap->n * sizeof *child;

    for (int32_t i = 0; i < POPULATION; i++)
        if (memetic->cost[i] == cost &&
            !memcmp(qap_memetic_member_of(memetic, i), child, bytes))
            return true;
    return false;
}

/* Returns the member with the highest cost; of several, the last one. */
static int32_t qap_memetic_find_worst(const struct nw_qap_memetic *memetic)
{
    int32_t worst = 0;

    for (int32_t i = 1; i < POPULATION; i++)
        if (memetic->cost[i] >= memetic->cost[worst])
            worst = i;
    return worst;
}

/* Makes `swaps` random swaps of the places of movable items in `child`. */
static void qap_memetic_shake(struct nw_qap_memetic *memetic, int32_t *child,
                              int32_t swaps)
{
    uint64_t movable = (uint64_t)memetic->qap->movable;

    for (int32_t k = 0; k < swaps; k++) {
        uint64_t i = nw_random_below(&memetic->random, movable);
        uint64_t j = nw_random_below(&memetic->random, movable);
        int32_t place = child[i];

        child[i] = child[j];
        child[j] = place;
    }
}

/* Perturbs all members but the best by random swaps. They count as worse than
 * any child until a child replaces them. */
static void qap_memetic_shake_all(struct nw_qap_memetic *memetic)
{
    int32_t best = 0;

    for (int32_t i = 1; i < POPULATION; i++)
        if (memetic->cost[i] < memetic->cost[best])
            best = i;
    for (int32_t i = 0; i < POPULATION; i++) {
        if (i == best)
            continue;
        qap_memetic_shake(memetic, qap_memetic_member_of(memetic, i),
                          memetic->qap->movable / 2);
        memetic->cost[i] = INFINITY;
    }
}

void nw_qap_memetic_next(struct nw_qap_memetic *memetic)
{
    int32_t *child = qap_memetic_member_of(memetic, POPULATION);
    int32_t a, b, worst;
    double cost;

    if (memetic->count < POPULATION) {
        qap_memetic_add_member(memetic);
        return;
    }
    a = qap_memetic_choose_parent(memetic);
    b = qap_memetic_choose_parent(memetic);
    qap_memetic_cross(memetic, qap_memetic_member_of(memetic, a),
                      qap_memetic_member_of(memetic, b), child);
    if (a == b)
        qap_memetic_shake(memetic, child, memetic->qap->movable / 4 + 1);
    qap_memetic_improve(memetic, child, &cost);
    worst = qap_memetic_find_worst(memetic);
    memetic->unchanged++;
    if (cost < memetic->cost[worst] &&
        !qap_memetic_is_known(memetic, child, cost)) {
        memcpy(qap_memetic_member_of(memetic, worst), child,
               (size_t)memetic->qap->n * sizeof *child);
        memetic->cost[worst] = cost;
        memetic->unchanged = 0;
    }
    if (memetic->unchanged > nw_tuned.qap.unchanged_max) {
        qap_memetic_shake_all(memetic);
        memetic->unchanged = 0;
    }
}
