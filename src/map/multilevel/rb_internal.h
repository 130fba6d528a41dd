/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of recursive bisection. */
#ifndef NW_MAP_MULTILEVEL_RB_INTERNAL_H
#define NW_MAP_MULTILEVEL_RB_INTERNAL_H

#include "map/graph/bisect_multilevel.h"
#include "map/multilevel/recursive_bisection.h"
#include "map/graph/anneal_kway.h"

/* A piece: processes first .. end - 1 of the list, to be divided among the
 * clusters from .. to - 1 of a level, which have a common parent. The bisection
 * puts the first `left` processes on the clusters before `middle`. */
struct piece {
    int32_t first, end, from, to, middle, left;
    int level;
};

/* State of a recursive bisection. */
struct sectioning {
    struct nw_recursive_bisection *bisection;
    const struct nw_hierarchy *hierarchy;
    /* [edges] peer and bytes as 32 bits each, half as long as in the assignment
     */
    struct nw_bisect_arc *arc;
    int32_t *list;     /* processes, piece by piece */
    int32_t *place;    /* [count] index in `list`; -1: in no piece of `now` */
    int32_t *capacity; /* [slots + 1] number of open slots before each slot */
    struct piece *now, *next; /* pieces to bisect now; in the next generation */
    struct piece
        *held; /* children of bisected clusters, kept until they are annealed */
    int32_t count, next_count, held_count;
    bool annealed; /* at least the top level was annealed */
    /* if there is a grid: */
    int32_t *at[NW_STENCIL_DIMS]; /* [count] coordinates of each process */
    double unit;  /* all bytes are integral multiples of this number of bytes;
                     0: unknown */
    int32_t most; /* largest sum of the units of one cell's edges */
    nw_status status; /* failure of any thread */
};

/* Returns the number of open slots in the clusters from .. to - 1 of a level.
 */
int32_t nw_rb_open_slots(const struct sectioning *work, int level, int32_t from,
                         int32_t to);
/* Makes the graph of piece `number` of `now`; its vertices are numbered from 0.
 */
NW_MUST_CHECK nw_status nw_rb_graph(const struct sectioning *work,
                                    int32_t number,
                                    struct nw_bisect_graph *graph);
/* Calls job(user, i) for each piece of `now` on all threads, pieces with the
 * most edges first, so that all threads end at about the same time. */
NW_MUST_CHECK nw_status nw_rb_share_out(const struct sectioning *work,
                                        void (*job)(void *user, int32_t i),
                                        void *user);
/* Sets `place` for all processes in pieces of `now`. */
void nw_rb_number_vertices(struct sectioning *work);

/* Returns the number of processes of a piece that go to the clusters before
 * `middle`. */
int32_t nw_rb_left_size(const struct sectioning *work,
                        const struct piece *piece, int32_t middle);
/* Returns the cluster at which to split a piece that is a box: the one where a
 * split between whole layers cuts the fewest bytes; `there` if no split is
 * between whole layers. */
int32_t nw_rb_split_layers(const struct sectioning *work,
                           const struct piece *piece, int32_t there);
/* Computes the coordinates of a grid and the unit of its bytes. */
NW_MUST_CHECK nw_status nw_rb_read_grid(struct sectioning *work);
/* Fills side[graph->n] with the bisection of a piece of a grid; may rescale the
 * bytes of `graph`. */
NW_MUST_CHECK nw_status nw_rb_grid_cut(const struct sectioning *work,
                                       const struct piece *piece,
                                       struct nw_bisect_graph *graph,
                                       struct nw_random *random, int8_t *side);

/* Makes the parts of a piece of `now` compact with a power diagram if that
 * lowers the cut. */
NW_MUST_CHECK nw_status nw_rb_power_diagram(const struct sectioning *work,
                                            const struct piece *piece,
                                            struct nw_anneal_kway *anneal);

/* Anneals the pieces in `held`, each cluster alone; afterwards the pieces are
 * still in `held`, with other processes. */
NW_MUST_CHECK nw_status nw_rb_anneal(struct sectioning *work);

#endif
