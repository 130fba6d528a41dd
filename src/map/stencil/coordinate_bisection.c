/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a grid across for any tree: the cells of a cluster are shared out to its
 * children by halving the children again and again, the cells cut in the
 * dimension that lets the least bytes across. What is left of a large grid
 * after the first cuts is cut on several threads. */
#include "map/stencil/grid_part.h"
#include "base/array.h"
#include "base/crew.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define JOBS 16        /* a large grid is cut down to so many shares first */
#define JOB_LEAST 8192 /* cells */

struct cutting {
    struct nw_tile_work of;
    int way;                               /* of enum nw_tile_way, together */
    const struct nw_tile_columns *columns; /* of the root, or NULL */
    int32_t *seat;
    /* shares of at most so many cells wait for other threads: */
    int32_t later, later_box; /* listed ones, and others */
    struct waiting *waiting;
    nw_status status;
    nw_status *failed; /* where a failure is kept for all */
};

struct waiting {
    pthread_mutex_t lock;
    struct nw_tile_share *share;
    size_t count, capacity;
};

static void fail(struct cutting *work, nw_status status)
{
    work->status = status;
    __atomic_store_n(work->failed, status, __ATOMIC_RELAXED);
}

static void spread(struct cutting *work, struct nw_tile_share share);
static void follow_strips(struct cutting *work, struct nw_tile_share share);

/* Whether the share's cluster holds seats that are all as far apart. */
static bool is_alike(const struct cutting *work,
                     const struct nw_tile_share *share)
{
    const struct nw_tree *tree = work->of.layout->tree;
    int32_t first = tree->first[share->level][share->from];
    int32_t last = tree->first[share->level][share->from + 1] - 1;

    return share->level == 1 &&
           tree->cluster[0][last] - tree->cluster[0][first] == last - first;
}

static bool is_for_strips(const struct cutting *work,
                          const struct nw_tile_share *below)
{
    int depth = work->of.layout->tree->levels - 2 - below->level;

    if (work->columns && depth == 0)
        return true;
    return depth < 8 && (work->way & NW_TILE_STRIPS << depth) &&
           below->to - below->from > 2;
}

/* How many children of a cluster get its cells: as few as hold them or, evenly,
 * as few as can have the same number each. */
static int32_t children_of(const struct nw_tree *tree, int level,
                           int32_t cluster, int32_t count, bool evenly)
{
    int32_t seat = tree->first[level][cluster];
    int32_t last = tree->first[level][cluster + 1] - 1;
    int32_t from = tree->cluster[level - 1][seat];
    int32_t all = tree->cluster[level - 1][last] + 1 - from, least = 0;

    while (tree->first[level - 1][from + least] - seat < count)
        least++;
    for (int32_t c = least; evenly && c && c <= all; c++)
        if (count % c == 0)
            return c;
    return least;
}

bool nw_tiling_may_even(const struct nw_layout *layout)
{
    const struct nw_tree *tree = layout->tree;
    int32_t count = layout->count, cluster = 0, few, even;

    for (int level = tree->levels - 1; level > 0 && count; level--) {
        few = children_of(tree, level, cluster, count, false);
        even = children_of(tree, level, cluster, count, true);
        if (few != even)
            return true;
        if (count % few)
            return false;
        count /= few;
        cluster = tree->cluster[level - 1][tree->first[level][cluster]];
    }
    return false;
}

bool nw_tiling_may_spread(const struct nw_layout *layout)
{
    const struct nw_tree *tree = layout->tree;
    int32_t count = layout->count, cluster = 0;

    for (int level = tree->levels - 1; level > 0 && count; level--) {
        int32_t few = children_of(tree, level, cluster, count, false);
        int32_t first = tree->first[level][cluster];
        int32_t last = tree->first[level][cluster + 1] - 1;
        int32_t from = tree->cluster[level - 1][first];

        if (from + few <= tree->cluster[level - 1][last])
            return true;
        count = (count + few - 1) / few;
        cluster = from;
    }
    return false;
}

/* One cluster: on to its children. */
static void enter(struct cutting *work, struct nw_tile_share share)
{
    const struct nw_tree *tree = work->of.layout->tree;
    int level = share.level;
    int32_t count = share.end - share.first;
    const int32_t *first = tree->first[level];
    struct nw_tile_share below = share;

    if (!level || is_alike(work, &share)) {
        nw_tile_seat(&work->of, &share, first[share.from], work->seat);
        return;
    }
    below.level = level - 1;
    below.from = tree->cluster[level - 1][first[share.from]];
    below.to = below.from + children_of(tree, level, share.from, count,
                                        work->way & NW_TILE_EVENLY);
    if (is_for_strips(work, &below))
        follow_strips(work, below);
    else
        spread(work, below);
}

