/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of recursive bisection. */
#ifndef NW_MAP_MULTILEVEL_RB_INTERNAL_H
#define NW_MAP_MULTILEVEL_RB_INTERNAL_H

#include "map/graph/bisect_multilevel.h"
#include "map/multilevel/recursive_bisection.h"
#include "map/graph/anneal_kway.h"
#include "map/stencil/grid_part.h"

/* A piece: a set of processes that are to be divided among a set of clusters.
 * The processes are list[first] .. list[end - 1] of struct sectioning. The
 * clusters are from .. to - 1 of level `level` of the hierarchy and have a
 * common parent. The bisection puts the first `left` processes on the clusters
 * before `middle` and the others on the rest. */
struct piece {
    int32_t first, end, from, to, middle, left;
    int level;
};

/* State of a recursive bisection. */
struct sectioning {
    struct nw_recursive_bisection *bisection;
    const struct nw_hierarchy *hierarchy;
    /* the assignment's processes and edges, but with 32 bits each for the peer
     * and the bytes, which halves the size of the edges */
    struct nw_graph graph;
    int32_t *list;  /* all processes that are not fixed; each piece owns a
                       part */
    int32_t *place; /* [processes] scratch of nw_graph_subgraph */
    int32_t *unfixed_before;  /* [slots + 1] number of slots before each slot
                                 that are not fixed (nw_assignment.fixed) */
    struct piece *now, *next; /* now: pieces of the present generation, to be
                                 bisected; next: their halves, to be bisected in
                                 the next generation */
    struct piece
        *held; /* pieces that have a single cluster and wait until the processes
                  of all its siblings are annealed together */
    int32_t count, next_count, held_count;
    bool annealed; /* the top level was annealed, perhaps other levels, too */
    /* [processes] coordinates of each process, if the pattern is a grid */
    int32_t *at[NW_STENCIL_DIMS];
    double unit;  /* bytes of every edge are an integral multiple of this; 0: no
                     such unit is known, or FM has too few buckets for it */
    int32_t most; /* upper bound of the number of such units on the edges of one
                     process */
    nw_status status; /* failure; NW_OK: none */
};

/* Returns the number of slots that are not fixed in the clusters from .. to - 1
 * of a level. */
int32_t nw_rb_unfixed_slots(const struct sectioning *work, int level,
                            int32_t from, int32_t to);
/* Returns true if FM makes fewer passes, because the start may be left out or
 * is one of many. */
bool nw_rb_reduces_effort(const struct sectioning *work);
/* Calls job(user, i) for each piece now[i], on all threads. Pieces with the
 * most edges are taken first, so that all threads end at about the same time.
 * Returns the first failure of a job, after which other jobs may be left out.
 */
NW_MUST_CHECK nw_status nw_rb_share_out(const struct sectioning *work,
                                        nw_status (*job)(void *user, int32_t i),
                                        void *user);

/* Returns the cluster at which a piece of a grid is split: between whole layers
 * if its cells fill a box (nw_grid_part_split_layers). No process is fixed. */
int32_t nw_rb_split_layers(const struct sectioning *work,
                           const struct piece *piece);
/* Fills work->at, `unit` and `most` for a pattern that is a grid. */
NW_MUST_CHECK nw_status nw_rb_read_grid(struct sectioning *work);
/* Bisects a piece of a grid: fills side[graph->n] with 0 or 1 for each vertex.
 * If work->unit is not 0, divides the bytes of `graph` by it and leaves them
 * so. */
NW_MUST_CHECK nw_status nw_rb_grid_cut(const struct sectioning *work,
                                       const struct piece *piece,
                                       struct nw_graph *graph,
                                       struct nw_random *random, int8_t *side);

/* Divides the processes of a group of pieces (of a grid) by a power diagram,
 * which makes the parts compact. Replaces anneal->part by that division if it
 * lowers the cut. `piece`: the range of the processes in the list, an entry of
 * work->now. Does nothing for fewer than three parts or too many processes. */
NW_MUST_CHECK nw_status nw_rb_power_diagram(const struct sectioning *work,
                                            const struct piece *piece,
                                            struct nw_anneal_kway *anneal);

/* Anneals the processes of the pieces in `held`: moves them between the
 * children of one cluster, for each cluster alone. Afterwards `held` has the
 * same pieces with the same sizes, but other processes. */
NW_MUST_CHECK nw_status nw_rb_anneal(struct sectioning *work);

#endif
