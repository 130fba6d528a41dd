/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Brings parts back within their limits. A part that exceeds a limit passes
 * vertices to an adjacent part that is nearer to a part with free capacity. The
 * next vertex is the one with the best change of the cost for its load: a
 * decrease is multiplied by the load, an increase is divided by it. If parts
 * still exceed a limit, their vertices go to any part where they fit, those
 * that increase the cost least first.
 */
#include "base/array.h"
#include "map/kway/kway.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* State of one call of nw_kway_rebalance. */
struct kway_rebalance_balance {
    struct nw_kway_state *state;
    int32_t *hops;  /* [parts] length of the shortest path over adjacent parts
                       from a part to a part with free capacity: 0 if it has
                       free capacity, INT32_MAX if no path exists */
    int32_t *queue; /* [parts] scratch: a list of parts */
    struct nw_kway_move *move; /* [vertices] best move of a vertex to any part
                                  with free capacity; its `to` is -1 if no part
                                  can take the vertex, UNKNOWN if it must be
                                  computed */
};

/* Value of move[v].to: the best move of v is not known or may have changed. */
#define UNKNOWN (-2)

/* Returns true if part q is below both its limits, of load and of vertices. */
static bool kway_rebalance_has_room(const struct nw_kway_state *state,
                                    int32_t q)
{
    return state->load[q] < state->limit[q] && state->count[q] < state->most[q];
}

/* Fills `hops` for all parts, by a breadth-first search over adjacent parts
 * that begins at the parts with free capacity. */
static void kway_rebalance_find_paths(struct kway_rebalance_balance *b)
{
    const struct nw_kway_state *s = b->state;
    const struct nw_graph *g = s->graph;
    int32_t head = 0, tail = 0;

    for (int32_t q = 0; q < s->machine->k; q++) {
        b->hops[q] = kway_rebalance_has_room(s, q) ? 0 : INT32_MAX;
        if (!b->hops[q])
            b->queue[tail++] = q;
    }
    while (head < tail) {
        int32_t q = b->queue[head++];

        for (int32_t v = s->first[q]; v >= 0; v = s->next[v])
            for (size_t e = g->row[v]; e < g->row[v + 1]; e++) {
                int32_t p = s->part[g->arc[e].to];

                if (b->hops[p] == INT32_MAX) {
                    b->hops[p] = b->hops[q] + 1;
                    b->queue[tail++] = p;
                }
            }
    }
}

/* The best move found so far of a vertex of part p to an adjacent part from
 * which the path to a part with free capacity is shorter
 * (kway_rebalance_balance.hops). */
struct kway_rebalance_best {
    struct nw_kway_move move;
    int32_t vertex; /* vertex that moves; -1: no move found */
    double value;   /* a gain times 1 + the load of the vertex, or a loss
                       divided by that, so that heavy vertices are preferred */
};

/* Compares the moves of v from p to each adjacent part with fewer hops; updates
 * *best. Each part is considered once, because a vertex of high degree has many
 * edges to the same part. */
static void kway_rebalance_look_around(struct kway_rebalance_balance *b,
                                       int32_t p, int32_t v,
                                       struct kway_rebalance_best *best)
{
    struct nw_kway_state *s = b->state;
    double load = (double)s->graph->load[v] + 1, here;

    nw_kway_state_gather(s, v);
    here = nw_kway_state_cost(s, p);
    for (int32_t i = 0; i < s->near_count; i++) {
        int32_t q = s->near[i];
        double gain, value;

        if (b->hops[q] >= b->hops[p] || !nw_kway_allows(s->graph, v, q) ||
            (!b->hops[q] && !nw_kway_state_fits(s, v, q)))
            continue;
        gain = here - nw_kway_state_cost(s, q);
        value = gain > 0 ? gain * load : gain / load;
        if (value > best->value)
            *best = (struct kway_rebalance_best){{q, gain}, v, value};
    }
    nw_kway_state_forget(s);
}

/* Returns the best move of v to a part that has free capacity for v; its `to`
 * is -1 if no part has. Considers the parts listed in b->queue. */
static struct nw_kway_move
kway_rebalance_anywhere(struct kway_rebalance_balance *b, int32_t v,
                        int32_t rooms)
{
    struct nw_kway_state *s = b->state;
    struct nw_kway_move best = {-1, 0};
    double here;

    nw_kway_state_gather(s, v);
    here = nw_kway_state_cost(s, s->part[v]);
    for (int32_t i = 0; i < rooms; i++) {
        int32_t q = b->queue[i];
        double gain;

        if (q == s->part[v] || !nw_kway_state_fits(s, v, q) ||
            !nw_kway_allows(s->graph, v, q))
            continue;
        gain = here - nw_kway_state_cost(s, q);
        if (best.to < 0 || gain > best.gain)
            best = (struct nw_kway_move){q, gain};
    }
    nw_kway_state_forget(s);
    return best;
}

/* Among the vertices of part p, moves the one whose move to some part with free
 * capacity has the largest gain. Returns false if no vertex of p can move. A
 * stored move stays valid until a neighbour of the vertex moves, or the vertex
 * no longer fits into the target part. Other moves only add load to parts. */
