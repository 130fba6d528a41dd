/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Localised k-way FM (after Sanders and Schulz 2011). Each search begins at one
 * vertex. It repeatedly makes the best move of a vertex near the vertices that
 * have already moved, even if that move increases the cost. At the end it
 * undoes the moves after the best state. A move may make a part exceed its
 * limit; the next move must then take a vertex out of that part. Thus swaps and
 * longer chains of moves are found even if every part is full.
 */
#include "base/array.h"
#include "map/common/addressable_heap.h"
#include "map/kway/kway.h"
#include "map/common/parameters.h"

#include <stdlib.h>

/* A move that was made; kept so that it can be undone. */
struct multitry_fm_step {
    int32_t v, from; /* v: the vertex; from: its part before the move */
    double gain;
};

/* State of one round of searches: one search from each vertex that has not yet
 * moved. */
struct multitry_fm_search {
    struct nw_kway_state *state;
    struct nw_heap heap; /* vertices that may move, the one with the largest
                            `gain` first */
    double *gain;        /* [vertices] gain of a vertex's best move, when last
                            computed */
    uint8_t *used;       /* [vertices] 1: the vertex has moved in this round,
                            even if the move was undone */
    struct multitry_fm_step *step; /* [vertices + 1] moves of this search, in
                                      order */
    /* count: number of moves in `step`; kept: how many of them lead to the best
     * state; patience: the search ends after this many moves beyond that state
     */
    int32_t count, kept, patience;
    int32_t over; /* part that exceeds its limit now; -1: none */
    int chain;    /* number of moves in a row that left a part which exceeded
                     its limit */
    bool lost;    /* two parts exceed their limits: the search ends */
};

/* Computes the best move of v and adds v to the heap, updates its position, or
 * removes it if it has no move. Does nothing if v has already moved in this
 * round. */
static void multitry_fm_consider(struct multitry_fm_search *s, int32_t v)
{
    struct nw_kway_moves best;

    if (s->used[v])
        return;
    best = nw_kway_state_best(s->state, v);
    if (best.any.to < 0) {
        if (s->heap.at[v])
            nw_heap_remove(&s->heap, v);
        return;
    }
    s->gain[v] = best.any.gain;
    if (s->heap.at[v])
        nw_heap_update(&s->heap, v);
    else
        nw_heap_add(&s->heap, v);
}

/* Makes a move of v and computes the best moves of its neighbours again. */
static void multitry_fm_make(struct multitry_fm_search *s, int32_t v,
                             struct nw_kway_move move)
{
    const struct nw_graph *g = s->state->graph;
    int32_t from = s->state->part[v];

    if (s->heap.at[v])
        nw_heap_remove(&s->heap, v);
    s->step[s->count++] = (struct multitry_fm_step){v, from, move.gain};
    s->used[v] = 1;
    nw_kway_state_move(s->state, v, move);
    s->chain = s->over >= 0 ? s->chain + 1 : 0;
    s->over = nw_kway_state_over(s->state, move.to) ? move.to : -1;
    /* `from` may still exceed its limit, if v is lighter than the vertex that
     * came to it before. */
    if (nw_kway_state_over(s->state, from)) {
        s->lost = s->over >= 0;
        s->over = from;
    }
    for (size_t e = g->row[v]; e < g->row[v + 1]; e++)
        multitry_fm_consider(s, g->arc[e].to);
}

/* Makes the best move of a vertex out of s->over, the part that exceeds its
 * limit. After nw_tuned.kway.chain such moves in a row, only moves into parts
 * where the vertex fits are allowed. Looks at the first nw_tuned.kway.scanned
 * vertices of the part only. Returns false if none of them can move. */
static bool multitry_fm_relieve(struct multitry_fm_search *s)
{
    struct nw_kway_move best = {-1, 0};
    int32_t chosen = -1, seen = 0;

    for (int32_t v = s->state->first[s->over];
         v >= 0 && seen < nw_tuned.kway.scanned; v = s->state->next[v]) {
        struct nw_kway_moves moves;
        struct nw_kway_move move;

        seen++;
        if (s->used[v])
            continue;
        moves = nw_kway_state_best(s->state, v);
        move = s->chain < nw_tuned.kway.chain ? moves.any : moves.fit;
        if (move.to >= 0 && (chosen < 0 || move.gain > best.gain)) {
            best = move;
            chosen = v;
        }
    }
    if (chosen < 0)
        return false;
    multitry_fm_make(s, chosen, best);
    return true;
}

/* Makes the next move of a search: out of a part that exceeds its limit if
 * there is one, otherwise the best move of the heap. Returns false if the
 * search must end. */
static bool multitry_fm_advance(struct multitry_fm_search *s)
{
    if (s->lost || nw_kway_state_is_late(s->state))
        return false;
    if (s->over >= 0)
        return multitry_fm_relieve(s);
    for (;;) {
        int32_t v = nw_heap_top(&s->heap);
        struct nw_kway_moves best;

        if (v < 0)
            return false;
        best = nw_kway_state_best(s->state, v);
        if (best.any.to < 0) {
            nw_heap_remove(&s->heap, v);
            continue;
        }
        if (best.fit.to >= 0 && best.fit.gain >= best.any.gain)
            best.any = best.fit;
        multitry_fm_make(s, v, best.any);
        return true;
    }
}

/* Runs one search that begins with a move of vertex v, then undoes the moves
 * after its best state and empties the heap. */
static void multitry_fm_search_from(struct multitry_fm_search *s, int32_t v)
{
    double start = s->state->gained, best = start;

    s->count = s->kept = 0;
    s->over = -1;
    s->chain = 0;
    s->lost = false;
    multitry_fm_consider(s, v);
    while (s->count - s->kept < s->patience && multitry_fm_advance(s)) {
        if (s->over < 0 && s->state->gained > best + 1e-9 * (best - start)) {
            best = s->state->gained;
            s->kept = s->count;
        }
    }
    while (s->count > s->kept) {
        struct multitry_fm_step step = s->step[--s->count];

        nw_kway_state_move(s->state, step.v,
                           (struct nw_kway_move){step.from, -step.gain});
    }
    while (s->heap.count)
        nw_heap_remove(&s->heap, s->heap.item[s->heap.count - 1]);
}

nw_status nw_kway_multitry_fm(struct nw_kway_state *state, int patience,
                              struct nw_random *random)
{
    struct multitry_fm_search s = {.state = state, .patience = patience};
    size_t n = (size_t)state->graph->n;
    int32_t *order = NULL;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(n, s.gain), NW_ARRAY(n, s.used), NW_ARRAY(n + 1, s.step),
        NW_ARRAY(n, s.heap.at), NW_ARRAY(n, s.heap.item), NW_ARRAY(n, order));

    s.heap.gain = s.gain;
    for (size_t v = 0; !status && v < n; v++)
        order[v] = (int32_t)v;
    if (!status)
        nw_random_shuffle(random, order, n);
    for (size_t i = 0; !status && i < n; i++) {
        if (nw_kway_state_is_late(state))
            break;
        if (!s.used[order[i]])
            multitry_fm_search_from(&s, order[i]);
    }
    NW_FREE_ALL(s.gain, s.used, s.step, s.heap.at, s.heap.item, order);
    return status;
}
