/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a grid across for any tree: the cells of a cluster are shared out to its
 * children by halving the children again and again, the cells cut in the
 * dimension that lets the least bytes across; the last layer is taken in part
 * where sizes ask for it. What is left of a large grid after the first cuts is
 * cut on several threads. */
#include "map/tile.h"
#include "base/array.h"
#include "base/crew.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define JOBS 16        /* a large grid is cut down to so many shares first */
#define JOB_LEAST 8192 /* cells */

/* Cells first .. end - 1 and clusters from .. to - 1 of a level. */
struct share {
    int32_t first, end, from, to;
    int level;
    int32_t box[NW_TILE_DIMS]; /* its cells fill one; box[0] 0: they do not */
};

struct cutting {
    const struct nw_layout *layout;
    int way; /* of enum nw_tile_way, together */
    const struct nw_tiling *tiling;
    int32_t *cell;  /* [count] processes, those of a piece together */
    int32_t *order; /* [count] for sorting */
    int32_t *best;  /* [count] the best order so far */
    int32_t *layer; /* [largest size + 1] */
    int32_t *piece; /* [count] where the piece ends that a process is in */
    int32_t *side;  /* [count] */
    int32_t *seat;
    int32_t *at[NW_TILE_DIMS]; /* [count] coordinates of each process */
    int32_t later; /* shares of at most so many cells wait for other threads */
    struct waiting *waiting;
    nw_status status;
    nw_status *failed; /* where a failure is kept for all */
};

struct waiting {
    pthread_mutex_t lock;
    struct share *share;
    size_t count, capacity;
};

static void fail(struct cutting *work, nw_status status)
{
    work->status = status;
    __atomic_store_n(work->failed, status, __ATOMIC_RELAXED);
}

/* Cells first .. end - 1 by coordinate d, in the order they are in else. */
static void sort_cells(struct cutting *work, int32_t first, int32_t end, int d)
{
    int32_t size = work->tiling->size[d];

    memset(work->layer, 0, ((size_t)size + 1) * sizeof *work->layer);
    for (int32_t i = first; i < end; i++)
        work->layer[work->at[d][work->cell[i]] + 1]++;
    for (int32_t x = 0; x < size; x++)
        work->layer[x + 1] += work->layer[x];
    for (int32_t i = first; i < end; i++) {
        int32_t x = work->at[d][work->cell[i]];

        work->order[first + work->layer[x]++] = work->cell[i];
    }
}

/* Another thread may write it for cells of another piece: an end that is never
 * that of a piece here. */
static inline int32_t piece_of(const struct cutting *work, int32_t p)
{
    return __atomic_load_n(&work->piece[p], __ATOMIC_RELAXED);
}

/* The longest step in a dimension; none bounds it where steps wrap around. */
static int32_t reach_of(const struct nw_tiling *tiling, int d)
{
    int32_t reach = tiling->periodic[d] ? tiling->size[d] : 0;

    for (int i = 0; i < tiling->steps; i++)
        if (abs(tiling->step[i][d]) > reach)
            reach = abs(tiling->step[i][d]);
    return reach;
}

/* Where the layer of coordinate x begins in the order of sort_cells. */
static int32_t layer_begin(const struct cutting *work, int32_t x)
{
    return x > 0 ? work->layer[x - 1] : 0;
}

/* Bytes from the first `left` cells of the order by coordinate d to the others;
 * only layers near the cut are looked at. */
static double across(struct cutting *work, struct share share, int32_t left,
                     int d)
{
    const struct nw_layout *layout = work->layout;
    const int32_t *order = work->order + share.first;
    int32_t size = work->tiling->size[d], reach = reach_of(work->tiling, d);
    int32_t cut = work->at[d][order[left]];
    int32_t begin = layer_begin(work, cut - 2 * reach);
    int32_t end =
        layer_begin(work, cut + reach + 1 < size ? cut + reach + 1 : size);
    double sum = 0;

    for (int32_t i = begin; i < end; i++)
        work->side[order[i]] = i < left;
    for (int32_t i = layer_begin(work, cut - reach); i < left; i++) {
        int32_t p = order[i];

        for (size_t b = layout->row[p]; b < layout->row[p + 1]; b++) {
            int32_t peer = layout->bond[b].peer;

            if (piece_of(work, peer) == work->piece[p] && !work->side[peer])
                sum += layout->bond[b].bytes;
        }
    }
    return sum;
}

