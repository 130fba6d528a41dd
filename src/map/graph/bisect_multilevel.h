/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multilevel bisection with exact sizes: heavy-edge matching (Karypis and Kumar
 * 1998, section 3), a bisection of the coarsest graph, and FM refinement on
 * every level (Fiduccia and Mattheyses 1982).
 */
#ifndef NW_MAP_GRAPH_BISECT_MULTILEVEL_H
#define NW_MAP_GRAPH_BISECT_MULTILEVEL_H

#include "base/random.h"
#include "map/graph/graph.h"

#include <nodewise/status.h>
#include <stdint.h>

/* Returns the bytes between the two sides, counting each edge twice. */
double nw_bisect_cut(const struct nw_graph *graph, const int8_t *side);

/* The balance that nw_fm must reach: the size of side 0 is at least target -
 * tolerance and at most target + tolerance. */
struct nw_fm_cut {
    int32_t target, tolerance;
    int32_t most; /* 0: use a heap of gains. Otherwise use gain buckets: all
                     sizes must then be 1, all bytes must be integers, and the
                     sum of the bytes on the arcs of a vertex must be at most
                     `most` */
};
/* Largest allowed value of nw_fm_cut.most. There are 2 x most + 1 gain buckets,
 * at most 4033; fm.c marks the nonempty ones in a bitmap of 64 words. */
#define NW_FM_BUCKETS_MAX 2016

/* Lowers the cut of side[n] (0 or 1) and brings the size of side 0 within
 * `tolerance` of `target`. Sets *cut to the bytes that are cut, counting each
 * edge twice. */
NW_MUST_CHECK nw_status nw_fm(const struct nw_graph *graph, struct nw_fm_cut to,
                              int8_t *side, double *cut);

/* Bisects the graph, whose vertices have size 1: fills side[n] so that exactly
 * `target` vertices are on side 0. Tries `tries` bisections of the coarsest
 * graph. */
NW_MUST_CHECK nw_status nw_bisect_multilevel(const struct nw_graph *graph,
                                             int32_t target, int tries,
                                             struct nw_random *random,
                                             int8_t *side);

#endif
