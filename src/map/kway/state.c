/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A partition that changes by moves of vertices: keeps the loads and the
 * vertices of its parts and computes the gains of moves. A vertex is adjacent
 * to few parts, so the costs of all its moves are computed from the bytes to
 * each of these parts.
 */
#include "base/array.h"
#include "map/kway/kway.h"
#include "map/common/parameters.h"

#include <stdlib.h>
#include <string.h>

#define OFTEN (1 << 16) /* visited arcs between two readings of the clock */

void nw_kway_state_fini(struct nw_kway_state *state)
{
    NW_FREE_ALL(state->load, state->limit, state->count, state->most,
                state->first, state->next, state->back, state->bound,
                state->near);
}

/* Adds vertex v, which is in no part, to part q. */
static void kway_state_join(struct nw_kway_state *state, int32_t v, int32_t q)
{
    int32_t first = state->first[q];

    state->part[v] = q;
    state->load[q] += state->graph->load[v];
    state->count[q] += state->graph->size[v];
    state->next[v] = first;
    state->back[v] = -1;
    if (first >= 0)
        state->back[first] = v;
    state->first[q] = v;
}

nw_status nw_kway_state_init(struct nw_kway_state *state,
                             const struct nw_graph *graph,
                             const struct nw_kway_machine *machine,
                             int32_t *part)
{
    size_t n = (size_t)graph->n, k = (size_t)machine->k;
    nw_status status;

    *state = (struct nw_kway_state){
        .graph = graph, .machine = machine, .part = part};
    status = NW_ALLOC_ALL(NW_ARRAY(k, state->load), NW_ARRAY(k, state->limit),
                          NW_ARRAY(k, state->count), NW_ARRAY(k, state->most),
                          NW_ARRAY(k, state->first), NW_ARRAY(k, state->bound),
                          NW_ARRAY(k, state->near), NW_ARRAY(n, state->next),
                          NW_ARRAY(n, state->back));
    if (status) {
        nw_kway_state_fini(state);
        return status;
    }
    memcpy(state->limit, machine->limit, k * sizeof *state->limit);
    for (size_t q = 0; q < k; q++)
        state->most[q] = machine->capacity[q];
    memset(state->first, -1, k * sizeof *state->first);
    for (int32_t v = graph->n; v-- > 0;)
        kway_state_join(state, v, part[v]);
    return NW_OK;
}

bool nw_kway_state_is_late(struct nw_kway_state *state)
{
    if (!state->late && state->looked >= state->look) {
        state->look = state->looked + OFTEN;
        state->late = nw_budget_is_past(state->budget, state->until);
    }
    return state->late;
}

void nw_kway_state_forget(struct nw_kway_state *state)
{
    for (int32_t i = 0; i < state->near_count; i++)
        state->bound[state->near[i]] = 0;
    state->near_count = 0;
}

void nw_kway_state_gather(struct nw_kway_state *state, int32_t v)
{
    const struct nw_graph *g = state->graph;

    state->looked += 1 + g->row[v + 1] - g->row[v];
    for (size_t e = g->row[v]; e < g->row[v + 1]; e++) {
        int32_t q = state->part[g->arc[e].to];

        if (state->bound[q] == 0)
            state->near[state->near_count++] = q;
        state->bound[q] += (double)g->arc[e].weight;
    }
}

double nw_kway_state_cost(const struct nw_kway_state *state, int32_t q)
{
    const struct nw_kway_machine *machine = state->machine;
    const double *row =
        machine->table ? machine->table + (size_t)q * (size_t)machine->k : NULL;
    double sum = 0;

    for (int32_t i = 0; i < state->near_count; i++)
        sum += state->bound[state->near[i]] *
               (row ? row[state->near[i]]
                    : machine->distance(machine, q, state->near[i]));
    return sum;
}

/* If the gathered vertex has neighbours in many parts, moves the parts with the
 * most bytes to the front of state->near. Returns how many parts of state->near
 * are evaluated as targets of a move. */
static int32_t kway_state_candidates(struct nw_kway_state *state)
{
    int32_t *near = state->near;

    if (state->near_count <= nw_tuned.kway.near_many)
        return state->near_count;
    for (int32_t i = 0; i < nw_tuned.kway.near_many / 2; i++) {
        int32_t best = i, kept;

        for (int32_t j = i + 1; j < state->near_count; j++)
            if (state->bound[near[j]] > state->bound[near[best]])
                best = j;
        kept = near[i];
        near[i] = near[best];
        near[best] = kept;
    }
    return nw_tuned.kway.near_many / 2;
}

struct nw_kway_moves nw_kway_state_best(struct nw_kway_state *state, int32_t v)
{
    struct nw_kway_moves best = {{-1, 0}, {-1, 0}};
    int32_t p = state->part[v], count;
    double here;

    nw_kway_state_gather(state, v);
    here = nw_kway_state_cost(state, p);
    count = kway_state_candidates(state);
    for (int32_t i = 0; i < count; i++) {
        int32_t q = state->near[i];
        double gain;

        if (q == p || !state->most[q] || !nw_kway_allows(state->graph, v, q))
            continue;
        gain = here - nw_kway_state_cost(state, q);
        if (best.any.to < 0 || gain > best.any.gain)
            best.any = (struct nw_kway_move){q, gain};
        if ((best.fit.to < 0 || gain > best.fit.gain) &&
            nw_kway_state_fits(state, v, q))
            best.fit = (struct nw_kway_move){q, gain};
    }
    nw_kway_state_forget(state);
    return best;
}

void nw_kway_state_move(struct nw_kway_state *state, int32_t v,
                        struct nw_kway_move move)
{
    int32_t p = state->part[v], next = state->next[v], back = state->back[v];

    state->load[p] -= state->graph->load[v];
    state->count[p] -= state->graph->size[v];
    if (next >= 0)
        state->back[next] = back;
    if (back >= 0)
        state->next[back] = next;
    else
        state->first[p] = next;
    kway_state_join(state, v, move.to);
    state->gained += move.gain;
}
