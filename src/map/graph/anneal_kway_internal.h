/* SPDX-License-Identifier: BSD-3-Clause */
/* State and functions shared by anneal_kway.c and anneal_kway_teams.c. */
#ifndef NW_MAP_GRAPH_ANNEAL_KWAY_INTERNAL_H
#define NW_MAP_GRAPH_ANNEAL_KWAY_INTERNAL_H

#include "map/common/metropolis.h"
#include "map/graph/anneal_gain_table.h"
#include "map/graph/anneal_kway.h"
#include "map/graph/anneal_parallel.h"

#define TEAMS 2 /* teams of a round; a team runs in one thread */

/* The position of a part's data. In each block of the table (the rows of
 * NW_ANNEAL_PARALLEL_BLOCK vertices) the part's column begins at `first`, with
 * `stride` floats from row to row. Its vertices begin at index `begin` of the
 * list of vertices. */
struct anneal_kway_column {
    int32_t first, stride, begin;
};

/* State of one call of nw_anneal_kway. */
struct anneal_kway_work {
    struct nw_anneal_kway *anneal;
    bool is_near; /* true: one thread anneals on the gain table `near`; the
                     fields that describe teams, and `table`, are then unused;
                     false: two teams, each one thread with its own parts,
                     anneal on `table` */
    int rounds;
    struct nw_gain_table near;
    /* `memory`: allocation that contains the table. `table`: start of the
     * table, at the first cache line boundary in `memory`. */
    float *memory, *table;
    /* [parts] where each part's column of `table` and its vertices begin: in
     * this round (in `list`) and in the last one (in `old`) */
    struct anneal_kway_column *column, *was;
    float *scratch;  /* [TEAMS] one block of scratch for each team */
    int32_t *source; /* [cells of a block] index that each cell had in the last
                        round */
    /* [vertices] vertices, part by part: `list` in this round, `old` in the
     * last one */
    int32_t *list, *old;
    /* [parts] number of vertices of each part: at present, and initially and
     * finally */
    int32_t *size, *target;
    /* [parts] size minus target of each part, in the order of `deal` */
    int32_t *imbalance;
    int32_t *spare;    /* [vertices] scratch for the teams */
    bool single_moves; /* true: vertices move singly; false: they swap */
    int32_t *first; /* [parts + TEAMS] arrays nw_anneal_parallel.first of both
                       teams */
    int16_t *own;   /* [TEAMS x vertices] arrays nw_anneal_parallel.own of both
                       teams */
    int32_t *start; /* [vertices] part of each vertex initially */
    int32_t *best;  /* [vertices] part of each vertex in the best partition so
                       far */
    double best_cut, cut;
    double strength; /* typical change of the cut, in bytes, by a move of one
                        vertex; the temperature is this times a factor */
    double temperature;
    /* [parts] parts in random order, those of the first team first */
    int32_t *deal;
    int32_t deal_end[TEAMS + 1];
    /* [parts] estimated work of the trials of each part, in arcs */
    double *weight;
    struct nw_anneal_parallel team[TEAMS];
};

/* Returns the number of blocks in the table. A block holds the rows of
 * NW_ANNEAL_PARALLEL_BLOCK vertices, which fill whole cache lines. */
static inline int32_t anneal_kway_blocks_of(const struct anneal_kway_work *work)
{
    return (work->anneal->graph->n + NW_ANNEAL_PARALLEL_BLOCK - 1) /
           NW_ANNEAL_PARALLEL_BLOCK;
}

/* Both functions are defined in anneal_kway_teams.c. nw_anneal_kway_weigh_parts
 * estimates the work of the trials in each part (`weight`). */
void nw_anneal_kway_weigh_parts(struct anneal_kway_work *work);

/* Runs one round, in which two teams anneal disjoint parts. `tries`: trials per
 * vertex in all rounds together. */
void nw_anneal_kway_run_round(struct anneal_kway_work *work, uint64_t tries,
                              struct nw_random *random);

#endif
