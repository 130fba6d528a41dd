/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swap annealing with a gain table, for graphs whose table is small: a vertex
 * on a border is tried against all vertices of another part at once. The bytes
 * from each vertex to a part form a column, with the vertices of a part side by
 * side, so that the changes of all these swaps are a few vector operations.
 */
#ifndef NW_MAP_GRAPH_ANNEAL_GAIN_TABLE_H
#define NW_MAP_GRAPH_ANNEAL_GAIN_TABLE_H

#include "map/common/metropolis.h"
#include "map/graph/bisect_multilevel.h"
#include "map/common/simd4.h"

#define NW_GAIN_TABLE_WIDTH 64 /* most partners tried at once */

struct nw_gain_table {
    const struct nw_bisect_graph *graph;
    int32_t parts,
        places; /* columns of the table; each part begins at a whole vector */
    int32_t *part;     /* [n] in and out, borrowed */
    int32_t *begin;    /* [parts + 1] first place of a part */
    int32_t *end;      /* [parts] end of its vertices */
    int32_t *at;       /* [n] place of a vertex */
    int32_t *vertex;   /* [places] vertex of a place */
    float *connection; /* [parts][stride] bytes from a place to a part */
    size_t stride;
    float *between; /* [places] 2 x bytes between a place and the vertex that is
                       tried */
    const float *thresholds; /* borrowed; the caller sets it */
    int32_t *beyond;         /* [n] arcs to other parts */
    int32_t *border;         /* vertices with arcs to other parts */
    int32_t *at_border;      /* [n] index in `border` */
    int32_t border_count;
};

/* Thresholds of accepted cost in units of the temperature: NW_METROPOLIS_SIZE
 * of them, then the first ones again. The caller frees them. */
NW_MUST_CHECK nw_status nw_gain_table_thresholds_new(float **out);

NW_MUST_CHECK nw_status nw_gain_table_init(struct nw_gain_table *near,
                                           const struct nw_bisect_graph *graph,
                                           int32_t *part, int32_t parts);
void nw_gain_table_fini(struct nw_gain_table *near);

/* Tries so many vertices; returns the change of the cut. */
double nw_gain_table_run(struct nw_gain_table *near, uint64_t tries,
                         double temperature, struct nw_random *random);

#endif
