/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive coordinate bisection for any hierarchy. The cells of a cluster are
 * divided among its children by repeated bisection, each across the dimension
 * in which the cut has the fewest bytes. After the first cuts of a large grid,
 * several threads cut the parts further, in rounds. */
#include "map/stencil/grid_part.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "base/parallel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* State of one coordinate bisection. Each thread has a copy. */
struct coordinate_bisection_work {
    struct nw_grid_part_work of;
    struct nw_stencil_cut cut;
    int32_t *slot; /* [count] out: the slot of each process */
    /* A part of at most this many cells is kept for the next round: `later` if
     * its cells are listed, `later_box` if they are not. */
    int32_t later, later_box;
    struct coordinate_bisection_waiting *waiting;
    nw_status status; /* failure of this thread */
};

/* The parts that are kept for the next round, from all threads. */
struct coordinate_bisection_waiting {
    pthread_mutex_t lock;
    struct nw_grid_part *share;
    size_t count, capacity;
};

/* Divides the cells of a part among its clusters by bisection, down to slots.
 */
static void coordinate_bisection_spread(struct coordinate_bisection_work *work,
                                        struct nw_grid_part share);
static void
coordinate_bisection_follow_jagged(struct coordinate_bisection_work *work,
                                   struct nw_grid_part share);

/* Returns true if the part's cluster is on level 1 and all its slots are
 * equally far from each other. */
static bool
coordinate_bisection_is_alike(const struct coordinate_bisection_work *work,
                              const struct nw_grid_part *share)
{
    const struct nw_hierarchy *hierarchy = work->of.assignment->hierarchy;
    int32_t first = hierarchy->first[share->level][share->from];
    int32_t last = hierarchy->first[share->level][share->from + 1] - 1;

    return share->level == 1 &&
           hierarchy->cluster[0][last] - hierarchy->cluster[0][first] ==
               last - first;
}

/* Returns true if a part is divided among all its clusters at once, by columns
 * or by a jagged partition, instead of by bisection. */
static bool
coordinate_bisection_is_for_jagged(const struct coordinate_bisection_work *work,
                                   const struct nw_grid_part *below)
{
    int depth = work->of.assignment->hierarchy->levels - 2 - below->level;

    if (work->cut.columns && depth == 0)
        return true;
    return depth < 8 && (work->cut.kind & NW_STENCIL_JAGGED << depth) &&
           below->to - below->from > 2;
}

/* Assigns the cells of a part that has one cluster. If the order of the
 * cluster's slots does not matter, assigns the cells to consecutive slots in
 * their order. Otherwise divides the cells among the fewest children of the
 * cluster that have enough slots. */
static void coordinate_bisection_enter(struct coordinate_bisection_work *work,
                                       struct nw_grid_part share)
{
    const struct nw_hierarchy *hierarchy = work->of.assignment->hierarchy;
    int level = share.level;
    int32_t slot = hierarchy->first[level][share.from];
    struct nw_grid_part below = share;

    if (!level || coordinate_bisection_is_alike(work, &share)) {
        if (!share.listed)
            nw_grid_part_assign(work->of.stencil, &share, slot, 1, work->slot);
        for (int32_t i = share.first; share.listed && i < share.end; i++)
            work->slot[work->of.cell[i]] = slot++;
        return;
    }
    below.level = level - 1;
    below.from = below.to = hierarchy->cluster[level - 1][slot];
    while (hierarchy->first[level - 1][below.to] - slot <
           share.end - share.first)
        below.to++;
    if (coordinate_bisection_is_for_jagged(work, &below))
        coordinate_bisection_follow_jagged(work, below);
    else
        coordinate_bisection_spread(work, below);
}

/* Returns how many cells of a part go to its clusters before cluster `middle`:
 * in proportion to their slots or, with NW_STENCIL_PACKED, as many as they have
 * slots. */
