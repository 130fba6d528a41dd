/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multilevel bisection within limits: heavy-edge matching (Karypis and Kumar
 * 1998, section 3), bisections of the coarsest graph, and FM refinement on
 * every level (Fiduccia and Mattheyses 1982).
 */
#ifndef NW_MAP_GRAPH_BISECT_MULTILEVEL_H
#define NW_MAP_GRAPH_BISECT_MULTILEVEL_H

#include "base/random.h"
#include "map/common/budget.h"
#include "map/graph/graph.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

/* The limits of a bisection, and the amount of work that it does. */
struct nw_bisection {
    double target;          /* load that side 0 should get */
    nw_graph_load limit[2]; /* largest load of each side */
    int64_t capacity[2];    /* most vertices of the finest graph on each side */
    int64_t merged_max;     /* largest load of a vertex that coarsening makes */
    const int8_t *fixed;    /* [vertices] side on which a vertex stays; -1:
                               either. NULL: no vertex is fixed */
    int32_t coarsest;       /* coarsening ends at this many vertices, or earlier
                               if it hardly shrinks the graph */
    int tries;              /* number of initial bisections of the coarsest
                               graph, of which the best is kept */
    int repeats;            /* number of bisections, of which the best is
                               kept */
    bool reduced_effort;    /* FM makes fewer passes, because the caller refines
                               the result again */
    struct nw_budget *budget; /* if overdue, the bisection ends with its best
                                 result so far; NULL: never */
    uint64_t until;           /* time in ns after which no further try or repeat
                                 begins; 0: none */
};
/* Returns the limits of a bisection with exactly `target` vertices on side 0,
 * of a graph whose vertices have size and load 1. The caller sets `tries` and
 * may change the amount of work. */
struct nw_bisection nw_bisection_exact(const struct nw_graph *graph,
                                       int32_t target);

/* Returns the weight between the two sides, counting each edge twice. */
double nw_bisect_cut(const struct nw_graph *graph, const int8_t *side);

/* One refinement by nw_fm. */
struct nw_fm {
    const struct nw_graph *graph;
    const struct nw_bisection *to; /* nw_fm reads only limit, capacity, fixed,
                                      reduced_effort and budget */
    int8_t *side;                  /* [vertices] 0 or 1 for each vertex */
    bool coarse;  /* true: `graph` is a coarser one. Each side may then exceed
                     its limits by the largest vertex, because that vertex could
                     not move otherwise */
    int32_t most; /* 0: use a heap of gains. Otherwise use gain buckets: all
                     weights must then be integers, and the sum of the weights
                     on the arcs of a vertex must be at most `most` */
    /* out: load and vertices beyond the limits of the sides, as fractions of
     * these limits, summed; weight between the sides, counting each edge twice
     */
    double excess, cut;
};
/* Largest allowed value of nw_fm.most. There are 2 x most + 1 gain buckets, at
 * most 4033; fm.c marks the nonempty ones in a bitmap of 64 words. */
#define NW_FM_BUCKETS_MAX 2016

/* Brings both sides within their limits as far as possible, and lowers the cut.
 */
NW_MUST_CHECK nw_status nw_fm(struct nw_fm *fm);

/* In grow_bisection.c: greedy graph growing. Side 0 begins with a random
 * vertex, or with the fixed ones. Then the vertex with the largest (weight to
 * side 0 less weight to side 1) joins, again and again, until the load of side
 * 0 is near the target. */
NW_MUST_CHECK nw_status nw_bisect_grow(const struct nw_graph *graph,
                                       const struct nw_bisection *to,
                                       struct nw_random *random, int8_t *side);

/* Bisects the graph: fills side[vertices]. The sides are within their limits if
 * such a cut was found. */
NW_MUST_CHECK nw_status nw_bisect_multilevel(const struct nw_graph *graph,
                                             const struct nw_bisection *to,
                                             struct nw_random *random,
                                             int8_t *side);

#endif