/* Where `left` cells of a box are whole layers of dimension d, the steps alone
 * say what is cut; how many layers, or 0. */
static int32_t whole_layers(const struct cutting *work,
                            const struct share *share, int32_t left, int d)
{
    const struct nw_tiling *tiling = work->tiling;
    int32_t layer;

    if (!share->box[0] || !tiling->uniform || tiling->periodic[d])
        return 0;
    layer = (share->end - share->first) / share->box[d];
    return left % layer ? 0 : left / layer;
}

static double across_layers(const struct cutting *work,
                            const struct share *share, int32_t layers, int d)
{
    int32_t part[NW_TILE_DIMS];
    double sum = nw_tiling_inside(work->tiling, share->box);

    memcpy(part, share->box, sizeof part);
    part[d] = layers;
    sum -= nw_tiling_inside(work->tiling, part);
    part[d] = share->box[d] - layers;
    return sum - nw_tiling_inside(work->tiling, part);
}

/* Cuts the cells in the best dimension, which is returned. */
static int cut_piece(struct cutting *work, struct share share, int32_t left)
{
    size_t count = (size_t)(share.end - share.first);
    int chosen = -1, sorted = -1;
    double least = -1;

    for (int d = 0; d < work->tiling->dims; d++) {
        int32_t layers = whole_layers(work, &share, left, d);
        double cut;

        if (layers) {
            cut = across_layers(work, &share, layers, d);
        } else {
            sort_cells(work, share.first, share.end, d);
            cut = across(work, share, left, d);
        }
        if (least >= 0 && cut >= least)
            continue;
        least = cut;
        chosen = d;
        if (layers)
            continue;
        sorted = d;
        memcpy(work->best + share.first, work->order + share.first,
               count * sizeof *work->best);
    }
    if (sorted != chosen)
        sort_cells(work, share.first, share.end, chosen);
    memcpy(work->cell + share.first,
           (sorted == chosen ? work->best : work->order) + share.first,
           count * sizeof *work->cell);
    for (int32_t i = share.first; i < share.first + left; i++)
        __atomic_store_n(&work->piece[work->cell[i]], share.first + left,
                         __ATOMIC_RELAXED);
    return chosen;
}

/* The boxes of both halves, where they are some. */
static void cut_box(const struct share *whole, int d, struct share *left,
                    struct share *right)
{
    int32_t layer, cells = left->end - left->first;

    if (!whole->box[0])
        return;
    layer = (whole->end - whole->first) / whole->box[d];
    if (cells % layer) {
        left->box[0] = right->box[0] = 0;
        return;
    }
    left->box[d] = cells / layer;
    right->box[d] = whole->box[d] - left->box[d];
}

static void spread(struct cutting *work, struct share share);
static void follow_strips(struct cutting *work, struct share share);

/* Whether the share's cluster holds seats that are all as far apart. */
static bool is_alike(const struct cutting *work, const struct share *share)
{
    const struct nw_tree *tree = work->layout->tree;
    int32_t first = tree->first[share->level][share->from];
    int32_t last = tree->first[share->level][share->from + 1] - 1;

    return share->level == 1 &&
           tree->cluster[0][last] - tree->cluster[0][first] == last - first;
}

static bool is_for_strips(const struct cutting *work, const struct share *below)
{
    int depth = work->layout->tree->levels - 2 - below->level;

    return depth < 8 && (work->way & NW_TILE_STRIPS << depth) &&
           below->to - below->from > 2;
}