static bool kway_rebalance_move_to_free(struct kway_rebalance_balance *b,
                                        int32_t p)
{
    struct nw_kway_state *s = b->state;
    const struct nw_graph *g = s->graph;
    int32_t chosen = -1, rooms = 0;

    /* List the parts that can take a vertex. At the limit of load, a vertex
     * without load still fits. */
    for (int32_t q = 0; q < s->machine->k; q++)
        if (s->load[q] <= s->limit[q] && s->count[q] < s->most[q])
            b->queue[rooms++] = q;
    for (int32_t v = s->first[p]; v >= 0; v = s->next[v]) {
        struct nw_kway_move *move = &b->move[v];

        if (move->to == UNKNOWN ||
            (move->to >= 0 && !nw_kway_state_fits(s, v, move->to)))
            *move = kway_rebalance_anywhere(b, v, rooms);
        if (move->to >= 0 && (chosen < 0 || move->gain > b->move[chosen].gain))
            chosen = v;
    }
    if (chosen < 0)
        return false;
    nw_kway_state_move(s, chosen, b->move[chosen]);
    for (size_t e = g->row[chosen]; e < g->row[chosen + 1]; e++)
        b->move[g->arc[e].to].to = UNKNOWN;
    return true;
}

/* Moves vertices out of each part that exceeds a limit to any parts where they
 * fit, until the part is within its limits or none of its vertices can move. */
static nw_status
kway_rebalance_move_all_to_free(struct kway_rebalance_balance *b)
{
    struct nw_kway_state *s = b->state;
    nw_status status = nw_alloc((size_t)s->graph->n, sizeof *b->move, &b->move);

    for (int32_t q = 0; !status && q < s->machine->k; q++) {
        for (int32_t v = s->first[q]; v >= 0; v = s->next[v])
            b->move[v].to = UNKNOWN;
        while (nw_kway_state_over(s, q) && kway_rebalance_move_to_free(b, q))
            ;
    }
    free(b->move);
    return status;
}

/* Passes vertices from part `full` towards parts with free capacity, from part
 * to adjacent part, until no part on the path exceeds its limits or no vertex
 * can move on. The present path is in b->queue; each part on it has fewer hops
 * than the one before, so no part occurs twice. */
static void kway_rebalance_relieve(struct kway_rebalance_balance *b,
                                   int32_t full)
{
    struct nw_kway_state *s = b->state;
    int32_t *path = b->queue, length = 0;

    path[length++] = full;
    while (length) {
        struct kway_rebalance_best best = {{-1, 0}, -1, -HUGE_VAL};
        int32_t p = path[length - 1];

        for (int32_t v = s->first[p]; nw_kway_state_over(s, p) && v >= 0;
             v = s->next[v])
            kway_rebalance_look_around(b, p, v, &best);
        if (best.vertex >= 0)
            nw_kway_state_move(s, best.vertex, best.move);
        if (best.vertex >= 0 && b->hops[best.move.to])
            path[length++] = best.move.to;
        else if (best.vertex < 0 || !kway_rebalance_has_room(s, best.move.to))
            length--; /* p is within its limits or no vertex of it can move, or
                         the target is full now */
    }
}

/* Returns the sum over all parts of the load beyond the load limit and the
 * number of vertices beyond the vertex limit. */
static nw_graph_load kway_rebalance_overload(const struct nw_kway_state *s)
{
    nw_graph_load sum = 0;

    for (int32_t q = 0; q < s->machine->k; q++) {
        if (s->load[q] > s->limit[q])
            sum += s->load[q] - s->limit[q];
        if (s->count[q] > s->most[q])
            sum += s->count[q] - s->most[q];
    }
    return sum;
}

/* Brings parts within their limits as far as possible, first by moves between
 * adjacent parts along paths to free capacity, then by moves to any part with
 * free capacity. */
static nw_status kway_rebalance_relieve_all(struct kway_rebalance_balance *b)
{
    const struct nw_kway_state *s = b->state;
    nw_graph_load before, now = kway_rebalance_overload(s);
    int idle = 0;

    while (now && idle < 4) {
        before = now;
        kway_rebalance_find_paths(b);
        for (int32_t q = 0; q < s->machine->k; q++)
            if (nw_kway_state_over(s, q))
                kway_rebalance_relieve(b, q);
        now = kway_rebalance_overload(s);
        idle = now < before ? 0 : idle + 1;
    }
    return now ? kway_rebalance_move_all_to_free(b) : NW_OK;
}

nw_status nw_kway_rebalance(struct nw_kway_state *state, bool *balanced)
{
    struct kway_rebalance_balance b = {.state = state};
    size_t k = (size_t)state->machine->k;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(k, b.hops), NW_ARRAY(k, b.queue));

    if (!status)
        status = kway_rebalance_relieve_all(&b);
    if (!status)
        *balanced = !kway_rebalance_overload(state);
    free(b.hops);
    free(b.queue);
    return status;
}