/* How many cells go to the first of two halves of the clusters. */
static int32_t share_left(const struct cutting *work,
                          struct nw_tile_share share, int32_t middle)
{
    const struct nw_tree *tree = work->of.layout->tree;
    bool packed = work->way & NW_TILE_PACKED;
    const int32_t *first = tree->first[share.level];
    int64_t room = first[share.to] - first[share.from];
    int64_t left_room = first[middle] - first[share.from];
    int64_t count = share.end - share.first;
    int64_t left = (count * left_room + room / 2) / room;

    if (packed)
        left = count;
    if (left > left_room)
        left = left_room;
    if (count - left > room - left_room)
        left = count - (room - left_room);
    return (int32_t)left;
}

/* Where the cells of each cluster begin. */
static nw_status share_out(const struct cutting *work,
                           struct nw_tile_share share, int32_t **begin)
{
    int32_t clusters = share.to - share.from;
    nw_status status = nw_alloc((size_t)clusters + 1, sizeof **begin, begin);

    for (int32_t c = 0; !status && c <= clusters; c++)
        (*begin)[c] = share.first + share_left(work, share, share.from + c);
    return status;
}

/* The cells of a share, piece after piece. */
static nw_status put_in_order(const struct cutting *work,
                              const struct nw_tile_share *share,
                              const int32_t *begin)
{
    const struct nw_tile_work *of = &work->of;

    if (!work->columns || share->level != of->layout->tree->levels - 2)
        return nw_tiling_strips(of->tiling, of->cell, begin,
                                share->to - share->from);
    nw_tiling_follow(of->tiling, work->columns, of->cell);
    return NW_OK;
}

/* All clusters of a share at once. */
static void follow_strips(struct cutting *work, struct nw_tile_share share)
{
    struct nw_tile_share one = {.level = share.level, .listed = true};
    struct nw_tile_work *of = &work->of;
    int32_t *begin = NULL, clusters = share.to - share.from;
    nw_status status = share_out(work, share, &begin);

    nw_tile_list(of, &share);
    if (!status)
        status = put_in_order(work, &share, begin);
    if (status)
        fail(work, status);
    for (int32_t c = 0; !status && c < clusters; c++) {
        one.from = share.from + c;
        one.to = one.from + 1;
        one.first = begin[c];
        one.end = begin[c + 1];
        spread(work, one);
    }
    free(begin);
}

/* Where to part the clusters: in the middle, or where whole layers of a box
 * part with the least bytes across for what both sides hold. */
static int32_t choose_middle(const struct cutting *work,
                             const struct nw_tile_share *share)
{
    int32_t clusters = share->to - share->from;
    int32_t best = share->from + clusters / 2;
    double least = -1;

    if (!(work->way & NW_TILE_LAYERS) || !share->box[0] || clusters < 3)
        return best;
    for (int32_t k = (clusters + 2) / 3; k <= clusters - clusters / 3; k++)
        for (int d = 0; d < work->of.tiling->dims; d++) {
            int32_t left = share_left(work, *share, share->from + k);
            int32_t layers = nw_tile_layers(&work->of, share, left, d);
            double cut;

            if (layers <= 0 || layers >= share->box[d])
                continue;
            cut = nw_tile_across(&work->of, share, layers, d) / k /
                  (clusters - k);
            if (least >= 0 && cut >= least)
                continue;
            least = cut;
            best = share->from + k;
        }
    return best;
}

/* Waits for the next round. */
static void put_off(struct cutting *work, struct nw_tile_share share)
{
    struct waiting *waiting = work->waiting;
    nw_status status;

    pthread_mutex_lock(&waiting->lock);
    status = nw_grow(&waiting->share, &waiting->capacity, waiting->count + 1,
                     sizeof *waiting->share);
    if (!status)
        waiting->share[waiting->count++] = share;
    pthread_mutex_unlock(&waiting->lock);
    if (status)
        fail(work, status);
}

