/* SPDX-License-Identifier: BSD-3-Clause */
/* Restores the sizes of parts after moves of single vertices: moves one vertex
 * at a time, each time the one that increases the cut least. */
#ifndef NW_MAP_GRAPH_REBALANCE_H
#define NW_MAP_GRAPH_REBALANCE_H

#include "map/graph/bisect_multilevel.h"

/* Moves vertices until every part has its wanted size. imbalance[parts] is the
 * size minus the wanted size of each part, and becomes 0. Updates `part`. */
void nw_rebalance(const struct nw_graph *graph, int32_t *part, int32_t parts,
                  int32_t *imbalance);

#endif
