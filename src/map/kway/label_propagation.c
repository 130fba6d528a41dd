/* SPDX-License-Identifier: BSD-3-Clause */
/* Label propagation with limits: moves one vertex after the other to the best
 * adjacent part where it fits. This is fast, and good enough while the
 * partition is far from good. */
#include "base/array.h"
#include "map/kway/kway.h"
#include "map/common/parameters.h"

#include <stdlib.h>
#include <string.h>

#define PASSES 6

/* Goes once through `order`, until time is over, and removes the mark of each
 * marked vertex. Makes the vertex's best move if the move lowers the cost, or
 * keeps the cost and makes the loads of the two parts more equal. After a move,
 * the neighbours are marked, because they may now have better moves. Returns
 * the number of moves. */
static int32_t label_propagation_sweep_once(struct nw_kway_state *state,
                                            const int32_t *order,
                                            uint8_t *awake)
{
    const struct nw_graph *g = state->graph;
    int32_t moved = 0;

    for (int32_t i = 0; i < g->n && !nw_kway_state_is_late(state); i++) {
        int32_t v = order[i];
        struct nw_kway_move move;

        if (!awake[v])
            continue;
        awake[v] = 0;
        move = nw_kway_state_best(state, v).fit;
        if (move.to < 0 || move.gain < 0 ||
            (move.gain == 0 &&
             state->load[move.to] + g->load[v] >= state->load[state->part[v]]))
            continue;
        nw_kway_state_move(state, v, move);
        for (size_t e = g->row[v]; e < g->row[v + 1]; e++)
            awake[g->arc[e].to] = 1;
        moved++;
    }
    return moved;
}

nw_status nw_kway_label_propagation(struct nw_kway_state *state,
                                    struct nw_random *random)
{
    size_t n = (size_t)state->graph->n;
    uint8_t *awake = NULL;
    int32_t *order = NULL, moved = state->graph->n;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(n, awake), NW_ARRAY(n, order));

    for (size_t v = 0; !status && v < n; v++)
        order[v] = (int32_t)v;
    if (!status) {
        memset(awake, 1, n);
        nw_random_shuffle(random, order, n);
    }
    for (int i = 0; !status && i < PASSES &&
                    moved > state->graph->n / nw_tuned.kway.moved_min &&
                    !nw_kway_state_is_late(state);
         i++)
        moved = label_propagation_sweep_once(state, order, awake);
    free(awake);
    free(order);
    return status;
}
