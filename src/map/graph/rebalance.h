/* SPDX-License-Identifier: BSD-3-Clause */
/* Restores the sizes of parts after moves of single vertices: moves one vertex
 * at a time from a part that is too large to one that is too small. It is the
 * vertex of the large part whose move increases the cut least. */
#ifndef NW_MAP_GRAPH_REBALANCE_H
#define NW_MAP_GRAPH_REBALANCE_H

#include "map/graph/bisect_multilevel.h"

/* Moves vertices until every part has its wanted size. imbalance[parts] is the
 * number of vertices minus the wanted number of each part; the sum over all
 * parts must be 0. All entries become 0. Updates `part`. */
void nw_rebalance(const struct nw_graph *graph, int32_t *part, int32_t parts,
                  int32_t *imbalance);

#endif
