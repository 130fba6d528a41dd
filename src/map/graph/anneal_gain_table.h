/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swap annealing with a gain table, for graphs whose table is small: a trial
 * compares the swaps of a border vertex with all vertices of another part at
 * once (at most NW_METROPOLIS_WIDTH). A column of the table holds the bytes
 * from every vertex to one part. The place of a vertex is its position in each
 * column. The vertices of a part have adjacent places, so that the changes of
 * the cut by all these swaps take a few vector operations.
 */
#ifndef NW_MAP_GRAPH_ANNEAL_GAIN_TABLE_H
#define NW_MAP_GRAPH_ANNEAL_GAIN_TABLE_H

#include "map/common/metropolis.h"
#include "map/graph/bisect_multilevel.h"
#include "map/common/simd4.h"

/* The table, and the partition whose bytes it holds. */
struct nw_gain_table {
    const struct nw_graph *graph;
    /* number of parts; number of places in a column, including unused ones,
     * because each part begins at a multiple of the vector width */
    int32_t parts, places;
    int32_t *part;  /* [vertices] part of each vertex; in and out, borrowed */
    int32_t *begin; /* [parts + 1] first place of each part */
    /* [parts] end of the places of each part that are in use */
    int32_t *end;
    int32_t *at;       /* [vertices] place of each vertex */
    int32_t *vertex;   /* [places] vertex at each place */
    float *connection; /* [parts][stride] bytes from the vertex at each place to
                          each part */
    size_t stride;
    /* [places] 2 x bytes between the vertex at each place and the border vertex
     * of the present trial; 0 between trials */
    float *between;
    /* of nw_metropolis_thresholds: a swap is accepted if its change of the cut,
     * divided by the temperature, is below a random one */
    const float *thresholds;
    int32_t *beyond;    /* [vertices] number of arcs from each vertex to other
                           parts */
    int32_t *border;    /* [border_count] vertices with arcs to other parts */
    int32_t *at_border; /* [vertices] index in `border` of each vertex that is
                           in it */
    int32_t border_count;
};

NW_MUST_CHECK nw_status nw_gain_table_init(struct nw_gain_table *near,
                                           const struct nw_graph *graph,
                                           int32_t *part, int32_t parts);
void nw_gain_table_fini(struct nw_gain_table *near);

/* Makes `tries` trials, each with one random border vertex; returns the change
 * of the cut in bytes. */
double nw_gain_table_run(struct nw_gain_table *near, uint64_t tries,
                         double temperature, struct nw_random *random);

#endif
