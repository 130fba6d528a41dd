/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves of single vertices between two parts: each pass moves vertices best
 * gain first, losing ones too, and goes back to the best it saw. */
#include "map/graph/bisect_multilevel.h"
#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PASSES_MOST 8
#define PASSES_HASTY 2
#define PATIENCE 60 /* moves without a better cut, and a part of n */

/* A heap of vertices by gain for each side. */
struct refining {
    const struct nw_halve_graph *graph;
    int8_t *side;
    double *gain;
    int32_t *heap[2], count[2];
    int32_t *at; /* [n] place in its heap; -1 not there */
    int32_t *moved;
    double *outside, *bytes; /* [n] to the other side, and in all */
    bool *stale;             /* [n] the first of them */
    int32_t excess;          /* of side 0 over its target */
    int32_t slack;
    double cut;
};

/* --- heaps --- */

static void put(struct refining *work, int side, int32_t i, int32_t v)
{
    work->heap[side][i] = v;
    work->at[v] = i;
}

static void sift_up(struct refining *work, int side, int32_t i)
{
    int32_t v = work->heap[side][i];

    for (; i; i = (i - 1) / 2) {
        int32_t parent = work->heap[side][(i - 1) / 2];

        if (work->gain[parent] >= work->gain[v])
            break;
        put(work, side, i, parent);
    }
    put(work, side, i, v);
}

static void sift_down(struct refining *work, int side, int32_t i)
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
        put(work, side, i, heap[child]);
        i = child;
    }
    put(work, side, i, v);
}

static void take_out(struct refining *work, int32_t v)
{
    int side = work->side[v];
    int32_t i = work->at[v], last = work->heap[side][--work->count[side]];

    work->at[v] = -1;
    if (last == v)
        return;
    put(work, side, i, last);
    sift_up(work, side, i);
    sift_down(work, side, work->at[last]);
}

static void put_in(struct refining *work, int32_t v)
{
    int side = work->side[v];

    put(work, side, work->count[side]++, v);
    sift_up(work, side, work->at[v]);
}

/* --- moves --- */

static void set_gain(struct refining *work, int32_t v, double gain)
{
    work->gain[v] = gain;
    if (work->at[v] < 0) {
        put_in(work, v);
        return;
    }
    sift_up(work, work->side[v], work->at[v]);
    sift_down(work, work->side[v], work->at[v]);
}

static double gain_of(const struct refining *work, int32_t v)
{
    const struct nw_halve_graph *graph = work->graph;
    double gain = 0;

    for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++)
        gain += work->side[graph->arc[a].to] == work->side[v]
                    ? -(double)graph->arc[a].bytes
                    : (double)graph->arc[a].bytes;
    return gain;
}

/* Moves v; neighbours that have not moved come up at the border. */
static void move(struct refining *work, int32_t v, bool passing)
{
    const struct nw_halve_graph *graph = work->graph;

    if (passing)
        take_out(work, v);
    work->cut -= work->gain[v];
    work->excess += work->side[v] ? graph->size[v] : -graph->size[v];
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
            set_gain(work, u, gain_of(work, u));
        else
            set_gain(work, u,
                     work->gain[u] +
                         (work->side[u] == work->side[v] ? -change : change));
    }
    if (passing)
        work->at[v] = -2;
}

static int32_t off(const struct refining *work)
{
    int32_t excess = abs(work->excess);

    return excess > work->slack ? excess - work->slack : 0;
}

/* The better top of the two heaps, or that of the side that is too large. */
static int32_t choose(const struct refining *work)
{
    int32_t top[2];
    int32_t room = work->slack ? work->slack : 1;

    for (int s = 0; s < 2; s++)
        top[s] = work->count[s] ? work->heap[s][0] : -1;
    if (work->excess >= room && top[0] >= 0)
        return top[0];
    if (work->excess <= -room && top[1] >= 0)
        return top[1];
    if (top[0] < 0 || top[1] < 0)
        return top[0] < 0 ? top[1] : top[0];
    return work->gain[top[0]] >= work->gain[top[1]] ? top[0] : top[1];
}

static void look_at(struct refining *work, int32_t v)
{
    const struct nw_halve_graph *graph = work->graph;
    double outside = 0, bytes = 0;

    for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
        bytes += (double)graph->arc[a].bytes;
        if (work->side[graph->arc[a].to] != work->side[v])
            outside += (double)graph->arc[a].bytes;
    }
    work->outside[v] = outside;
    work->bytes[v] = bytes;
    work->stale[v] = false;
}

static void fill_heaps(struct refining *work)
{
    const struct nw_halve_graph *graph = work->graph;
    bool all = off(work) > 0 || graph->n < 200;

    work->count[0] = work->count[1] = 0;
    work->cut = 0;
    for (int32_t v = 0; v < graph->n; v++) {
        if (work->stale[v])
            look_at(work, v);
        work->gain[v] = 2 * work->outside[v] - work->bytes[v];
        work->at[v] = -1;
        work->cut += work->outside[v] / 2;
        if (all || work->outside[v] > 0)
            put_in(work, v);
    }
}

/* What moved, and its neighbours. */
static void make_stale(struct refining *work, int32_t v)
{
    const struct nw_halve_graph *graph = work->graph;

    work->stale[v] = true;
    for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++)
        work->stale[graph->arc[a].to] = true;
}

static bool pass(struct refining *work)
{
    const struct nw_halve_graph *graph = work->graph;
    double begun, best;
    int32_t count = 0, kept = 0, best_off = off(work), begun_off = best_off;
    int32_t patience = PATIENCE + graph->n / 32, v;

    fill_heaps(work);
    begun = best = work->cut;
    while ((v = choose(work)) >= 0 &&
           (count - kept < patience || best_off > 0)) {
        int32_t now;

        move(work, v, true);
        work->moved[count++] = v;
        now = off(work);
        if (now < best_off ||
            (now == best_off && work->cut < best - 1e-9 * begun)) {
            best = work->cut;
            best_off = now;
            kept = count;
        }
    }
    while (count > kept) {
        v = work->moved[--count];
        work->excess += work->side[v] ? graph->size[v] : -graph->size[v];
        work->side[v] ^= 1;
    }
    while (count > 0)
        make_stale(work, work->moved[--count]);
    work->cut = best;
    return best_off < begun_off || best < begun - 1e-9 * begun;
}

nw_status nw_halve_refine(const struct nw_halve_graph *graph, int32_t target,
                          int32_t slack, int8_t *side, double *cut)
{
    size_t n = (size_t)graph->n;
    int passes = graph->hasty ? PASSES_HASTY : PASSES_MOST;
    struct refining work = {
        .graph = graph, .side = side, .excess = -target, .slack = slack};
    nw_status status = nw_alloc(
        n, 3 * sizeof *work.gain + 4 * sizeof *work.moved + sizeof *work.stale,
        &work.gain);

    if (status)
        return status;
    work.outside = work.gain + n;
    work.bytes = work.outside + n;
    work.heap[0] = (int32_t *)(work.bytes + n);
    work.heap[1] = work.heap[0] + n;
    work.at = work.heap[1] + n;
    work.moved = work.at + n;
    work.stale = (bool *)(work.moved + n);
    memset(work.stale, true, n);
    for (int32_t v = 0; v < graph->n; v++)
        work.excess += side[v] ? 0 : graph->size[v];
    for (int i = 0; i < passes && pass(&work); i++)
        ;
    *cut = work.cut;
    free(work.gain);
    return NW_OK;
}