static int32_t
coordinate_bisection_share_left(const struct coordinate_bisection_work *work,
                                struct nw_grid_part share, int32_t middle)
{
    const int32_t *first = work->of.assignment->hierarchy->first[share.level];
    int32_t from = first[share.from];

    return nw_grid_part_left(share.end - share.first, first[share.to] - from,
                             first[middle] - from,
                             work->cut.kind & NW_STENCIL_PACKED);
}

/* Divides a part among all its clusters at once, by columns or by a jagged
 * partition; then each cluster's cells further. */
static void
coordinate_bisection_follow_jagged(struct coordinate_bisection_work *work,
                                   struct nw_grid_part share)
{
    struct nw_grid_part one = {.level = share.level, .listed = true};
    struct nw_grid_part_work *of = &work->of;
    int32_t *begin = NULL, clusters = share.to - share.from;
    bool top = share.level == of->assignment->hierarchy->levels - 2;

    work->status = nw_alloc((size_t)clusters + 1, sizeof *begin, &begin);
    for (int32_t c = 0; !work->status && c <= clusters; c++)
        begin[c] = share.first +
                   coordinate_bisection_share_left(work, share, share.from + c);
    nw_grid_part_list(of, &share);
    if (work->cut.columns && top)
        nw_stencil_follow_columns(of->stencil, work->cut.columns, of->cell);
    else if (!work->status)
        nw_grid_part_jagged(of, begin, clusters);
    for (int32_t c = 0; !work->status && c < clusters; c++) {
        one.from = share.from + c;
        one.to = one.from + 1;
        one.first = begin[c];
        one.end = begin[c + 1];
        coordinate_bisection_spread(work, one);
    }
    free(begin);
}

/* Keeps a part for the next round, in which any thread may cut it. */
static void coordinate_bisection_put_off(struct coordinate_bisection_work *work,
                                         struct nw_grid_part share)
{
    struct coordinate_bisection_waiting *waiting = work->waiting;

    pthread_mutex_lock(&waiting->lock);
    work->status = nw_grow(&waiting->share, &waiting->capacity,
                           waiting->count + 1, sizeof *waiting->share);
    if (!work->status)
        waiting->share[waiting->count++] = share;
    pthread_mutex_unlock(&waiting->lock);
}

static void coordinate_bisection_spread(struct coordinate_bisection_work *work,
                                        struct nw_grid_part share)
{
    struct nw_grid_part right = share;
    int32_t left, middle = share.from + (share.to - share.from) / 2;
    int32_t count = share.end - share.first;
    int kind = work->cut.kind;

    if (!count || work->status)
        return;
    if (count <= (share.listed ? work->later : work->later_box)) {
        coordinate_bisection_put_off(work, share);
        return;
    }
    if (share.to - share.from == 1) {
        coordinate_bisection_enter(work, share);
        return;
    }
    if (kind & NW_STENCIL_LAYERS)
        middle = nw_grid_part_split_layers(
            work->of.stencil, &share,
            work->of.assignment->hierarchy->first[share.level],
            kind & NW_STENCIL_PACKED);
    left = coordinate_bisection_share_left(work, share, middle);
    if (left > 0 && left < count)
        nw_grid_part_bisect(&work->of, &share, left, &right);
    share.end = right.first = share.first + left;
    share.to = right.from = middle;
    coordinate_bisection_spread(work, share);
    coordinate_bisection_spread(work, right);
}

/* Allocates layer[]; each thread needs its own. */
static nw_status coordinate_bisection_alloc_layer(struct nw_grid_part_work *of)
{
    int32_t largest = 0;

    for (int d = 0; d < of->stencil->dims; d++)
        if (of->stencil->size[d] > largest)
            largest = of->stencil->size[d];
    return nw_alloc_raw((size_t)largest + 1, sizeof *of->layer, &of->layer);
}

/* A round: parts that threads cut at the same time. */
struct coordinate_bisection_round {
    struct coordinate_bisection_work *work;
    struct nw_grid_part *share;
};

