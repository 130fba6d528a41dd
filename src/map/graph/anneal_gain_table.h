/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The swaps of a sifting whose table is small: a vertex on a border against
 * all vertices of the part beyond at once. The bytes from each vertex to a part
 * stand in a column, those of a part's vertices together, so that the changes
 * of all these swaps are a few vectors.
 */
#ifndef NW_MAP_GRAPH_ANNEAL_GAIN_TABLE_H
#define NW_MAP_GRAPH_ANNEAL_GAIN_TABLE_H

#include "map/common/metropolis.h"
#include "map/graph/bisect_multilevel.h"
#include "map/common/simd4.h"

#define NW_GAIN_TABLE_WIDTH 64 /* partners at once, at most */

struct nw_gain_table {
    const struct nw_bisect_graph *graph;
    int32_t parts, places; /* a part's begin at whole vectors */
    int32_t *part;         /* [n] in and out, borrowed */
    int32_t *begin;        /* [parts + 1] its places */
    int32_t *end;          /* [parts] of its vertices there */
    int32_t *at;           /* [n] place */
    int32_t *vertex;       /* [places] where there is one */
    float *connection;     /* [parts][stride] bytes from a place to a part */
    size_t stride;
    float *between;          /* [places] 2 x bytes with the one looked at */
    const float *thresholds; /* borrowed; set it */
    int32_t *beyond;         /* [n] arcs to other parts */
    int32_t *border;         /* vertices that have some */
    int32_t *at_border;      /* [n] */
    int32_t border_count;
};

/* What swaps may cost, in heats: NW_METROPOLIS_SIZE of them, and again the
 * first. The caller frees it. */
NW_MUST_CHECK nw_status nw_gain_table_thresholds_new(float **out);

NW_MUST_CHECK nw_status nw_gain_table_init(struct nw_gain_table *near,
                                           const struct nw_bisect_graph *graph,
                                           int32_t *part, int32_t parts);
void nw_gain_table_fini(struct nw_gain_table *near);

/* Tries so many vertices; returns the change of the cut. */
double nw_gain_table_run(struct nw_gain_table *near, uint64_t tries,
                         double temperature, struct nw_random *random);

#endif
