/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated annealing of a partition into k parts of fixed sizes, for parts
 * that are all at the same distance from each other. A table holds the bytes
 * from each vertex to each part, so that a trial costs few lookups. On
 * expander-like and on small graphs this leaves a smaller cut than moves along
 * a border. Small graphs use anneal_gain_table.h. For larger graphs each round
 * divides the parts between two teams with about equal work, and each team
 * moves its vertices among its own parts. The columns of a team are contiguous
 * during the round, so that threads share no cache line.
 */
#ifndef NW_MAP_GRAPH_ANNEAL_KWAY_H
#define NW_MAP_GRAPH_ANNEAL_KWAY_H

#include "map/common/budget.h"
#include "map/graph/bisect_multilevel.h"

/* The input, the settings and the result of nw_anneal_kway. */
struct nw_anneal_kway {
    const struct nw_bisect_graph *graph;
    int32_t parts;
    int32_t *part;  /* [n] in and out; the sizes of the parts do not change */
    uint64_t tries; /* trials per vertex */
    bool near;      /* use the gain table for any number of vertices */
    uint64_t seed;
    const float *thresholds;  /* from nw_gain_table_thresholds_new, for several
                                 calls; or NULL */
    struct nw_budget *budget; /* counts a step per round; NULL: no budget */
    int32_t threads;          /* at least 1; does not change the answer */
    bool only_expander_like;  /* do nothing if the initial cut is small */
    bool only_separable;      /* do nothing if the initial cut is large */
    /* out: the initial cut is large, as in a random graph */
    bool expander_like;
};

/* Returns the bytes between different parts, counting each edge once. */
double nw_anneal_kway_cut(const struct nw_bisect_graph *graph,
                          const int32_t *part);

/* `part` becomes the best partition seen, never worse than it was. */
NW_MUST_CHECK nw_status nw_anneal_kway(struct nw_anneal_kway *anneal);

/* Returns true if the table for n vertices and this number of parts is small
 * enough. */
bool nw_anneal_kway_fits(int32_t n, int32_t parts);

#endif
