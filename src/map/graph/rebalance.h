/* SPDX-License-Identifier: BSD-3-Clause */
/* Rebalances parts after single moves: restores the sizes by the moves that
 * cost least, one at a time. */
#ifndef NW_MAP_GRAPH_REBALANCE_H
#define NW_MAP_GRAPH_REBALANCE_H

#include "map/graph/bisect_multilevel.h"

/* imbalance[parts]: sizes minus wanted sizes; 0 at the end. */
void nw_rebalance(const struct nw_bisect_graph *graph, int32_t *part,
                  int32_t parts, int32_t *imbalance);

#endif
