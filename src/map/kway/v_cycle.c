/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one partition of the memetic algorithm. The graph is coarsened without
 * joining vertices of different parts of the parent partitions. The small graph
 * gets the partition of a parent or, without parents, a new one. The partition
 * is then refined on every level from the coarsest to the finest. */
#include "map/kway/kway_memetic_internal.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 40 }; /* most levels: the graph and its coarser graphs */

/* The graph and its coarser graphs. into[i][v] is the vertex of level i + 1
 * that contains vertex v of level i. */
struct kway_memetic_levels {
    struct nw_graph graph[LEVELS]; /* graph[0] is borrowed, the others are
                                      owned */
    int32_t *into[LEVELS];
    int count;
};

static void kway_memetic_levels_fini(struct kway_memetic_levels *levels)
{
    for (int i = 0; i < levels->count; i++) {
        if (i)
            nw_graph_fini(&levels->graph[i]);
        free(levels->into[i]);
    }
}

/* Replaces the partition *part of `level` by that of level + 1, which *owned
 * then points to, too; frees the former *owned. Does nothing if *part is NULL.
 */
static nw_status kway_memetic_project(const struct kway_memetic_levels *levels,
                                      int level, const int32_t **part,
                                      int32_t **owned)
{
    int32_t *coarse;
    nw_status status;

    if (!*part)
        return NW_OK;
    status =
        nw_alloc((size_t)levels->graph[level + 1].n, sizeof *coarse, &coarse);
    if (status)
        return status;
    for (int32_t v = 0; v < levels->graph[level].n; v++)
        coarse[levels->into[level][v]] = (*part)[v];
    free(*owned);
    *part = *owned = coarse;
    return NW_OK;
}

/* Returns the load of all vertices. */
static double kway_memetic_total_load(const struct nw_graph *graph)
{
    double sum = 0;

    for (int32_t v = 0; v < graph->n; v++)
        sum += (double)graph->load[v];
    return sum;
}

/* Coarsens the graph until few vertices per part are left, coarsening hardly
 * shrinks the graph or time is over; not at all if task->whole. Joins only
 * vertices that are in the same part in both partitions task->one and
 * task->other (NULL: any). *coarse_part, NULL on entry, becomes the partition
 * task->one on the coarsest level, unless there is only one level or task->one
 * is NULL. */
static nw_status kway_memetic_build_levels(struct kway_memetic_task *task,
                                           struct nw_random *random,
                                           struct kway_memetic_levels *levels,
                                           int32_t **coarse_part)
{
    int64_t per_part = task->run->per_part ? task->run->per_part
                                           : nw_tuned.kway.vertices_per_part;
    int64_t small = task->run->machine->k * per_part;
    struct nw_graph_merge merge = {
        .load_max = (int64_t)(1.5 * kway_memetic_total_load(task->run->graph) /
                              (double)small) +
                    1,
        .part = task->one ? task->one->part : NULL,
        .other = task->other ? task->other->part : NULL};
    int32_t *second = NULL;
    nw_status status = NW_OK;

    levels->graph[0] = *task->run->graph;
    levels->count = 1;
    while (!status && levels->count < LEVELS) {
        int at = levels->count - 1;
        struct nw_graph *fine = &levels->graph[at];

        if (fine->n <= small || task->whole ||
            nw_budget_is_overdue(task->run->budget))
            break;
        status =
            nw_alloc((size_t)fine->n, sizeof *merge.part, &levels->into[at]);
        levels->count++;
        if (!status)
            status = nw_graph_coarsen(fine, &merge, random, fine + 1,
                                      levels->into[at]);
        if (!status)
            status = kway_memetic_project(levels, at, &merge.part, coarse_part);
        if (!status)
            status = kway_memetic_project(levels, at, &merge.other, &second);
        if (fine[1].n >= nw_tuned.bisection.shrink * fine->n)
            break;
    }
    free(second);
    return status;
}

/* Widens the limits of load by half of the heaviest vertex, because coarse
 * vertices are heavy and could not move otherwise. Limits of the number of
 * vertices grow by the size of the largest vertex, except limits of 0. */
static void kway_memetic_widen_limits(struct nw_kway_state *state)
{
    const struct nw_graph *g = state->graph;
    int64_t load = 0, count = 0;

    for (int32_t v = 0; v < g->n; v++) {
        if (g->load[v] > load)
            load = g->load[v];
        if (g->size[v] > count)
            count = g->size[v];
    }
    for (int32_t q = 0; q < state->machine->k; q++) {
        if (state->most[q])
            state->most[q] += count;
        state->limit[q] += load / 2;
    }
}

#ifndef NDEBUG
/* Returns an estimate of the largest possible cost: the bytes of all arcs times
 * the largest distance of an element from element 0. */
static double kway_memetic_most_of(const struct nw_graph *graph,
                                   const struct nw_kway_machine *machine)
{
    double bytes = 0, far = 0;

    for (size_t e = 0; e < graph->row[graph->n]; e++)
        bytes += (double)graph->arc[e].weight;
    for (int32_t q = 1; q < machine->k; q++)
        far = fmax(far, nw_kway_distance(machine, 0, q));
    return bytes * far;
}

/* Returns true if the cost computed from scratch equals the initial cost
 * `begun` minus all gains. Rounding errors are allowed, up to those of the
 * largest possible cost. */
