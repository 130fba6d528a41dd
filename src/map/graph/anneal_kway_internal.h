/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of k-way annealing. */
#ifndef NW_MAP_GRAPH_ANNEAL_KWAY_INTERNAL_H
#define NW_MAP_GRAPH_ANNEAL_KWAY_INTERNAL_H

#include "map/common/metropolis.h"
#include "map/graph/anneal_gain_table.h"
#include "map/graph/anneal_kway.h"
#include "map/graph/anneal_parallel.h"

#define TEAMS 2 /* teams of a round; a team runs in one thread */

/* The position of a part's data: in each block of the table its column begins
 * at `first`, with `stride` floats from row to row; its vertices begin at
 * list[begin]. */
struct anneal_kway_column {
    int32_t first, stride, begin;
};

/* State of one annealing. */
struct anneal_kway_work {
    struct nw_anneal_kway *anneal;
    double metropolis[NW_METROPOLIS_SIZE];
    bool is_near; /* uses the gain table `near` without teams; the fields from
                     `memory` to `best` are then unused */
    int rounds;
    struct nw_gain_table near;
    float *thresholds;     /* owned; NULL if the caller gave thresholds */
    float *memory, *table; /* memory of the table; first cache line in it, where
                              the table begins */
    struct anneal_kway_column *column, *was; /* [parts] positions in this round
                                                and in the last one */
    float *scratch;        /* [TEAMS] one block of scratch for each team */
    int32_t *source;       /* [cells of a block] index of each cell in the last
                              round */
    int32_t taken, turned; /* blocks that a thread has claimed and finished
                              permuting in this round */
    int32_t *list, *old;   /* [n] vertices, part by part, in this round and in
                              the last one */
    int32_t *size;         /* [parts] number of vertices */
    int32_t *target; /* [parts] number wanted in the end: that at the start */
    int32_t *imbalance; /* [parts] size minus target, team by team */
    int32_t *spare;     /* [n] scratch of the teams */
    bool single_moves;  /* vertices move singly instead of swapping */
    int32_t *first;     /* [parts + TEAMS] nw_anneal_parallel.first of the
                           teams */
    int16_t *own;       /* [TEAMS * n] nw_anneal_parallel.own of the teams */
    int32_t *best;      /* [n] part of each vertex in the best partition */
    bool is_best;       /* the present partition is the best one but not yet
                           stored in `best` */
    double best_cut, cut;
    double strength; /* bytes by which typical arcs pull a vertex; the first
                        temperature is this times a tuned factor */
    double temperature;
    int32_t *deal; /* [parts] parts in random order, team by team */
    int32_t deal_end[TEAMS + 1];
    double *weight; /* [parts] work of a part, in arcs */
    struct nw_anneal_parallel team[TEAMS];
};

/* Returns the number of blocks in the table. A block holds the rows of
 * NW_ANNEAL_PARALLEL_BLOCK vertices, which fill whole cache lines. */
static inline int32_t anneal_kway_blocks_of(const struct anneal_kway_work *work)
{
    return (work->anneal->graph->n + NW_ANNEAL_PARALLEL_BLOCK - 1) /
           NW_ANNEAL_PARALLEL_BLOCK;
}

/*
 * Defined in anneal_kway_teams.c.
 *
 * nw_anneal_kway_weigh_parts estimates the work of each part.
 */

void nw_anneal_kway_weigh_parts(struct anneal_kway_work *work);

/* Updates the sizes of the parts of team t after a round of single moves. */
void nw_anneal_kway_read_sizes(struct anneal_kway_work *work, int t);

/* Divides the parts between the teams at random, for a new round. */
void nw_anneal_kway_draw_teams(struct anneal_kway_work *work,
                               struct nw_random *random);

/* Runs a team's round; `user` is a struct anneal_kway_work. A task for
 * nw_parallel_run. */
void nw_anneal_kway_run_team(void *user, int32_t team);

/* Returns the trials of a team in all rounds together, if the teams stayed as
 * they are; `tries` is the number per vertex of the graph. Trials are in
 * proportion to the team's vertices, but fewer if trials of these vertices take
 * longer, so that all teams end a round at about the same time. */
uint64_t nw_anneal_kway_share_of(const struct anneal_kway_work *work, int team,
                                 uint64_t tries);

#endif
