/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local searches (after Sanders and Schulz 2011): from one vertex at a border
 * the best moves around are made one after the other, losing ones too, and
 * what came after the best is taken back. A move may fill a part beyond its
 * limit: then the next has to take something out of that part, so that swaps
 * and longer chains are found where every part is full.
 */
#include "base/array.h"
#include "map/common/addressable_heap.h"
#include "map/kway/memetic.h"

#include <stdlib.h>

enum { CHAIN = 3, SCAN = 48 };

struct step {
    int32_t v, from;
    double gain;
};

struct search {
    struct nw_kstate *state;
    struct nw_heap heap;
    double *gain;  /* [n] of the best move known */
    uint8_t *used; /* [n] moved in this round */
    struct step *step;
    int32_t count, kept, patience;
    int32_t over; /* the part beyond its limit, -1 none */
    int chain;    /* moves since it was */
    bool lost;    /* two parts are */
};

static void consider(struct search *s, int32_t v)
{
    struct nw_kmoves best;

    if (s->used[v])
        return;
    best = nw_kstate_best(s->state, v);
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

static void make(struct search *s, int32_t v, struct nw_kmove move)
{
    const struct nw_kgraph *g = s->state->graph;
    int32_t from = s->state->part[v];

    if (s->heap.at[v])
        nw_heap_remove(&s->heap, v);
    s->step[s->count++] = (struct step){v, from, move.gain};
    s->used[v] = 1;
    nw_kstate_move(s->state, v, move);
    s->chain = s->over >= 0 ? s->chain + 1 : 0;
    s->over = nw_kstate_over(s->state, move.to) ? move.to : -1;
    /* what left may have been lighter than what came */
    if (nw_kstate_over(s->state, from)) {
        s->lost = s->over >= 0;
        s->over = from;
    }
    for (size_t e = g->row[v]; e < g->row[v + 1]; e++)
        consider(s, g->to[e]);
}

/* Takes the best vertex out of the part that is too full; one that ends the
 * chain after a few moves. False where there is none. */
static bool relieve(struct search *s)
{
    struct nw_kmove best = {-1, 0};
    int32_t chosen = -1, seen = 0;

    for (int32_t v = s->state->first[s->over]; v >= 0 && seen < SCAN;
         v = s->state->next[v]) {
        struct nw_kmoves moves;
        struct nw_kmove move;

        seen++;
        if (s->used[v])
            continue;
        moves = nw_kstate_best(s->state, v);
        move = s->chain < CHAIN ? moves.any : moves.fit;
        if (move.to >= 0 && (chosen < 0 || move.gain > best.gain)) {
            best = move;
            chosen = v;
        }
    }
    if (chosen < 0)
        return false;
    make(s, chosen, best);
    return true;
}

static bool advance(struct search *s)
{
    if (s->lost || nw_kstate_is_late(s->state))
        return false;
    if (s->over >= 0)
        return relieve(s);
    for (;;) {
        int32_t v = nw_heap_top(&s->heap);
        struct nw_kmoves best;

        if (v < 0)
            return false;
        best = nw_kstate_best(s->state, v);
        if (best.any.to < 0) {
            nw_heap_remove(&s->heap, v);
            continue;
        }
        if (best.fit.to >= 0 && best.fit.gain >= best.any.gain)
            best.any = best.fit;
        make(s, v, best.any);
        return true;
    }
}

static void take_back(struct search *s)
{
    while (s->count > s->kept) {
        struct step step = s->step[--s->count];

        nw_kstate_move(s->state, step.v,
                       (struct nw_kmove){step.from, -step.gain});
    }
    while (s->heap.count)
        nw_heap_remove(&s->heap, s->heap.item[s->heap.count - 1]);
}

static void search_from(struct search *s, int32_t v)
{
    double start = s->state->gained, best = start;

    s->count = s->kept = 0;
    s->over = -1;
    s->chain = 0;
    s->lost = false;
    consider(s, v);
    while (s->count - s->kept < s->patience && advance(s)) {
        if (s->over < 0 && s->state->gained > best + 1e-9 * (best - start)) {
            best = s->state->gained;
            s->kept = s->count;
        }
    }
    take_back(s);
}

static void search_fini(struct search *s)
{
    free(s->gain);
    free(s->used);
    free(s->step);
    free(s->heap.at);
    free(s->heap.item);
}

static nw_status search_init(struct search *s)
{
    size_t n = (size_t)s->state->graph->n;
    nw_status status = nw_alloc(n, sizeof *s->gain, &s->gain);

    if (!status)
        status = nw_alloc(n, 1, &s->used);
    if (!status)
        status = nw_alloc(n + 1, sizeof *s->step, &s->step);
    if (!status)
        status = nw_alloc(n, sizeof *s->heap.at, &s->heap.at);
    if (!status)
        status = nw_alloc(n, sizeof *s->heap.item, &s->heap.item);
    s->heap.gain = s->gain;
    return status;
}

nw_status nw_ksearch(struct nw_kstate *state, int patience,
                     struct nw_random *random)
{
    struct search s = {.state = state, .patience = patience};
    size_t n = (size_t)state->graph->n;
    int32_t *order = NULL;
    nw_status status = search_init(&s);

    if (!status)
        status = nw_alloc(n, sizeof *order, &order);
    for (size_t v = 0; !status && v < n; v++)
        order[v] = (int32_t)v;
    if (!status)
        nw_random_shuffle(random, order, n);
    for (size_t i = 0; !status && i < n; i++) {
        if (nw_kstate_is_late(state))
            break;
        if (!s.used[order[i]])
            search_from(&s, order[i]);
    }
    free(order);
    search_fini(&s);
    return status;
}
