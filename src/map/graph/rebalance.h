/* SPDX-License-Identifier: BSD-3-Clause */
/* Restores the sizes of parts after single moves, one vertex at a time, each
 * time by the move that increases the cut least. */
#ifndef NW_MAP_GRAPH_REBALANCE_H
#define NW_MAP_GRAPH_REBALANCE_H

#include "map/graph/bisect_multilevel.h"

/* Moves vertices until imbalance[parts], the size minus the wanted size of each
 * part, is 0 everywhere. Updates `part`. */
void nw_rebalance(const struct nw_bisect_graph *graph, int32_t *part,
                  int32_t parts, int32_t *imbalance);

#endif