/* One cluster: on to its children, as few as hold the cells. */
static void enter(struct cutting *work, struct share share)
{
    const struct nw_tree *tree = work->layout->tree;
    int level = share.level;
    int32_t count = share.end - share.first;
    const int32_t *first = tree->first[level];
    struct share below = share;

    if (!level || is_alike(work, &share)) {
        for (int32_t i = 0; i < count; i++)
            work->seat[work->cell[share.first + i]] = first[share.from] + i;
        return;
    }
    below.level = level - 1;
    below.from = tree->cluster[level - 1][first[share.from]];
    below.to = below.from;
    while (tree->first[level - 1][below.to] - first[share.from] < count)
        below.to++;
    if (is_for_strips(work, &below))
        follow_strips(work, below);
    else
        spread(work, below);
}

/* How many cells go to the first of two halves of the clusters. */
static int32_t share_left(const struct cutting *work, struct share share,
                          int32_t middle)
{
    const struct nw_tree *tree = work->layout->tree;
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
static nw_status share_out(const struct cutting *work, struct share share,
                           int32_t **begin)
{
    int32_t clusters = share.to - share.from;
    nw_status status = nw_alloc((size_t)clusters + 1, sizeof **begin, begin);

    for (int32_t c = 0; !status && c <= clusters; c++)
        (*begin)[c] = share.first + share_left(work, share, share.from + c);
    return status;
}

/* All clusters of a share at once. */
static void follow_strips(struct cutting *work, struct share share)
{
    struct share one = {.level = share.level};
    int32_t *begin = NULL, clusters = share.to - share.from;
    nw_status status = share_out(work, share, &begin);

    if (!status)
        status = nw_tiling_strips(work->tiling, work->cell, begin, clusters);
    if (status)
        fail(work, status);
    for (int32_t c = 0; !status && c < clusters; c++) {
        one.from = share.from + c;
        one.to = one.from + 1;
        one.first = begin[c];
        one.end = begin[c + 1];
        for (int32_t i = one.first; i < one.end; i++)
            __atomic_store_n(&work->piece[work->cell[i]], one.end,
                             __ATOMIC_RELAXED);
        spread(work, one);
    }
    free(begin);
}

/* Where to part the clusters: in the middle, or where whole layers of a box
 * part with the least bytes across for what both sides hold. */
static int32_t choose_middle(const struct cutting *work,
                             const struct share *share)
{
    int32_t clusters = share->to - share->from;
    int32_t best = share->from + clusters / 2;
    double least = -1;

    if (!(work->way & NW_TILE_LAYERS) || !share->box[0] || clusters < 3)
        return best;
    for (int32_t k = (clusters + 2) / 3; k <= clusters - clusters / 3; k++)
        for (int d = 0; d < work->tiling->dims; d++) {
            int32_t left = share_left(work, *share, share->from + k);
            int32_t layers = whole_layers(work, share, left, d);
            double cut;

            if (layers <= 0 || layers >= share->box[d])
                continue;
            cut = across_layers(work, share, layers, d) / k / (clusters - k);
            if (least >= 0 && cut >= least)
                continue;
            least = cut;
            best = share->from + k;
        }
    return best;
}

/* Waits for the next round. */
static void put_off(struct cutting *work, struct share share)
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

static void spread(struct cutting *work, struct share share)
{
    struct share right = share, whole = share;
    int32_t left, middle;

    if (share.first == share.end || work->status)
        return;
    if (share.end - share.first <= work->later) {
        put_off(work, share);
        return;
    }
    if (share.to - share.from == 1) {
        enter(work, share);
        return;
    }
    middle = choose_middle(work, &share);
    left = share_left(work, share, middle);
    share.to = right.from = middle;
    share.end = right.first = share.first + left;
    if (left > 0 && left < whole.end - whole.first)
        cut_box(&whole, cut_piece(work, whole, left), &share, &right);
    spread(work, share);
    spread(work, right);
}

static nw_status alloc_layer(struct cutting *work)
{
    int32_t largest = 0;

    for (int d = 0; d < work->tiling->dims; d++)
        if (work->tiling->size[d] > largest)
            largest = work->tiling->size[d];
    return nw_alloc_raw((size_t)largest + 1, sizeof *work->layer, &work->layer);
}

struct round {
    struct cutting *work;
    struct share *share;
};

static void run_job(void *user, int32_t number)
{
    const struct round *round = user;
    struct cutting mine = *round->work;
    nw_status status = alloc_layer(&mine);

    mine.failed = &round->work->status;
    if (!status)
        spread(&mine, round->share[number]);
    else
        fail(&mine, status);
    free(mine.layer);
}

/* The next size at which shares wait; 0: none does. */
static int32_t halved(int32_t size, int32_t least)
{
    return size / 2 < least ? 0 : size / 2;
}

/* Shares are cut to half the size, then these, several at a time, to half of
 * that, until enough are left that each is done at once. */
static nw_status run_rounds(struct cutting *work, struct share all)
{
    struct waiting waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};
    int32_t least = work->layout->count / JOBS;

    if (least < JOB_LEAST)
        least = work->layout->count;
    work->waiting = &waiting;
    work->later = halved(work->layout->count, least);
    spread(work, all);
    while (!work->status && waiting.count) {
        struct round round = {work, waiting.share};
        int32_t count = (int32_t)waiting.count;

        waiting.share = NULL;
        waiting.count = waiting.capacity = 0;
        work->later = halved(work->later, least);
        nw_crew_run(run_job, &round, count, work->layout->threads);
        free(round.share);
    }
    free(waiting.share);
    return work->status;
}

