/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairwise refinement over the quotient graph: the union of two adjacent parts
 * is bisected again (as in Holtgrewe, Sanders and Schulz 2010, section 5). If a
 * few edges are much heavier than the others, swaps of single vertices cannot
 * move the vertices that these edges join; bisection of a coarse graph can.
 */
#ifndef NW_MAP_GRAPH_PAIRWISE_REFINE_H
#define NW_MAP_GRAPH_PAIRWISE_REFINE_H

#include "map/graph/bisect_multilevel.h"

/* The partition that is refined. */
struct nw_pairwise_refine {
    const struct nw_graph *graph; /* vertices of size and load 1 */
    int32_t parts;
    int32_t *part; /* [vertices] in and out; the sizes of the parts do not
                      change */
    uint64_t seed;
};

/* Bisects pairs of adjacent parts again; the cut between all parts never
 * becomes larger. */
NW_MUST_CHECK nw_status nw_pairwise_refine(struct nw_pairwise_refine *pairwise);

#endif
