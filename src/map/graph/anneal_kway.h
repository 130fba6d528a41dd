/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated annealing of a partition into k parts of fixed sizes, for parts
 * that are all at the same distance from each other. A table holds the bytes
 * from each vertex to each part, so that a trial costs few lookups. On
 * expander-like and on small graphs this leaves a smaller cut than moves along
 * a border. Small graphs and those with few parts use anneal_gain_table.h. For
 * others, each round divides the parts between two teams with about equal work,
 * and each team moves its vertices among its own parts. The columns of a team
 * are contiguous during the round, so that threads share no cache line.
 */
#ifndef NW_MAP_GRAPH_ANNEAL_KWAY_H
#define NW_MAP_GRAPH_ANNEAL_KWAY_H

#include "map/common/budget.h"
#include "map/graph/bisect_multilevel.h"

/* The input, the settings and the result of one call of nw_anneal_kway. */
struct nw_anneal_kway {
    const struct nw_graph *graph;
    int32_t parts;
    int32_t *part; /* [vertices] part of each vertex; in and out; sizes of parts
                      do not change */
    uint64_t tries; /* number of trials per vertex in all rounds together */
    bool near;      /* true: use the gain table for any number of vertices */
    uint64_t seed;
    /* counts one step for each round; NULL: no budget */
    struct nw_budget *budget;
    int32_t threads; /* at least 1; does not change the answer */
    /* true: do nothing unless the graph is like an expander (expander_like) */
    bool only_expander_like;
    bool only_separable; /* true: do nothing if the graph is like an expander */
    /* out: the initial cut is large, as in a random graph (an expander): more
     * than nw_tuned.anneal_kway.expander_like_cut of all bytes */
    bool expander_like;
};

/* Returns the bytes between vertices of different parts, counting each edge
 * once. */
double nw_anneal_kway_cut(const struct nw_graph *graph, const int32_t *part);

/* Anneals the partition. `part` becomes the best partition seen; its cut is
 * never larger than at the start. */
NW_MUST_CHECK nw_status nw_anneal_kway(struct nw_anneal_kway *anneal);

/* Returns true if n vertices and this number of parts are few enough for the
 * table of bytes from each vertex to each part. */
bool nw_anneal_kway_fits(int32_t n, int32_t parts);

#endif
