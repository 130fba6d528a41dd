/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for the pieces that a recursive bisection divides at the same time:
 * they count slots and share the work among threads. */
#include "map/multilevel/rb_internal.h"
#include "base/array.h"
#include "base/parallel.h"

#include <stdlib.h>

int32_t nw_rb_unfixed_slots(const struct sectioning *work, int level,
                            int32_t from, int32_t to)
{
    const int32_t *first = work->hierarchy->first[level];

    return work->unfixed_before[first[to]] - work->unfixed_before[first[from]];
}

/* Returns the number of arcs of the processes of a piece. */
static size_t rb_pieces_count_arcs(const struct sectioning *work,
                                   const struct piece *piece)
{
    size_t arcs = 0;

    for (int32_t i = piece->first; i < piece->end; i++)
        arcs += (size_t)nw_graph_degree(&work->graph, work->list[i]);
    return arcs;
}

bool nw_rb_reduces_effort(const struct sectioning *work)
{
    return (work->bisection->only_expander_like && !work->annealed) ||
           work->bisection->kinds & NW_RB_START_STRAIGHT;
}

/* A piece and the number of its arcs, by which pieces are sorted. */
struct rb_pieces_load {
    size_t edges;
    int32_t piece;
};

/* Compares pieces for qsort: the one with more edges comes first. */
static int rb_pieces_by_edges(const void *left, const void *right)
{
    const struct rb_pieces_load *a = left, *b = right;

    if (a->edges != b->edges)
        return a->edges > b->edges ? -1 : 1;
    return (a->piece > b->piece) - (a->piece < b->piece);
}

/* Argument of rb_pieces_do_share. */
struct rb_pieces_sharing {
    nw_status (*job)(void *user, int32_t i);
    void *user;
    struct rb_pieces_load *load; /* pieces in the order in which threads take
                                    them */
};

/* Calls the job for the piece with the i-th most edges. */
static nw_status rb_pieces_do_share(void *user, int32_t i)
{
    const struct rb_pieces_sharing *sharing = user;

    return sharing->job(sharing->user, sharing->load[i].piece);
}

nw_status nw_rb_share_out(const struct sectioning *work,
                          nw_status (*job)(void *user, int32_t i), void *user)
{
    struct rb_pieces_sharing sharing = {job, user, NULL};
    nw_status status =
        nw_alloc((size_t)work->count, sizeof *sharing.load, &sharing.load);

    if (status)
        return status;
    for (int32_t i = 0; i < work->count; i++)
        sharing.load[i] = (struct rb_pieces_load){
            rb_pieces_count_arcs(work, &work->now[i]), i};
    qsort(sharing.load, (size_t)work->count, sizeof *sharing.load,
          rb_pieces_by_edges);
    status = nw_parallel_try(rb_pieces_do_share, &sharing, work->count,
                             work->bisection->threads);
    free(sharing.load);
    return status;
}
