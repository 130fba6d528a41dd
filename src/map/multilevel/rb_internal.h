/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of recursive sections share. */
#ifndef NW_MAP_MULTILEVEL_RB_INTERNAL_H
#define NW_MAP_MULTILEVEL_RB_INTERNAL_H

#include "map/graph/bisect_multilevel.h"
#include "map/multilevel/recursive_bisection.h"
#include "map/graph/anneal_kway.h"

/* Processes first .. end - 1 of the list, for clusters from .. to - 1 of a
 * level, which have a common parent. */
struct piece {
    int32_t first, end, from, to, middle, left;
    int level;
};

struct sectioning {
    struct nw_recursive_bisection *bisection;
    const struct nw_hierarchy *hierarchy;
    struct nw_bisect_arc *arc; /* [bonds] half as long to read */
    int32_t *list;             /* processes, those of a piece together */
    int32_t *place;    /* [count] where in it; -1: in no piece of `now` */
    int32_t *capacity; /* [seats + 1] open seats before each */
    struct piece *now, *next;
    struct piece *held; /* children of clusters that are cut, not yet gone
                           down; only where they are to be sifted */
    int32_t count, next_count, held_count;
    bool annealed; /* the top at least */
    /* of a grid: */
    int32_t *at[NW_STENCIL_DIMS]; /* [count] coordinates */
    double unit;  /* its bytes are whole numbers of that; 0: not, or large */
    int32_t most; /* of these, of a cell together */
    nw_status status;
};

/* The graph of the processes of a piece of `now`, by their local numbers. */
NW_MUST_CHECK nw_status nw_rb_graph(const struct sectioning *work,
                                    int32_t number,
                                    struct nw_bisect_graph *graph);
/* Calls job(user, i) for each piece of `now`, on the section's threads, those
 * with most bonds first: the last ones then end at about the same time. */
NW_MUST_CHECK nw_status nw_rb_share_out(const struct sectioning *work,
                                        void (*job)(void *user, int32_t i),
                                        void *user);
/* Tells the processes of the pieces of `now` their places. */
void nw_rb_number_vertices(struct sectioning *work);

/* How many processes of a piece go to the clusters before `middle`. */
int32_t nw_rb_left_size(const struct sectioning *work,
                        const struct piece *piece, int32_t middle);
/* Where to part the clusters of a piece that is a box: where whole layers part
 * with the least bytes across for what both sides hold, else there. */
int32_t nw_rb_split_layers(const struct sectioning *work,
                           const struct piece *piece, int32_t there);
/* The coordinates of a grid and the unit of its bytes. */
NW_MUST_CHECK nw_status nw_rb_read_grid(struct sectioning *work);
/* Fills side[graph->n] for a piece of a grid; bytes may get another unit. */
NW_MUST_CHECK nw_status nw_rb_grid_cut(const struct sectioning *work,
                                       const struct piece *piece,
                                       struct nw_bisect_graph *graph,
                                       struct nw_random *random, int8_t *side);

/* Makes the parts of a piece of `now` round where that cuts less. */
NW_MUST_CHECK nw_status nw_rb_power_diagram(const struct sectioning *work,
                                            const struct piece *piece,
                                            struct nw_anneal_kway *anneal);

/* Sifts what is held, each cluster by itself. Its pieces stay held, with other
 * processes. */
NW_MUST_CHECK nw_status nw_rb_anneal(struct sectioning *work);

#endif