static bool kway_memetic_agrees(const struct nw_kway_state *state, double begun)
{
    double cost = nw_kway_cost(state->graph, state->machine, state->part);
    double off = fabs(begun - state->gained - cost);

    return off <= 1e-9 * (1 + begun + cost) ||
           off <= 1e-12 * kway_memetic_most_of(state->graph, state->machine);
}
#endif

/* Refines a partition on one level: rebalancing, label propagation, then rounds
 * of local search. If time is over, coarse levels are left out. On the finest
 * level, sets task->out.balanced. */
static nw_status kway_memetic_refine(struct kway_memetic_task *task,
                                     const struct nw_graph *graph, bool finest,
                                     struct nw_random *random, int32_t *part)
{
    const struct nw_kway_effort *effort = &task->run->effort;
    struct nw_kway_state state;
    bool balanced;
    double begun = 0;
    nw_status status;

    (void)begun; /* used by assertions only */
    if (!finest && nw_budget_is_overdue(task->run->budget))
        return NW_OK;
    status = nw_kway_state_init(&state, graph, task->run->machine, part);
    if (status)
        return status;
    state.budget = task->run->budget;
    state.until = nw_time_shares_until(&task->pace, graph->n);
    /* The initial cost is needed only by the assertion below. */
    assert((begun = nw_kway_cost(graph, task->run->machine, part)) >= 0);
    if (!finest)
        kway_memetic_widen_limits(&state);
    status = nw_kway_rebalance(&state, &balanced);
    if (!status)
        status = nw_kway_label_propagation(&state, random);
    for (int i = 0;
         !status && i < effort->searches && !nw_kway_state_is_late(&state);
         i++) {
        double before = state.gained;

        status = nw_kway_multitry_fm(&state, effort->patience, random);
        if (state.gained <= before)
            break;
    }
    if (finest)
        task->out.balanced = balanced;
    assert(status || kway_memetic_agrees(&state, begun));
    nw_kway_state_fini(&state);
    return status;
}

/* Refines the partition from the coarsest level to the finest, which share the
 * time limit in proportion to their numbers of vertices. On input *part is the
 * partition of the coarsest level, on return that of the finest level.
 */
static nw_status kway_memetic_come_back(struct kway_memetic_task *task,
                                        struct kway_memetic_levels *levels,
                                        struct nw_random *random,
                                        int32_t **part)
{
    nw_status status = NW_OK;
    double all = 0;

    for (int i = 0; i < levels->count; i++)
        all += levels->graph[i].n;
    nw_time_shares_begin(&task->pace, task->run->budget, 1, all);
    for (int i = levels->count - 1; !status; i--) {
        const struct nw_graph *graph = &levels->graph[i];
        int32_t *finer = NULL;

        status = kway_memetic_refine(task, graph, i == 0, random, *part);
        if (status || !i)
            break;
        status =
            nw_alloc((size_t)levels->graph[i - 1].n, sizeof *finer, &finer);
        for (int32_t v = 0; !status && v < levels->graph[i - 1].n; v++)
            finer[v] = (*part)[levels->into[i - 1][v]];
        if (!status) {
            free(*part);
            *part = finer;
        }
    }
    return status;
}

/* Sets *part to a partition of the coarsest level: to that of the parent
 * task->one, or else to one made by the initial bisection. */
static nw_status kway_memetic_start(struct kway_memetic_task *task,
                                    const struct kway_memetic_levels *levels,
                                    int32_t **part)
{
    const struct nw_graph *last = &levels->graph[levels->count - 1];
    struct nw_kway_run run = *task->run;
    struct nw_kway_machine machine = *run.machine;
    nw_status status;

    if (*part)
        return NW_OK;
    status = nw_alloc((size_t)last->n, sizeof **part, part);
    if (status)
        return status;
    if (task->one) {
        memcpy(*part, task->one->part, (size_t)last->n * sizeof **part);
        return NW_OK;
    }
    run.graph = last;
    run.machine = &machine;
    run.seed = task->seed;
    if (task->alternative && run.share)
        machine.share = (double *)run.share;
    if (!task->alternative)
        run.effort.group_starts = 0;
    return nw_kway_bisect_elements(&run, *part);
}

/* Returns true if this task can be left out: it would make a partition from
 * scratch, but time is over and run->given keeps every limit. */
static bool kway_memetic_is_idle(const struct kway_memetic_task *task)
{
    return !task->one && task->run->given_fits &&
           nw_budget_is_overdue(task->run->budget);
}

nw_status nw_kway_memetic_run_task(struct kway_memetic_task *task)
{
    struct kway_memetic_levels levels = {0};
    struct nw_random random;
    int32_t *part = NULL;
    nw_status status;

    nw_random_init(&random, task->seed);
    status = kway_memetic_build_levels(task, &random, &levels, &part);
    if (!status && !kway_memetic_is_idle(task))
        status = kway_memetic_start(task, &levels, &part);
    if (!status && part)
        status = kway_memetic_come_back(task, &levels, &random, &part);
    if (!status && part)
        task->out.cost =
            nw_kway_cost(task->run->graph, task->run->machine, part);
    kway_memetic_levels_fini(&levels);
    task->out.part = part;
    return status;
}
