/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work of one thread in a round of annealing: the vertices of a team swap
 * parts, or move singly, among the parts of the team. A team writes only to
 * cache lines of its own; everything else that it reads is constant during the
 * round.
 */
#ifndef NW_MAP_GRAPH_ANNEAL_PARALLEL_H
#define NW_MAP_GRAPH_ANNEAL_PARALLEL_H

#include "map/graph/bisect_multilevel.h"

/* Vertices in a block of the table. A block holds the rows of the first team,
 * then those of the second team. 16 rows of floats fill whole cache lines. */
#define NW_ANNEAL_PARALLEL_BLOCK 16

/* The data of one team in a round. */
struct nw_anneal_parallel {
    const struct nw_bisect_graph *graph;
    const double *metropolis; /* table of nw_metropolis_fill */
    int32_t parts;            /* parts of the team */
    int32_t *first;           /* [parts + 1] part p of the team has the vertices
                                 list[first[p]] .. list[first[p + 1] - 1] */
    int32_t *list;            /* vertices of the team, part by part */
    int16_t *own; /* [n] index of the vertex's part within the team; -1: in the
                     other team */
    float *connection;    /* bytes from a vertex to a part of this team */
    size_t block;         /* floats between two blocks */
    uint64_t seed, tries; /* trials of the round */
    double temperature;
    /* If this is not 0, vertices move singly instead of swapping, and a part
     * whose size is off by d adds d * d * imbalance_cost to the cost. */
    double imbalance_cost;
    int32_t *imbalance; /* [parts] size minus target size, if vertices move
                           singly */
    int32_t *spare;     /* scratch as long as `list`, if vertices move singly */
    double change;      /* out: the change of the cut */
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
