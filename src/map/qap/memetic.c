/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A population of good solutions. A child keeps what its parents agree on,
 * takes the rest from either and is improved by tabu search; it replaces the
 * worst member where it is better and new (after Benlic and Hao, Expert
 * Systems with Applications 42, 2015). When nothing changes any more all but
 * the best are shaken.
 */
#include "map/qap/qap.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MOST 12
#define STALE_MOST 20

static int32_t *member_of(const struct nw_breed *breed, int32_t i)
{
    return breed->member + (size_t)i * (size_t)breed->qap->n;
}

/* Enough to come to rest, short where a step is long. */
static uint64_t child_steps(int32_t n)
{
    double steps = 15e6 / ((double)n * n);

    steps = fmin(steps, 60.0 * n);
    return (uint64_t)fmax(steps, 2.0 * n);
}

nw_status nw_breed_init(struct nw_breed *breed, const struct nw_qap *qap,
                        uint64_t seed, const int32_t *start)
{
    size_t n = (size_t)qap->n;
    nw_status status;

    *breed = (struct nw_breed){.qap = qap, .size = SIZE_MOST};
    breed->child_steps = child_steps(qap->n);
    nw_random_init(&breed->random, seed);
    status = nw_tabu_new(qap, &breed->tabu);
    if (!status)
        status = nw_alloc((SIZE_MOST + 1) * n, sizeof *breed->member,
                          &breed->member);
    if (!status)
        status = nw_alloc(SIZE_MOST, sizeof *breed->cost, &breed->cost);
    if (!status)
        status = nw_alloc(n, sizeof *breed->best, &breed->best);
    if (!status)
        status = nw_alloc(n, sizeof *breed->open, &breed->open);
    if (!status)
        status = nw_alloc(n, sizeof *breed->taken, &breed->taken);
    if (status)
        return status;
    memcpy(breed->best, start, n * sizeof *start);
    breed->best_cost = nw_qap_cost(qap, start);
    return NW_OK;
}

void nw_breed_fini(struct nw_breed *breed)
{
    nw_tabu_free(breed->tabu);
    free(breed->member);
    free(breed->cost);
    free(breed->best);
    free(breed->open);
    free(breed->taken);
    *breed = (struct nw_breed){0};
}

static void improve(struct nw_breed *breed, int32_t *child, double *cost)
{
    *cost = nw_tabu_run(breed->tabu, &breed->random, breed->child_steps, child);
    breed->steps += breed->child_steps;
    if (*cost < breed->best_cost) {
        breed->best_cost = *cost;
        memcpy(breed->best, child, (size_t)breed->qap->n * sizeof *child);
    }
}

/* The first is the start itself, the others are drawn. */
static void add_member(struct nw_breed *breed)
{
    int32_t *child = member_of(breed, breed->count);

    memcpy(child, breed->best, (size_t)breed->qap->n * sizeof *child);
    if (breed->count)
        nw_random_shuffle(&breed->random, child, (size_t)breed->qap->movable);
    improve(breed, child, &breed->cost[breed->count]);
    breed->count++;
}

static int32_t choose_parent(struct nw_breed *breed)
{
    int32_t a = (int32_t)nw_random_below(&breed->random, (uint64_t)breed->size);
    int32_t b = (int32_t)nw_random_below(&breed->random, (uint64_t)breed->size);

    return breed->cost[a] < breed->cost[b] ? a : b;
}

/* Items of the child still without a place take the places left, at random. */
static void fill_open(struct nw_breed *breed, int32_t *child)
{
    size_t n = (size_t)breed->qap->n, count = 0, at = 0;
    int32_t *open = breed->open;

    for (size_t i = 0; i < n; i++)
        if (!breed->taken[i])
            open[count++] = (int32_t)i;
    nw_random_shuffle(&breed->random, open, count);
    for (size_t i = 0; i < n; i++)
        if (child[i] < 0)
            child[i] = open[at++];
}

static void cross(struct nw_breed *breed, const int32_t *mother,
                  const int32_t *father, int32_t *child)
{
    size_t n = (size_t)breed->qap->n;
    bool *taken = breed->taken;

    memset(taken, 0, n * sizeof *taken);
    for (size_t i = 0; i < n; i++) {
        child[i] = mother[i] == father[i] ? mother[i] : -1;
        if (child[i] >= 0)
            taken[child[i]] = true;
    }
    for (size_t i = 0; i < n; i++) {
        bool first = nw_random_next(&breed->random) >> 63;
        int32_t a = first ? mother[i] : father[i];
        int32_t b = first ? father[i] : mother[i];

        if (child[i] >= 0 || (taken[a] && taken[b]))
            continue;
        child[i] = taken[a] ? b : a;
        taken[child[i]] = true;
    }
    fill_open(breed, child);
}

static bool is_known(const struct nw_breed *breed, const int32_t *child,
                     double cost)
{
    size_t bytes = (size_t)breed->qap->n * sizeof *child;

    for (int32_t i = 0; i < breed->size; i++)
        if (breed->cost[i] == cost &&
            !memcmp(member_of(breed, i), child, bytes))
            return true;
    return false;
}

static int32_t find_worst(const struct nw_breed *breed)
{
    int32_t worst = 0;

    for (int32_t i = 1; i < breed->size; i++)
        if (breed->cost[i] >= breed->cost[worst])
            worst = i;
    return worst;
}

static void shake(struct nw_breed *breed, int32_t *child, int32_t swaps)
{
    uint64_t movable = (uint64_t)breed->qap->movable;

    for (int32_t k = 0; k < swaps; k++) {
        uint64_t i = nw_random_below(&breed->random, movable);
        uint64_t j = nw_random_below(&breed->random, movable);
        int32_t place = child[i];

        child[i] = child[j];
        child[j] = place;
    }
}

/* All but the best member start again, from a shaken copy of themselves. */
static void shake_all(struct nw_breed *breed)
{
    int32_t best = 0;

    for (int32_t i = 1; i < breed->size; i++)
        if (breed->cost[i] < breed->cost[best])
            best = i;
    for (int32_t i = 0; i < breed->size; i++) {
        if (i == best)
            continue;
        shake(breed, member_of(breed, i), breed->qap->movable / 2);
        breed->cost[i] = INFINITY;
    }
}

void nw_breed_next(struct nw_breed *breed)
{
    int32_t *child = member_of(breed, breed->size);
    int32_t a, b, worst;
    double cost;

    if (breed->count < breed->size) {
        add_member(breed);
        return;
    }
    a = choose_parent(breed);
    b = choose_parent(breed);
    cross(breed, member_of(breed, a), member_of(breed, b), child);
    if (a == b)
        shake(breed, child, breed->qap->movable / 4 + 1);
    improve(breed, child, &cost);
    worst = find_worst(breed);
    breed->stale++;
    if (cost < breed->cost[worst] && !is_known(breed, child, cost)) {
        memcpy(member_of(breed, worst), child,
               (size_t)breed->qap->n * sizeof *child);
        breed->cost[worst] = cost;
        breed->stale = 0;
    }
    if (breed->stale > STALE_MOST) {
        shake_all(breed);
        breed->stale = 0;
    }
}
