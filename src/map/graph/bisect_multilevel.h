/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A graph in two parts of exact size with few bytes between them: coarsened by
 * heavy matchings, cut where it is small, improved on every level by moves in
 * the manner of Fiduccia and Mattheyses.
 */
#ifndef NW_MAP_GRAPH_BISECT_MULTILEVEL_H
#define NW_MAP_GRAPH_BISECT_MULTILEVEL_H

#include "base/random.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

struct nw_bisect_arc {
    int32_t to;
    float bytes;
};

/* Each edge stands with both its ends; no self edges. */
struct nw_bisect_graph {
    int32_t n;
    int32_t *row; /* [n + 1] */
    struct nw_bisect_arc *arc;
    int32_t *size;       /* [n] vertices of the finest graph in each */
    int32_t coarsest;    /* vertices at most that are cut first; 0: as many as
                            pay off in large ones */
    bool reduced_effort; /* to be searched anew anyway: refined less */
};
NW_MUST_CHECK nw_status nw_bisect_graph_init(struct nw_bisect_graph *graph,
                                             int32_t n, size_t arcs);
void nw_bisect_graph_fini(struct nw_bisect_graph *graph);

/* Bytes between the sides, each edge counted from both its ends. */
double nw_bisect_cut(const struct nw_bisect_graph *graph, const int8_t *side);

/* The next coarser graph and into[n], what each vertex becomes. */
NW_MUST_CHECK nw_status nw_bisect_coarsen(const struct nw_bisect_graph *graph,
                                          struct nw_random *random,
                                          struct nw_bisect_graph *out,
                                          int32_t *into);

/* Moves that lower the cut of side[n] (0 or 1), the sizes of side 0 staying
 * within `tolerance` of `target`, or coming there. Returns the cut in *cut. */
NW_MUST_CHECK nw_status nw_fm_heap(const struct nw_bisect_graph *graph,
                                   int32_t target, int32_t tolerance,
                                   int8_t *side, double *cut);

/* The same with slack 0 where vertices are of size 1 and bytes whole numbers,
 * those of a vertex `most` together. */
#define NW_FM_BUCKETS_MAX 2016
NW_MUST_CHECK nw_status nw_fm_buckets(const struct nw_bisect_graph *graph,
                                      int32_t target, int32_t most,
                                      int8_t *side, double *cut);

/* Fills side[n]: exactly `target` of the vertices, all of size 1, are 0.
 * `tries` first cuts are made of the coarsest graph. */
NW_MUST_CHECK nw_status
nw_bisect_multilevel(const struct nw_bisect_graph *graph, int32_t target,
                     int tries, struct nw_random *random, int8_t *side);

#endif
