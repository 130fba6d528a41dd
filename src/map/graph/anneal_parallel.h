/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work of one thread in a round of annealing. A team is a set of parts and
 * their vertices; the vertices swap their parts, or move from one to another. A
 * team writes only to cache lines of its own; everything else that it reads is
 * constant during the round.
 */
#ifndef NW_MAP_GRAPH_ANNEAL_PARALLEL_H
#define NW_MAP_GRAPH_ANNEAL_PARALLEL_H

#include "map/graph/bisect_multilevel.h"

/* Number of vertices in a block of the table of bytes from each vertex to each
 * part. A block holds the rows of its vertices for the parts of the first team,
 * then those for the second team. 16 rows of floats fill whole cache lines. */
#define NW_ANNEAL_PARALLEL_BLOCK 16

/* The data of one team in a round. */
struct nw_anneal_parallel {
    const struct nw_graph *graph;
    const double *metropolis; /* nw_metropolis_table */
    int32_t parts;            /* number of parts of the team */
    int32_t *first;           /* [parts + 1] part p of the team has the vertices
                                 list[first[p]] .. list[first[p + 1] - 1] */
    int32_t *list;            /* vertices of the team, part by part */
    int16_t *own; /* [vertices] index within the team of each vertex's part; -1:
                     the vertex is in the other team */
    float *connection;    /* first row of the team in the table: bytes from a
                             vertex to each part of the team */
    size_t block;         /* distance between two blocks of the table, in
                             floats */
    uint64_t seed, tries; /* tries: number of trials in the round */
    double temperature;
    /* If this is not 0, vertices move singly instead of swapping, and a part
     * whose size is off by d adds d * d * imbalance_cost to the cost. */
    double imbalance_cost;
    int32_t *imbalance; /* [parts] size minus target size of each part; used if
                           vertices move singly */
    /* scratch as long as `list`; used if vertices move singly */
    int32_t *spare;
    double change; /* out: the change of the cut by the round, in bytes */
};

/* Returns the row of vertex v in the table: the bytes from v to each part of
 * the team. */
static inline float *
nw_anneal_parallel_row(const struct nw_anneal_parallel *team, int32_t v)
{
    return team->connection +
           (size_t)(v / NW_ANNEAL_PARALLEL_BLOCK) * team->block +
           (size_t)(v % NW_ANNEAL_PARALLEL_BLOCK) * (size_t)team->parts;
}

void nw_anneal_parallel_run(struct nw_anneal_parallel *team);

#endif
