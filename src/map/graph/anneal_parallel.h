/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one thread does of a sifting's round: a team's vertices swap places, or
 * move alone, among the team's parts. Everything it writes is its own, on cache
 * lines of its own; what it reads besides stays as it is during a round.
 */
#ifndef NW_MAP_GRAPH_ANNEAL_PARALLEL_H
#define NW_MAP_GRAPH_ANNEAL_PARALLEL_H

#include "map/graph/bisect_multilevel.h"

/* Rows of the table stand in blocks of so many vertices: in each first the
 * rows of one team, then those of the other. 16 rows of floats are whole cache
 * lines. */
#define NW_ANNEAL_PARALLEL_BLOCK 16

struct nw_anneal_parallel {
    const struct nw_bisect_graph *graph;
    const double *metropolis; /* [NW_METROPOLIS_SIZE] */
    int32_t parts;            /* of the team */
    int32_t *first;           /* [parts + 1] into list */
    int32_t *list;            /* its vertices, those of a part together */
    int16_t *own;             /* [n] which of the team's parts; -1: none */
    float *connection;        /* bytes from a vertex to a part, this team's */
    size_t block;             /* floats from block to block */
    uint64_t seed, tries;     /* of the round */
    double temperature;
    /* Where not 0 vertices move alone, and parts whose sizes differ from those
     * they should have by d cost d * d times this. */
    double imbalance_cost;
    int32_t *imbalance; /* [parts] d, then */
    int32_t *spare;     /* as long as list, then */
    double change;      /* out: of the cut */
};

/* Where the row of v begins. */
static inline float *
nw_anneal_parallel_row(const struct nw_anneal_parallel *team, int32_t v)
{
    return team->connection +
           (size_t)(v / NW_ANNEAL_PARALLEL_BLOCK) * team->block +
           (size_t)(v % NW_ANNEAL_PARALLEL_BLOCK) * (size_t)team->parts;
}

void nw_anneal_parallel_run(struct nw_anneal_parallel *team);

#endif
