/* SPDX-License-Identifier: BSD-3-Clause */
/* Boxes within boxes: a dynamic program over the levels of the tree and the
 * shapes of boxes. A box that lies in one cluster is cut into equal boxes, one
 * for each cluster of the level below, at most as many as there are; every
 * shape that divides it is tried. */
#include "map/stencil/grid.h"
#include "base/array.h"
#include "base/crew.h"

#include <stdlib.h>
#include <string.h>

/* The best way on from a box in a cluster of a level. */
struct state {
    int level;
    int32_t shape[NW_TILE_DIMS], part[NW_TILE_DIMS];
    double cost; /* bytes x distance inside the box, each pair once */
};

struct boxes {
    const struct nw_tiling *tiling;
    const struct nw_tree *tree;
    struct state *state;
    size_t count, capacity;
    int32_t arity[NW_TREE_LEVELS]; /* clusters of the level below in one */
    nw_status status;
    int32_t *seat;
    int64_t cells; /* all */
    int32_t threads;
};

static int64_t volume(const int32_t *shape, int dims)
{
    int64_t cells = 1;

    for (int d = 0; d < dims; d++)
        cells *= shape[d];
    return cells;
}

static struct state *find_state(struct boxes *work, int level,
                                const int32_t *shape)
{
    for (size_t i = 0; i < work->count; i++)
        if (work->state[i].level == level &&
            !memcmp(work->state[i].shape, shape, sizeof work->state[i].shape))
            return &work->state[i];
    return NULL;
}

static double solve(struct boxes *work, int level, const int32_t *shape);

/* Cuts the box of `state` into boxes of its `part`, if that may be. */
static void try_part(struct boxes *work, struct state *best,
                     const int32_t *part)
{
    int dims = work->tiling->dims, level = best->level;
    int64_t cells = volume(part, dims);
    int64_t parts = volume(best->shape, dims) / cells;
    double cost;

    if (parts > work->arity[level] || cells > work->tree->first[level - 1][1])
        return;
    cost = work->tree->distance[level] *
           (nw_tiling_inside(work->tiling, best->shape) -
            (double)parts * nw_tiling_inside(work->tiling, part));
    if (best->cost >= 0 && cost >= best->cost)
        return;
    cost += (double)parts * solve(work, level - 1, part);
    if (cost < 0 || (best->cost >= 0 && cost >= best->cost))
        return;
    best->cost = cost;
    memcpy(best->part, part, sizeof best->part);
}

static void try_dims(struct boxes *work, struct state *best, int32_t *part,
                     int d)
{
    if (d == work->tiling->dims) {
        try_part(work, best, part);
        return;
    }
    for (int32_t size = 1; size <= best->shape[d]; size++) {
        if (best->shape[d] % size)
            continue;
        part[d] = size;
        try_dims(work, best, part, d + 1);
    }
}

#define NO_WAY 1e300

/* Bytes x distance inside a box that lies in a cluster of `level`. */
static double solve(struct boxes *work, int level, const int32_t *shape)
{
    struct state best = {.level = level, .cost = -1};
    struct state *known = find_state(work, level, shape);
    int32_t part[NW_TILE_DIMS] = {0};

    if (known)
        return known->cost;
    memcpy(best.shape, shape, sizeof best.shape);
    if (level == 0)
        best.cost = volume(shape, work->tiling->dims) <= work->tree->first[0][1]
                        ? 0
                        : NO_WAY;
    else
        try_dims(work, &best, part, 0);
    if (best.cost < 0)
        best.cost = NO_WAY;
    if (!work->status)
        work->status = nw_grow(&work->state, &work->capacity, work->count + 1,
                               sizeof best);
    if (!work->status)
        work->state[work->count++] = best;
    return best.cost;
}

static bool is_even(struct boxes *work)
{
    const struct nw_tree *tree = work->tree;

    for (int l = 0; l < tree->levels; l++) {
        const int32_t *first = tree->first[l];

        for (int32_t c = 1; c < tree->count[l]; c++)
            if (first[c + 1] - first[c] != first[1])
                return false;
        if (l)
            work->arity[l] = tree->count[l - 1] / tree->count[l];
    }
    return true;
}

/* A box and where it goes. */
struct box {
    struct boxes *work;
    const struct state *state; /* how it is cut */
    const struct state *part;  /* how its parts are */
    int32_t corner[NW_TILE_DIMS], first;
};

/* The cells of a box, `apart` seats from each other. */
static void seat_cells(const struct box *box, int32_t apart)
{
    const struct nw_tiling *tiling = box->work->tiling;
    const int32_t *shape = box->state->shape;
    int32_t at[NW_TILE_DIMS] = {0}, p = 0, seat = box->first;
    int last = tiling->dims - 1, d;

    for (d = 0; d <= last; d++)
        p += box->corner[d] * tiling->stride[d];
    do {
        for (int32_t i = 0; i < shape[last]; i++, seat += apart)
            box->work->seat[p + i * tiling->stride[last]] = seat;
        for (d = last - 1; d >= 0; d--) {
            p += tiling->stride[d];
            if (++at[d] < shape[d])
                break;
            p -= shape[d] * tiling->stride[d];
            at[d] = 0;
        }
    } while (d >= 0);
}

static int32_t parts_of(const struct box *box)
{
    int dims = box->work->tiling->dims;

    return (int32_t)(volume(box->state->shape, dims) /
                     volume(box->state->part, dims));
}

/* Seats from one part to the next. */
static int32_t room_of(const struct box *box)
{
    int level = box->state->level;

    return level ? box->work->tree->first[level - 1][1] : 1;
}

static void seat_box(struct box *box);

/* One part of a box; the last dimension is that of the next one. */
static void seat_part(void *user, int32_t number)
{
    const struct box *whole = user;
    const struct state *state = whole->state;
    struct box part = {whole->work, whole->part, NULL, {0}, 0};

    part.first = whole->first + number * room_of(whole);
    for (int d = whole->work->tiling->dims - 1; d >= 0; d--) {
        int32_t parts = state->shape[d] / state->part[d];

        part.corner[d] = whole->corner[d] + number % parts * state->part[d];
        number /= parts;
    }
    seat_box(&part);
}

/* The whole grid is shared out to threads part by part. */
static void seat_box(struct box *box)
{
    const struct state *state = box->state;
    int dims = box->work->tiling->dims;

    if (!state->level || volume(state->part, dims) == 1) {
        seat_cells(box, room_of(box));
        return;
    }
    box->part = find_state(box->work, state->level - 1, state->part);
    if (volume(state->shape, dims) == box->work->cells)
        nw_crew_run(seat_part, box, parts_of(box), box->work->threads);
    else
        for (int32_t i = 0; i < parts_of(box); i++)
            seat_part(box, i);
}

nw_status nw_tiling_boxes(const struct nw_layout *layout,
                          const struct nw_tiling *tiling, int32_t *seat,
                          bool *done)
{
    struct boxes work = {.tiling = tiling,
                         .tree = layout->tree,
                         .seat = seat,
                         .cells = layout->count,
                         .threads = layout->threads};
    struct box all = {.work = &work};
    double cost = NO_WAY;
    int top = layout->tree->levels - 1;

    *done = false;
    if (is_even(&work))
        cost = solve(&work, top, tiling->size);
    if (!work.status && cost < NO_WAY) {
        all.state = find_state(&work, top, tiling->size);
        seat_box(&all);
        *done = true;
    }
    free(work.state);
    return work.status;
}
