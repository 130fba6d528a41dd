/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves of single vertices between two parts: each pass moves vertices best
 * gain first, losing ones too, and goes back to the best it saw. */
#include "map/graph/bisect_multilevel.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A heap of vertices by gain for each side. */
struct fm_heap_work {
    const struct nw_bisect_graph *graph;
    int8_t *side;
    double *gain;
    int32_t *heap[2], count[2];
    int32_t *at; /* [n] place in its heap; -1 not there */
    int32_t *moved;
    double *outside, *bytes; /* [n] to the other side, and in all */
    bool *dirty;             /* [n] the first of them */
    int32_t imbalance;       /* of side 0 over its target */
    int32_t tolerance;
    double cut;
};

/* --- heaps --- */

static void fm_heap_put(struct fm_heap_work *work, int side, int32_t i,
                        int32_t v)
{
    work->heap[side][i] = v;
    work->at[v] = i;
}

static void fm_heap_sift_up(struct fm_heap_work *work, int side, int32_t i)
{
    int32_t v = work->heap[side][i];

    for (; i; i = (i - 1) / 2) {
        int32_t parent = work->heap[side][(i - 1) / 2];

        if (work->gain[parent] >= work->gain[v])
            break;
        fm_heap_put(work, side, i, parent);
    }
    fm_heap_put(work, side, i, v);
}

static void fm_heap_sift_down(struct fm_heap_work *work, int side, int32_t i)
{
    int32_t v = work->heap[side][i], n = work->count[side];

    for (;;) {
        int32_t child = 2 * i + 1;
        const int32_t *heap = work->heap[side];

        if (child >= n)
            break;
        if (child + 1 < n &&
            work->gain[heap[child + 1]] > work->gain[heap[child]])
            child++;
        if (work->gain[heap[child]] <= work->gain[v])
            break;
        fm_heap_put(work, side, i, heap[child]);
        i = child;
    }
    fm_heap_put(work, side, i, v);
}

static void fm_heap_take_out(struct fm_heap_work *work, int32_t v)
{
    int side = work->side[v];
    int32_t i = work->at[v], last = work->heap[side][--work->count[side]];

    work->at[v] = -1;
    if (last == v)
        return;
    fm_heap_put(work, side, i, last);
    fm_heap_sift_up(work, side, i);
    fm_heap_sift_down(work, side, work->at[last]);
}

static void fm_heap_put_in(struct fm_heap_work *work, int32_t v)
{
    int side = work->side[v];

    fm_heap_put(work, side, work->count[side]++, v);
    fm_heap_sift_up(work, side, work->at[v]);
}

/* --- moves --- */

static void fm_heap_set_gain(struct fm_heap_work *work, int32_t v, double gain)
{
    work->gain[v] = gain;
    if (work->at[v] < 0) {
        fm_heap_put_in(work, v);
        return;
    }
    fm_heap_sift_up(work, work->side[v], work->at[v]);
    fm_heap_sift_down(work, work->side[v], work->at[v]);
}

static double fm_heap_gain_of(const struct fm_heap_work *work, int32_t v)
{
    const struct nw_bisect_graph *graph = work->graph;
    double gain = 0;

    for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++)
        gain += work->side[graph->arc[a].to] == work->side[v]
                    ? -(double)graph->arc[a].bytes
                    : (double)graph->arc[a].bytes;
    return gain;
}

/* Moves v; neighbours that have not moved come up at the border. */
static void fm_heap_move(struct fm_heap_work *work, int32_t v, bool passing)
{
    const struct nw_bisect_graph *graph = work->graph;

    if (passing)
        fm_heap_take_out(work, v);
    work->cut -= work->gain[v];
    work->imbalance += work->side[v] ? graph->size[v] : -graph->size[v];
    work->side[v] ^= 1;
    work->gain[v] = -work->gain[v];
    for (int32_t a = graph->row[v]; passing && a < graph->row[v + 1]; a++) {
        int32_t u = graph->arc[a].to;
        double change = 2 * (double)graph->arc[a].bytes;

        if (work->at[u] == -2) {
            work->gain[u] += work->side[u] == work->side[v] ? -change : change;
            continue;
        }
        if (work->at[u] < 0)
            fm_heap_set_gain(work, u, fm_heap_gain_of(work, u));
        else
            fm_heap_set_gain(work, u,
                             work->gain[u] + (work->side[u] == work->side[v]
                                                  ? -change
                                                  : change));
    }
    if (passing)
        work->at[v] = -2;
}

static int32_t fm_heap_imbalance_of(const struct fm_heap_work *work)
{
    int32_t imbalance = abs(work->imbalance);

    return imbalance > work->tolerance ? imbalance - work->tolerance : 0;
}