/* Cuts part `number` of a round until each of its parts is small enough for the
 * next round or has its slots. A part without a list of cells is fast to cut,
 * so it is cut down to its slots at once. A task for threads. */
static nw_status coordinate_bisection_run_job(void *user, int32_t number)
{
    const struct coordinate_bisection_round *round = user;
    struct coordinate_bisection_work mine = *round->work;

    mine.status = coordinate_bisection_alloc_layer(&mine.of);
    if (!round->share[number].listed)
        mine.later = mine.later_box = 0;
    coordinate_bisection_spread(&mine, round->share[number]);
    free(mine.of.layer);
    return mine.status;
}

/* Returns the largest size of a part, in cells, that is kept for the next
 * round: half of `size`, which was the limit in the round before. Returns 0, so
 * that no part is kept, if that half is below `least`. */
static int32_t coordinate_bisection_halved(int32_t size, int32_t least)
{
    return size / 2 < least ? 0 : size / 2;
}

/* Divides the whole grid, which begins as one box, among all slots in rounds.
 * In each round, threads cut the parts that were kept in the round before to
 * half their size. When there are enough parts for all threads, each part is
 * cut down to its slots. Parts without a list of cells are fast to cut, so the
 * first round cuts them to the smallest size. */
static nw_status
coordinate_bisection_cut_all(struct coordinate_bisection_work *work)
{
    const struct nw_assignment *assignment = work->of.assignment;
    struct coordinate_bisection_waiting waiting = {
        .lock = PTHREAD_MUTEX_INITIALIZER};
    int32_t all_cells = assignment->count,
            least = all_cells / NW_PARALLEL_RANGES;
    struct nw_grid_part all =
        nw_grid_part_box(work->of.stencil, work->of.stencil->size);

    all.to = 1;
    all.level = assignment->hierarchy->levels - 1;
    if (least < nw_tuned.threads.slots_min)
        least = all_cells;
    work->waiting = &waiting;
    work->later = coordinate_bisection_halved(all_cells, least);
    work->later_box = work->later ? least : 0;
    coordinate_bisection_spread(work, all);
    while (!work->status && waiting.count) {
        struct coordinate_bisection_round round = {work, waiting.share};
        int32_t count = (int32_t)waiting.count;

        waiting.share = NULL;
        waiting.count = waiting.capacity = 0;
        work->later = coordinate_bisection_halved(work->later, least);
        work->status = nw_parallel_try(coordinate_bisection_run_job, &round,
                                       count, assignment->threads);
        free(round.share);
    }
    free(waiting.share);
    return work->status;
}

/* Allocates the arrays. */
static nw_status coordinate_bisection_prepare(struct nw_grid_part_work *of)
{
    size_t n = (size_t)of->assignment->count;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY_RAW(n, of->cell), NW_ARRAY_RAW(n, of->order),
                     NW_ARRAY_RAW(n, of->best), NW_ARRAY(n, of->cut));

    if (!status)
        status = coordinate_bisection_alloc_layer(of);
    for (int d = 0; !status && d < of->stencil->dims; d++)
        status = nw_alloc_raw(n, sizeof *of->at[d], &of->at[d]);
    return status;
}

nw_status
nw_stencil_coordinate_bisection(const struct nw_assignment *assignment,
                                const struct nw_stencil *stencil,
                                struct nw_stencil_cut cut, int32_t *slot)
{
    struct coordinate_bisection_work work = {
        .of = {.assignment = assignment, .stencil = stencil},
        .cut = cut,
        .slot = slot};
    struct nw_grid_part_work *of = &work.of;
    nw_status status = coordinate_bisection_prepare(of);

    if (!status)
        status = coordinate_bisection_cut_all(&work);
    NW_FREE_ALL(of->cell, of->order, of->best, of->layer, of->cut);
    for (int d = 0; d < NW_STENCIL_DIMS; d++)
        free(of->at[d]);
    return status;
}
