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

/* Bisects pairs of adjacent parts again. part[v] is the part of vertex v; the
 * vertices have size and load 1. The sizes of the parts do not change, and the
 * cut between all parts never becomes larger. */
NW_MUST_CHECK nw_status nw_pairwise_refine(const struct nw_graph *graph,
                                           int32_t parts, int32_t *part,
                                           uint64_t seed);

#endif
