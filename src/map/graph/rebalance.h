/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts that got larger and smaller while vertices moved alone: back to the
 * sizes they should have, by the moves that cost least, one at a time. */
#ifndef NW_MAP_GRAPH_REBALANCE_H
#define NW_MAP_GRAPH_REBALANCE_H

#include "map/graph/bisect_multilevel.h"

/* excess[parts]: sizes less those they should have, 0 in the end. */
void nw_rebalance(const struct nw_bisect_graph *graph, int32_t *part,
                  int32_t parts, int32_t *imbalance);

#endif
