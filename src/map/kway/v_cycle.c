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

/* Replaces a partition of `level` by that of level + 1, in place: the number of
 * a coarse vertex is at most that of each vertex in it. */
static void kway_memetic_project(const struct kway_memetic_levels *levels,
                                 int level, int32_t *part)
{
    for (int32_t v = 0; v < levels->graph[level].n; v++)
        part[levels->into[level][v]] = part[v];
}

/* Coarsens the graph until few vertices per part are left, coarsening hardly
 * shrinks the graph or time is over; not at all if task->whole. Joins only
 * vertices that are in the same part in both partitions task->one and
 * task->other (NULL: any). If task->one is set, task->out.part is this
 * partition on entry, and on return that of the coarsest level. */
static nw_status kway_memetic_build_levels(struct kway_memetic_task *task,
                                           struct nw_random *random,
                                           struct kway_memetic_levels *levels)
{
    int64_t per_part = task->run->per_part ? task->run->per_part
                                           : nw_tuned.kway.vertices_per_part;
    int64_t small = task->run->machine->k * per_part;
    size_t n = task->other ? (size_t)task->run->graph->n : 0;
    int32_t *second;
    nw_status status = nw_alloc(n, sizeof *second, &second);
    struct nw_graph_merge merge = {.part = task->one ? task->out.part : NULL,
                                   .other = task->other ? second : NULL};
    double load = 0;

    for (int32_t v = 0; v < task->run->graph->n; v++)
        load += (double)task->run->graph->load[v];
    merge.load_max = (int64_t)(1.5 * load / (double)small) + 1;
    if (!status && n)
        memcpy(second, task->other->part, n * sizeof *second);
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
        if (!status && merge.part)
            kway_memetic_project(levels, at, task->out.part);
        if (!status && merge.other)
            kway_memetic_project(levels, at, second);
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
/* Returns true if the cost computed from scratch equals the initial cost
 * `begun` minus all gains. Rounding errors are allowed, up to those of an
 * estimate of the largest possible cost: the bytes of all arcs times the
 * largest distance of an element from element 0. */
static bool kway_memetic_agrees(const struct nw_kway_state *state, double begun)
{
    const struct nw_graph *graph = state->graph;
    double cost = nw_kway_cost(graph, state->machine, state->part);
    double off = fabs(begun - state->gained - cost), bytes = 0, far = 0;

    for (size_t e = 0; e < graph->row[graph->n]; e++)
        bytes += (double)graph->arc[e].weight;
    for (int32_t q = 1; q < state->machine->k; q++)
        far = fmax(far, nw_kway_distance(state->machine, 0, q));
    return off <= 1e-9 * (1 + begun + cost) + 1e-12 * bytes * far;
}
#endif

/* Refines a partition on one level: rebalancing, label propagation, then rounds
 * of local search. If time is over, coarse levels are left out. On the finest
 * level, sets task->out.balanced. */
static nw_status kway_memetic_refine(struct kway_memetic_task *task,
                                     const struct nw_graph *graph, bool finest,
                                     struct nw_random *random)
{
    int32_t *part = task->out.part;
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

/* Refines task->out.part from the coarsest level to the finest, which share the
 * time limit in proportion to their numbers of vertices. */
static nw_status
kway_memetic_come_back(struct kway_memetic_task *task,
                       const struct kway_memetic_levels *levels,
                       struct nw_random *random)
{
    nw_status status = NW_OK;
    double all = 0;

    for (int i = 0; i < levels->count; i++)
        all += levels->graph[i].n;
    nw_time_shares_begin(&task->pace, task->run->budget, 1, all);
    for (int i = levels->count - 1; !status && i >= 0; i--) {
        status = kway_memetic_refine(task, &levels->graph[i], i == 0, random);
        for (int32_t v = i ? levels->graph[i - 1].n : 0; v-- > 0;)
            task->out.part[v] = task->out.part[levels->into[i - 1][v]];
    }
    return status;
}

/* Makes a partition of the coarsest level by the initial bisection. */
static nw_status kway_memetic_start(struct kway_memetic_task *task,
                                    const struct kway_memetic_levels *levels)
{
    struct nw_kway_run run = *task->run;
    struct nw_kway_machine machine = *run.machine;

    run.graph = &levels->graph[levels->count - 1];
    run.machine = &machine;
    run.seed = task->seed;
    if (task->alternative && run.share)
        machine.share = (double *)run.share;
    if (!task->alternative)
        run.effort.group_starts = 0;
    return nw_kway_bisect_elements(&run, task->out.part);
}

nw_status nw_kway_memetic_run_task(struct kway_memetic_task *task)
{
    struct kway_memetic_levels levels = {0};
    struct nw_random random;
    size_t n = (size_t)task->run->graph->n;
    int32_t **part = &task->out.part;
    nw_status status = nw_alloc(n, sizeof **part, part);

    nw_random_init(&random, task->seed);
    if (!status && task->one)
        memcpy(*part, task->one->part, n * sizeof **part);
    if (!status)
        status = kway_memetic_build_levels(task, &random, &levels);
    /* A partition from scratch is left out if time is over and run->given keeps
     * every limit. */
    if (!status && !task->one && task->run->given_fits &&
        nw_budget_is_overdue(task->run->budget)) {
        free(*part);
        *part = NULL;
    } else {
        if (!status && !task->one)
            status = kway_memetic_start(task, &levels);
        if (!status)
            status = kway_memetic_come_back(task, &levels, &random);
        if (!status)
            task->out.cost =
                nw_kway_cost(task->run->graph, task->run->machine, *part);
    }
    for (int i = 0; i < levels.count; i++) {
        if (i)
            nw_graph_fini(&levels.graph[i]);
        free(levels.into[i]);
    }
    return status;
}
