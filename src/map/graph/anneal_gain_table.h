/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swap annealing with a gain table, for graphs whose table is small: a trial
 * compares the swaps of a border vertex with all vertices of another part at
 * once. A column of the table holds the bytes from every vertex to one part.
 * The vertices of a part are adjacent in the column, so that the changes of the
 * cut by all these swaps take a few vector operations.
 */
#ifndef NW_MAP_GRAPH_ANNEAL_GAIN_TABLE_H
#define NW_MAP_GRAPH_ANNEAL_GAIN_TABLE_H

#include "map/common/metropolis.h"
#include "map/graph/bisect_multilevel.h"
#include "map/common/simd4.h"

#define NW_GAIN_TABLE_WIDTH 64 /* most swap partners of one trial */

/* The table, and the partition that it belongs to. */
struct nw_gain_table {
    const struct nw_bisect_graph *graph;
    int32_t parts, places; /* length of a column of the table; each part begins
                              at a multiple of the vector width */
    int32_t *part;         /* [n] in and out, borrowed */
    int32_t *begin;        /* [parts + 1] first place of a part */
    int32_t *end;          /* [parts] end of the part's vertices */
    int32_t *at;           /* [n] place of a vertex in a column */
    int32_t *vertex;       /* [places] vertex of a place */
    float *connection; /* [parts][stride] bytes from the vertex at a place to a
                          part */
    size_t stride;
    float *between; /* [places] 2 x bytes between the vertex at a place and the
                       vertex of the trial */
    const float *thresholds; /* thresholds of nw_gain_table_thresholds_new;
                                borrowed, set by the caller */
    int32_t *beyond;         /* [n] number of arcs of a vertex to other parts */
    int32_t *border;         /* vertices with arcs to other parts */
    int32_t *at_border;      /* [n] index in `border` */
    int32_t border_count;
};

/* Makes a table of random thresholds: a trial is accepted if its cost in units
 * of the temperature is below the next threshold. The table has
 * NW_METROPOLIS_SIZE entries, then repeats the first ones. The caller frees
 * *out. */
NW_MUST_CHECK nw_status nw_gain_table_thresholds_new(float **out);

NW_MUST_CHECK nw_status nw_gain_table_init(struct nw_gain_table *near,
                                           const struct nw_bisect_graph *graph,
                                           int32_t *part, int32_t parts);
void nw_gain_table_fini(struct nw_gain_table *near);

/* Makes `tries` trials, each with one border vertex; returns the change of the
 * cut in bytes. */
double nw_gain_table_run(struct nw_gain_table *near, uint64_t tries,
                         double temperature, struct nw_random *random);

#endif