static nw_status cut_all(struct cutting *work)
{
    const struct nw_layout *layout = work->layout;
    struct share all = {0, layout->count, 0, 1, layout->tree->levels - 1, {0}};

    memcpy(all.box, work->tiling->size, sizeof all.box);
    return run_rounds(work, all);
}

/* Everything is one piece at first. */
static void fill_part(void *user, int32_t part)
{
    const struct cutting *work = user;
    int64_t n = work->layout->count;
    int32_t end = (int32_t)(n * (part + 1) / JOBS);

    for (int32_t p = (int32_t)(n * part / JOBS); p < end; p++) {
        work->cell[p] = p;
        work->piece[p] = (int32_t)n;
        for (int d = 0; d < work->tiling->dims; d++)
            work->at[d][p] = nw_tiling_at(work->tiling, p, d);
    }
}

static nw_status prepare(struct cutting *work)
{
    size_t n = (size_t)work->layout->count;
    nw_status status = nw_alloc_raw(n, sizeof *work->cell, &work->cell);

    if (!status)
        status = nw_alloc_raw(n, sizeof *work->order, &work->order);
    if (!status)
        status = nw_alloc_raw(n, sizeof *work->best, &work->best);
    if (!status)
        status = alloc_layer(work);
    if (!status)
        status = nw_alloc_raw(n, sizeof *work->piece, &work->piece);
    if (!status)
        status = nw_alloc_raw(n, sizeof *work->side, &work->side);
    for (int d = 0; !status && d < work->tiling->dims; d++)
        status = nw_alloc_raw(n, sizeof *work->at[d], &work->at[d]);
    if (!status)
        nw_crew_run(fill_part, work, JOBS, work->layout->threads);
    return status;
}

nw_status nw_tiling_cut(const struct nw_layout *layout,
                        const struct nw_tiling *tiling, int way, int32_t *seat)
{
    struct cutting work = {
        .layout = layout, .way = way, .tiling = tiling, .seat = seat};
    nw_status status;

    work.failed = &work.status;
    status = prepare(&work);

    if (!status)
        status = cut_all(&work);
    free(work.cell);
    free(work.order);
    free(work.best);
    free(work.layer);
    free(work.piece);
    free(work.side);
    for (int d = 0; d < NW_TILE_DIMS; d++)
        free(work.at[d]);
    return status;
}
