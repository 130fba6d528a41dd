/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The vertices of a cluster among its children, all equally far apart:
 * annealing of swaps with the bytes from each vertex to each part at hand, so
 * that a try costs few lookups. Where a graph has no shape to cut along, as
 * random ones, it leaves less cut than moves along a border do, and so it does
 * of any small one. Small ones are searched as in anneal_gain_table.h. Else
 * each round deals the parts of many vertices to two teams of about equal work:
 * hubs count for their arcs. A team moves its own vertices among its own parts,
 * whose columns of the table stand together for the round, on its own cache
 * lines.
 */
#ifndef NW_MAP_GRAPH_ANNEAL_KWAY_H
#define NW_MAP_GRAPH_ANNEAL_KWAY_H

#include "map/common/budget.h"
#include "map/graph/bisect_multilevel.h"

struct nw_anneal_kway {
    const struct nw_bisect_graph *graph;
    int32_t parts;
    int32_t *part;  /* [n] in and out; the sizes of the parts stay */
    uint64_t tries; /* for each vertex */
    bool near;      /* in one table, however many vertices */
    uint64_t seed;
    const float *thresholds; /* of nw_gain_table_thresholds_new, for many calls;
                                or NULL */
    struct nw_budget *budget; /* counts a step each round; NULL: nobody does */
    int32_t threads;          /* at least 1; the answer is the same */
    bool only_expander_like;  /* do nothing where the start cuts little */
    bool only_separable;      /* where it cuts much */
    bool expander_like;       /* out: it cuts much: nothing to cut along */
};

/* Bytes between parts, each edge once. */
double nw_anneal_kway_cut(const struct nw_bisect_graph *graph,
                          const int32_t *part);

/* The parts become the best seen, never worse. */
NW_MUST_CHECK nw_status nw_anneal_kway(struct nw_anneal_kway *anneal);

/* Whether the table of so many vertices in so many parts is not too large. */
bool nw_anneal_kway_fits(int32_t n, int32_t parts);

#endif