static void spread(struct cutting *work, struct nw_tile_share share)
{
    struct nw_tile_share right = share;
    int32_t left, middle, count = share.end - share.first;

    if (!count || work->status)
        return;
    if (count <= (share.listed ? work->later : work->later_box)) {
        put_off(work, share);
        return;
    }
    if (share.to - share.from == 1) {
        enter(work, share);
        return;
    }
    middle = choose_middle(work, &share);
    left = share_left(work, share, middle);
    if (left > 0 && left < count)
        nw_tile_part(&work->of, &share, left, &right);
    share.end = right.first = share.first + left;
    share.to = right.from = middle;
    spread(work, share);
    spread(work, right);
}

static nw_status alloc_layer(struct nw_tile_work *of)
{
    int32_t largest = 0;

    for (int d = 0; d < of->tiling->dims; d++)
        if (of->tiling->size[d] > largest)
            largest = of->tiling->size[d];
    return nw_alloc_raw((size_t)largest + 1, sizeof *of->layer, &of->layer);
}

struct round {
    struct cutting *work;
    struct nw_tile_share *share;
};

static void run_job(void *user, int32_t number)
{
    const struct round *round = user;
    struct cutting mine = *round->work;
    nw_status status = alloc_layer(&mine.of);

    mine.failed = &round->work->status;
    if (!round->share[number].listed)
        mine.later = mine.later_box = 0;
    if (!status)
        spread(&mine, round->share[number]);
    else
        fail(&mine, status);
    free(mine.of.layer);
}

/* The next size at which shares wait; 0: none does. */
static int32_t halved(int32_t size, int32_t least)
{
    return size / 2 < least ? 0 : size / 2;
}

/* Listed shares are cut to half the size, then these, several at a time, to
 * half of that, until enough are left that each is done at once. Others take no
 * time to part. */
static nw_status run_rounds(struct cutting *work, struct nw_tile_share all)
{
    struct waiting waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};
    int32_t all_cells = work->of.layout->count, least = all_cells / JOBS;

    if (least < JOB_LEAST)
        least = all_cells;
    work->waiting = &waiting;
    work->later = halved(all_cells, least);
    work->later_box = work->later ? least : 0;
    spread(work, all);
    while (!work->status && waiting.count) {
        struct round round = {work, waiting.share};
        int32_t count = (int32_t)waiting.count;

        waiting.share = NULL;
        waiting.count = waiting.capacity = 0;
        work->later = halved(work->later, least);
        nw_crew_run(run_job, &round, count, work->of.layout->threads);
        free(round.share);
    }
    free(waiting.share);
    return work->status;
}

static nw_status cut_all(struct cutting *work)
{
    const struct nw_layout *layout = work->of.layout;
    const struct nw_tiling *tiling = work->of.tiling;
    struct nw_tile_share all = {
        .end = layout->count, .to = 1, .level = layout->tree->levels - 1};

    memcpy(all.box, tiling->size, sizeof all.box);
    for (int d = 0; d < tiling->dims; d++)
        all.along[d] = (uint8_t)d;
    return run_rounds(work, all);
}

static nw_status prepare(struct nw_tile_work *of)
{
    size_t n = (size_t)of->layout->count;
    int32_t **arrays[] = {&of->cell, &of->order, &of->best};
    nw_status status = alloc_layer(of);

    for (size_t i = 0; !status && i < sizeof arrays / sizeof *arrays; i++)
        status = nw_alloc_raw(n, sizeof **arrays[i], arrays[i]);
    for (int d = 0; !status && d < of->tiling->dims; d++)
        status = nw_alloc_raw(n, sizeof *of->at[d], &of->at[d]);
    if (!status)
        status = nw_alloc(n, sizeof *of->cut, &of->cut);
    return status;
}

static nw_status run(struct cutting *work)
{
    struct nw_tile_work *of = &work->of;
    nw_status status = prepare(of);

    work->failed = &work->status;
    if (!status)
        status = cut_all(work);
    free(of->cell);
    free(of->order);
    free(of->best);
    free(of->layer);
    free(of->cut);
    for (int d = 0; d < NW_TILE_DIMS; d++)
        free(of->at[d]);
    return status;
}

nw_status nw_tiling_cut(const struct nw_layout *layout,
                        const struct nw_tiling *tiling, int way, int32_t *seat)
{
    struct cutting work = {
        .of = {.layout = layout, .tiling = tiling}, .way = way, .seat = seat};

    return run(&work);
}

nw_status nw_tiling_cut_columns(const struct nw_layout *layout,
                                const struct nw_tiling *tiling,
                                const struct nw_tile_columns *columns,
                                int32_t *seat)
{
    struct cutting work = {.of = {.layout = layout, .tiling = tiling},
                           .columns = columns,
                           .seat = seat};

    return run(&work);
}
