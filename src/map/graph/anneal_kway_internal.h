/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of k-way annealing. */
#ifndef NW_MAP_GRAPH_ANNEAL_KWAY_INTERNAL_H
#define NW_MAP_GRAPH_ANNEAL_KWAY_INTERNAL_H

#include "map/common/metropolis.h"
#include "map/graph/anneal_gain_table.h"
#include "map/graph/anneal_kway.h"
#include "map/graph/anneal_parallel.h"

#define TEAMS 2

/* Position of a part's column in each block of the table, and of its vertices
 * in the list. */
struct anneal_kway_column {
    int32_t first, stride, begin;
};

struct anneal_kway_work {
    struct nw_anneal_kway *anneal;
    double metropolis[NW_METROPOLIS_SIZE];
    bool is_near; /* one table of all, no teams: the rest up to
                     `best` is not used */
    int rounds;
    struct nw_gain_table near;
    float *thresholds;     /* if none was given */
    float *memory, *table; /* the second begins a cache line */
    struct anneal_kway_column *column,
        *was;              /* [parts], now and in the last round */
    float *scratch;        /* [TEAMS] blocks */
    int32_t *source;       /* of one: where each cell was */
    int32_t taken, turned; /* blocks, in this round */
    int32_t *list, *old;   /* [n] vertices, those of a part together */
    int32_t *size;         /* [parts] vertices */
    int32_t *target;       /* [parts] as many as in the end */
    int32_t *imbalance;    /* [parts] those of a team together */
    int32_t *spare;        /* [n] */
    bool single_moves;     /* vertices move, they do not swap */
    int32_t *first;        /* [parts + TEAMS] those of the teams */
    int16_t *own;          /* [TEAMS * n] */
    int32_t *best;         /* [n] parts */
    bool is_best;          /* the parts as they are: not there yet */
    double best_cut, cut;
    double strength; /* temperature is this, first x HOT */
    double temperature;
    int32_t *deal; /* [parts] shuffled, those of a team together */
    int32_t deal_end[TEAMS + 1];
    double *weight; /* [parts] how long they take, in arcs */
    struct nw_anneal_parallel team[TEAMS];
};

/* Blocks of the table; each is a multiple of the vertices that share cache
 * lines. */
static inline int32_t anneal_kway_blocks_of(const struct anneal_kway_work *work)
{
    return (work->anneal->graph->n + NW_ANNEAL_PARALLEL_BLOCK - 1) /
           NW_ANNEAL_PARALLEL_BLOCK;
}

/* anneal_kway_teams.c */

void nw_anneal_kway_weigh_parts(struct anneal_kway_work *work);

/* After vertices moved alone. */
void nw_anneal_kway_read_sizes(struct anneal_kway_work *work, int t);

void nw_anneal_kway_draw_teams(struct anneal_kway_work *work,
                               struct nw_random *random);

void nw_anneal_kway_run_team(void *user, int32_t team);

/* A team's tries: as many for each vertex, but a few less where its vertices
 * take longer, so that all teams end together. */
uint64_t nw_anneal_kway_share_of(const struct anneal_kway_work *work, int team,
                                 uint64_t tries);

#endif
