/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of recursive bisection. */
#ifndef NW_MAP_MULTILEVEL_RB_INTERNAL_H
#define NW_MAP_MULTILEVEL_RB_INTERNAL_H

#include "map/graph/bisect_multilevel.h"
#include "map/multilevel/recursive_bisection.h"
#include "map/graph/anneal_kway.h"

/* Processes first .. end - 1 of the list, to be divided among clusters from ..
 * to - 1 of a level with a common parent. */
struct piece {
    int32_t first, end, from, to, middle, left;
    int level;
};

struct sectioning {
    struct nw_recursive_bisection *bisection;
    const struct nw_hierarchy *hierarchy;
    struct nw_bisect_arc
        *arc;          /* [edges] as pairs of 32 bits, half as long to read */
    int32_t *list;     /* processes, those of a piece together */
    int32_t *place;    /* [count] index in `list`; -1: in no piece of `now` */
    int32_t *capacity; /* [slots + 1] open slots before each slot */
    struct piece *now, *next;
    struct piece
        *held; /* children of bisected clusters, kept until they are annealed */
    int32_t count, next_count, held_count;
    bool annealed; /* at least the top level was annealed */
    /* if there is a grid: */
    int32_t *at[NW_STENCIL_DIMS]; /* [count] coordinates */
    double unit;  /* unit of which all bytes are integral multiples; 0: none */
    int32_t most; /* most units of one cell */
    nw_status status;
};

/* Open slots of the clusters from .. to - 1 of a level. */
int32_t nw_rb_open_slots(const struct sectioning *work, int level, int32_t from,
                         int32_t to);
/* Makes the graph of a piece of `now`, with local numbers. */
NW_MUST_CHECK nw_status nw_rb_graph(const struct sectioning *work,
                                    int32_t number,
                                    struct nw_bisect_graph *graph);
/* Calls job(user, i) for each piece of `now` on the threads, those with most
 * edges first, so that the last ones end at about the same time. */
NW_MUST_CHECK nw_status nw_rb_share_out(const struct sectioning *work,
                                        void (*job)(void *user, int32_t i),
                                        void *user);
/* Sets `place` for the processes of the pieces of `now`. */
void nw_rb_number_vertices(struct sectioning *work);

/* The number of processes of a piece that go to the clusters before `middle`.
 */
int32_t nw_rb_left_size(const struct sectioning *work,
                        const struct piece *piece, int32_t middle);
/* The cluster at which to split a piece that is a box: where whole layers split
 * with the fewest bytes across, otherwise `there`. */
int32_t nw_rb_split_layers(const struct sectioning *work,
                           const struct piece *piece, int32_t there);
/* Computes the coordinates of a grid and the unit of its bytes. */
NW_MUST_CHECK nw_status nw_rb_read_grid(struct sectioning *work);
/* Fills side[graph->n] for a piece of a grid; may change the unit of the bytes.
 */
NW_MUST_CHECK nw_status nw_rb_grid_cut(const struct sectioning *work,
                                       const struct piece *piece,
                                       struct nw_bisect_graph *graph,
                                       struct nw_random *random, int8_t *side);

/* Makes the parts of a piece of `now` compact by a power diagram if that lowers
 * the cut. */
NW_MUST_CHECK nw_status nw_rb_power_diagram(const struct sectioning *work,
                                            const struct piece *piece,
                                            struct nw_anneal_kway *anneal);

/* Anneals the pieces that are held, each cluster alone. The pieces stay held,
 * with other processes. */
NW_MUST_CHECK nw_status nw_rb_anneal(struct sectioning *work);

#endif
