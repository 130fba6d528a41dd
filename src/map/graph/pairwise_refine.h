/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of a graph, all equally far apart: any two with bytes between them are
 * joined and halved anew. Where a few arcs outweigh all others by far, swaps of
 * vertices part none of these, and so never move what they bind; halves of a
 * coarse graph do.
 */
#ifndef NW_MAP_GRAPH_PAIRWISE_REFINE_H
#define NW_MAP_GRAPH_PAIRWISE_REFINE_H

#include "map/graph/bisect_multilevel.h"

struct nw_pairwise_refine {
    const struct nw_bisect_graph *graph; /* vertices of size 1 */
    int32_t parts;
    int32_t *part; /* [n] in and out; the sizes of the parts stay */
    uint64_t seed;
};

/* The parts cut no more than before. */
NW_MUST_CHECK nw_status nw_pairwise_refine(struct nw_pairwise_refine *pairwise);

#endif
