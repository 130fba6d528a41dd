/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts that are too full hand vertices on, each time to a neighbouring part
 * that is nearer to one with room, and by the vertex that loses least. Where
 * no such way is left, vertices go to any part with room.
 */
#include "base/array.h"
#include "map/kway.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct balance {
    struct nw_kstate *state;
    int32_t *hops;  /* [k] parts on the way to room; INT32_MAX none */
    int32_t *queue; /* [k] */
};

static bool has_room(const struct nw_kstate *state, int32_t q)
{
    return state->load[q] < state->limit[q] && state->count[q] < state->most[q];
}

/* Breadth first from the parts with room, over parts that touch. */
static void find_ways(struct balance *b)
{
    const struct nw_kstate *s = b->state;
    const struct nw_kgraph *g = s->graph;
    int32_t head = 0, tail = 0;

    for (int32_t q = 0; q < s->machine->k; q++) {
        b->hops[q] = has_room(s, q) ? 0 : INT32_MAX;
        if (!b->hops[q])
            b->queue[tail++] = q;
    }
    while (head < tail) {
        int32_t q = b->queue[head++];

        for (int32_t v = s->first[q]; v >= 0; v = s->next[v])
            for (size_t e = g->row[v]; e < g->row[v + 1]; e++) {
                int32_t p = s->part[g->to[e]];

                if (b->hops[p] == INT32_MAX) {
                    b->hops[p] = b->hops[q] + 1;
                    b->queue[tail++] = p;
                }
            }
    }
}

/* What moves best from p towards room: least loss for its load. */
static int32_t choose(struct balance *b, int32_t p, struct nw_kmove *move)
{
    struct nw_kstate *s = b->state;
    const struct nw_kgraph *g = s->graph;
    double best = -HUGE_VAL;
    int32_t chosen = -1;

    for (int32_t v = s->first[p]; v >= 0; v = s->next[v]) {
        for (size_t e = g->row[v]; e < g->row[v + 1]; e++) {
            int32_t q = s->part[g->to[e]];
            double gain, value;

            if (b->hops[q] >= b->hops[p] || !nw_kmay(g, v, q) ||
                (!b->hops[q] && !nw_kstate_fits(s, v, q)))
                continue;
            gain = nw_kstate_gain(s, v, q);
            value = gain > 0 ? gain * ((double)g->load[v] + 1)
                             : gain / ((double)g->load[v] + 1);
            if (value > best) {
                best = value;
                chosen = v;
                *move = (struct nw_kmove){q, gain};
            }
        }
    }
    return chosen;
}

/* Any part with room for v, the one that loses least. */
static struct nw_kmove anywhere(struct balance *b, int32_t v)
{
    struct nw_kstate *s = b->state;
    struct nw_kmove best = {-1, 0};

    for (int32_t q = 0; q < s->machine->k; q++) {
        double gain;

        if (q == s->part[v] || !nw_kstate_fits(s, v, q) ||
            !nw_kmay(s->graph, v, q))
            continue;
        gain = nw_kstate_gain(s, v, q);
        if (best.to < 0 || gain > best.gain)
            best = (struct nw_kmove){q, gain};
    }
    return best;
}

static bool jump(struct balance *b, int32_t p)
{
    struct nw_kstate *s = b->state;
    struct nw_kmove best = {-1, 0};
    int32_t chosen = -1;

    for (int32_t v = s->first[p]; v >= 0; v = s->next[v]) {
        struct nw_kmove move;

        move = anywhere(b, v);
        if (move.to >= 0 && (chosen < 0 || move.gain > best.gain)) {
            best = move;
            chosen = v;
        }
    }
    if (chosen < 0)
        return false;
    nw_kstate_move(s, chosen, best);
    return true;
}

/* Hands on until no part on the way is too full. */
static void relieve(struct balance *b, int32_t p)
{
    struct nw_kstate *s = b->state;

    while (nw_kstate_over(s, p)) {
        struct nw_kmove move;
        int32_t v = choose(b, p, &move);

        if (v < 0)
            return;
        nw_kstate_move(s, v, move);
        if (b->hops[move.to])
            relieve(b, move.to);
        else if (!has_room(s, move.to))
            return; /* ways have to be found anew */
    }
}

static nw_kload overload(const struct nw_kstate *s)
{
    nw_kload sum = 0;

    for (int32_t q = 0; q < s->machine->k; q++) {
        if (s->load[q] > s->limit[q])
            sum += s->load[q] - s->limit[q];
        if (s->count[q] > s->most[q])
            sum += s->count[q] - s->most[q];
    }
    return sum;
}

static void relieve_all(struct balance *b)
{
    const struct nw_kstate *s = b->state;
    nw_kload before, now = overload(s);
    int idle = 0;

    while (now && idle < 4) {
        before = now;
        find_ways(b);
        for (int32_t q = 0; q < s->machine->k; q++)
            if (nw_kstate_over(s, q))
                relieve(b, q);
        now = overload(s);
        idle = now < before ? 0 : idle + 1;
    }
    for (int32_t q = 0; now && q < s->machine->k; q++)
        while (nw_kstate_over(s, q) && jump(b, q))
            ;
}

nw_status nw_kbalance(struct nw_kstate *state, bool *balanced)
{
    struct balance b = {.state = state};
    size_t k = (size_t)state->machine->k;
    nw_status status;

    if (!overload(state)) {
        *balanced = true;
        return NW_OK;
    }
    status = nw_alloc(k, sizeof *b.hops, &b.hops);
    if (!status)
        status = nw_alloc(k, sizeof *b.queue, &b.queue);
    if (!status) {
        relieve_all(&b);
        *balanced = !overload(state);
    }
    free(b.hops);
    free(b.queue);
    return status;
}