/* The better top of the two heaps, or that of the side that is too large. */
static int32_t fm_heap_choose(const struct fm_heap_work *work)
{
    int32_t top[2];
    int32_t capacity = work->tolerance ? work->tolerance : 1;

    for (int s = 0; s < 2; s++)
        top[s] = work->count[s] ? work->heap[s][0] : -1;
    if (work->imbalance >= capacity && top[0] >= 0)
        return top[0];
    if (work->imbalance <= -capacity && top[1] >= 0)
        return top[1];
    if (top[0] < 0 || top[1] < 0)
        return top[0] < 0 ? top[1] : top[0];
    return work->gain[top[0]] >= work->gain[top[1]] ? top[0] : top[1];
}

static void fm_heap_look_at(struct fm_heap_work *work, int32_t v)
{
    const struct nw_bisect_graph *graph = work->graph;
    double outside = 0, bytes = 0;

    for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
        bytes += (double)graph->arc[a].bytes;
        if (work->side[graph->arc[a].to] != work->side[v])
            outside += (double)graph->arc[a].bytes;
    }
    work->outside[v] = outside;
    work->bytes[v] = bytes;
    work->dirty[v] = false;
}

static void fm_heap_fill_heaps(struct fm_heap_work *work)
{
    const struct nw_bisect_graph *graph = work->graph;
    bool all = fm_heap_imbalance_of(work) > 0 || graph->n < 200;

    work->count[0] = work->count[1] = 0;
    work->cut = 0;
    for (int32_t v = 0; v < graph->n; v++) {
        if (work->dirty[v])
            fm_heap_look_at(work, v);
        work->gain[v] = 2 * work->outside[v] - work->bytes[v];
        work->at[v] = -1;
        work->cut += work->outside[v] / 2;
        if (all || work->outside[v] > 0)
            fm_heap_put_in(work, v);
    }
}

/* Updates a moved vertex and its neighbours. */
static void fm_heap_mark_dirty(struct fm_heap_work *work, int32_t v)
{
    const struct nw_bisect_graph *graph = work->graph;

    work->dirty[v] = true;
    for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++)
        work->dirty[graph->arc[a].to] = true;
}

static bool fm_heap_pass(struct fm_heap_work *work)
{
    const struct nw_bisect_graph *graph = work->graph;
    double begun, best;
    int32_t count = 0, kept = 0, best_off = fm_heap_imbalance_of(work),
            begun_off = best_off;
    int32_t patience = nw_tuned.bisection.patience + graph->n / 32, v;

    fm_heap_fill_heaps(work);
    begun = best = work->cut;
    while ((v = fm_heap_choose(work)) >= 0 &&
           (count - kept < patience || best_off > 0)) {
        int32_t now;

        fm_heap_move(work, v, true);
        work->moved[count++] = v;
        now = fm_heap_imbalance_of(work);
        if (now < best_off ||
            (now == best_off && work->cut < best - 1e-9 * begun)) {
            best = work->cut;
            best_off = now;
            kept = count;
        }
    }
    while (count > kept) {
        v = work->moved[--count];
        work->imbalance += work->side[v] ? graph->size[v] : -graph->size[v];
        work->side[v] ^= 1;
    }
    while (count > 0)
        fm_heap_mark_dirty(work, work->moved[--count]);
    work->cut = best;
    return best_off < begun_off || best < begun - 1e-9 * begun;
}

nw_status nw_fm_heap(const struct nw_bisect_graph *graph, int32_t target,
                     int32_t tolerance, int8_t *side, double *cut)
{
    size_t n = (size_t)graph->n;
    int passes = graph->reduced_effort ? nw_tuned.bisection.heap_passes_reduced
                                       : nw_tuned.bisection.passes;
    struct fm_heap_work work = {.graph = graph,
                                .side = side,
                                .imbalance = -target,
                                .tolerance = tolerance};
    nw_status status = nw_alloc(
        n, 3 * sizeof *work.gain + 4 * sizeof *work.moved + sizeof *work.dirty,
        &work.gain);

    if (status)
        return status;
    work.outside = work.gain + n;
    work.bytes = work.outside + n;
    work.heap[0] = (int32_t *)(work.bytes + n);
    work.heap[1] = work.heap[0] + n;
    work.at = work.heap[1] + n;
    work.moved = work.at + n;
    work.dirty = (bool *)(work.moved + n);
    memset(work.dirty, true, n);
    for (int32_t v = 0; v < graph->n; v++)
        work.imbalance += side[v] ? 0 : graph->size[v];
    for (int i = 0; i < passes && fm_heap_pass(&work); i++)
        ;
    *cut = work.cut;
    free(work.gain);
    return NW_OK;
}
