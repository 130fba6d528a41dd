/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested boxes, by a dynamic program over the levels of the tree and the shapes
 * of boxes. The cells of a cluster form a box, which is cut into equal boxes,
 * at most one for each child of the cluster. Every shape whose sizes divide
 * those of the box is tried. The best cut of each shape at each level is
 * remembered. */
#include "map/stencil/grid_part.h"
#include "base/array.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* The best cut of a box of size shape[] on a cluster of level `level`: into
 * boxes of size part[]. */
struct nested_boxes_state {
    int level;
    int32_t shape[NW_STENCIL_DIMS], part[NW_STENCIL_DIMS];
    double cost; /* bytes x distance inside the box; each pair of cells counts
                    once */
};

/* State of the search and of the assignment. */
struct nested_boxes_work {
    const struct nw_stencil *stencil;
    const struct nw_assignment *assignment;
    const struct nw_hierarchy *hierarchy;
    struct nested_boxes_state *state; /* [count] best cuts found so far */
    size_t count, capacity;
    /* number of children of each cluster of a level */
    int32_t arity[NW_HIERARCHY_LEVELS];
    nw_status status;
    int32_t *slot; /* [cells] out: slot of each process */
};

/* Returns the number of cells in a box of size shape[dims]. */
static int64_t nested_boxes_volume(const int32_t *shape, int dims)
{
    int64_t cells = 1;

    for (int d = 0; d < dims; d++)
        cells *= shape[d];
    return cells;
}

/* Returns the best cut of a box of size shape[] at a level; NULL if it was not
 * computed yet. The pointer becomes invalid when another shape is computed. */
static struct nested_boxes_state *
nested_boxes_find_state(struct nested_boxes_work *work, int level,
                        const int32_t *shape)
{
    for (size_t i = 0; i < work->count; i++)
        if (work->state[i].level == level &&
            !memcmp(work->state[i].shape, shape, sizeof work->state[i].shape))
            return &work->state[i];
    return NULL;
}

static double nested_boxes_solve(struct nested_boxes_work *work, int level,
                                 const int32_t *shape);

/* Tries to cut the box of `best` into boxes of size part[], one per child
 * cluster, and keeps that cut in `best` if it costs less than the best so far.
 * Does nothing if these boxes are too large or too many. */
static void nested_boxes_try_part(struct nested_boxes_work *work,
                                  struct nested_boxes_state *best,
                                  const int32_t *part)
{
    int dims = work->stencil->dims, level = best->level;
    int64_t cells = nested_boxes_volume(part, dims);
    int64_t parts = nested_boxes_volume(best->shape, dims) / cells;
    double cost;

    if (parts > work->arity[level] ||
        cells > work->hierarchy->first[level - 1][1])
        return;
    cost = work->hierarchy->distance[level] *
           (nw_stencil_inside(work->stencil, best->shape) -
            (double)parts * nw_stencil_inside(work->stencil, part));
    if (best->cost >= 0 && cost >= best->cost)
        return;
    cost += (double)parts * nested_boxes_solve(work, level - 1, part);
    if (cost < 0 || (best->cost >= 0 && cost >= best->cost))
        return;
    best->cost = cost;
    memcpy(best->part, part, sizeof best->part);
}

/* Tries all sizes part[d] .. part[dims - 1] that divide the sizes of the box of
 * `best`; part[0] .. part[d - 1] are already chosen. */
static void nested_boxes_try_dims(struct nested_boxes_work *work,
                                  struct nested_boxes_state *best,
                                  int32_t *part, int d)
{
    if (d == work->stencil->dims) {
        nested_boxes_try_part(work, best, part);
        return;
    }
    for (int32_t size = 1; size <= best->shape[d]; size++) {
        if (best->shape[d] % size)
            continue;
        part[d] = size;
        nested_boxes_try_dims(work, best, part, d + 1);
    }
}

#define NO_WAY 1e300 /* cost of a box that fits no cluster of a level */

/* Computes the best cut of a box of size shape[] on a cluster of `level`.
 * Returns the bytes x distance inside the box; NO_WAY if the box does not fit.
 */
static double nested_boxes_solve(struct nested_boxes_work *work, int level,
                                 const int32_t *shape)
{
    struct nested_boxes_state best = {.level = level, .cost = -1};
    struct nested_boxes_state *known =
        nested_boxes_find_state(work, level, shape);
    int32_t part[NW_STENCIL_DIMS] = {0};

    if (known)
        return known->cost;
    memcpy(best.shape, shape, sizeof best.shape);
    if (level == 0)
        best.cost = nested_boxes_volume(shape, work->stencil->dims) <=
                            work->hierarchy->first[0][1]
                        ? 0
                        : NO_WAY;
    else
        nested_boxes_try_dims(work, &best, part, 0);
    if (best.cost < 0)
        best.cost = NO_WAY;
    if (!work->status)
        work->status = nw_grow(&work->state, &work->capacity, work->count + 1,
                               sizeof best);
    if (!work->status)
        work->state[work->count++] = best;
    return best.cost;
}

/* Sets arity[]. Returns false if two clusters of a level differ in their number
 * of slots. */
static bool nested_boxes_is_even(struct nested_boxes_work *work)
{
    const struct nw_hierarchy *hierarchy = work->hierarchy;

    for (int l = 0; l < hierarchy->levels; l++) {
        const int32_t *first = hierarchy->first[l];

        for (int32_t c = 1; c < hierarchy->count[l]; c++)
            if (first[c + 1] - first[c] != first[1])
                return false;
        if (l)
            work->arity[l] = hierarchy->count[l - 1] / hierarchy->count[l];
    }
    return true;
}

/* A box of the grid with its lowest coordinates (`corner`) and its first slot.
 */
struct nested_boxes_box {
    struct nested_boxes_work *work;
    const struct nested_boxes_state *state; /* best cut of this box */
    const struct nested_boxes_state *part;  /* best cut of the boxes into which
                                               it is cut */
    int32_t corner[NW_STENCIL_DIMS], first;
};

/* Returns how many slots lie between the first slot of one part of a box and
 * that of its next part. */
static int32_t nested_boxes_slots_of(const struct nested_boxes_box *box)
{
    int level = box->state->level;

    return level ? box->work->hierarchy->first[level - 1][1] : 1;
}

static void nested_boxes_assign_box(struct nested_boxes_box *box);

/* Assigns part `number` of the box `user` to slots. The numbers of parts
 * increase along the last dimension first. A task for threads. */
static void nested_boxes_assign_part(void *user, int32_t number)
{
    const struct nested_boxes_box *whole = user;
    const struct nested_boxes_state *state = whole->state;
    struct nested_boxes_box part = {whole->work, whole->part, NULL, {0}, 0};

    part.first = whole->first + number * nested_boxes_slots_of(whole);
    for (int d = whole->work->stencil->dims - 1; d >= 0; d--) {
        int32_t parts = state->shape[d] / state->part[d];

        part.corner[d] = whole->corner[d] + number % parts * state->part[d];
        number /= parts;
    }
    nested_boxes_assign_box(&part);
}

/* Assigns the cells of a box to slots. If the box is the whole grid, several
 * threads assign its parts. */
static void nested_boxes_assign_box(struct nested_boxes_box *box)
{
    const struct nested_boxes_state *state = box->state;
    const struct nw_assignment *assignment = box->work->assignment;
    int dims = box->work->stencil->dims;
    int64_t cells = nested_boxes_volume(state->shape, dims);
    int64_t each = nested_boxes_volume(state->part, dims);

    if (!state->level || each == 1) {
        struct nw_grid_part part =
            nw_grid_part_box(box->work->stencil, state->shape);

        memcpy(part.corner, box->corner, sizeof part.corner);
        nw_grid_part_assign(box->work->stencil, &part, box->first,
                            nested_boxes_slots_of(box), box->work->slot);
        return;
    }
    box->part =
        nested_boxes_find_state(box->work, state->level - 1, state->part);
    nw_parallel_run(nested_boxes_assign_part, box, (int32_t)(cells / each),
                    cells == assignment->count ? assignment->threads : 1);
}

nw_status nw_stencil_nested_boxes(const struct nw_assignment *assignment,
                                  const struct nw_stencil *stencil,
                                  int32_t *slot, bool *done)
{
    struct nested_boxes_work work = {.stencil = stencil,
                                     .assignment = assignment,
                                     .hierarchy = assignment->hierarchy,
                                     .slot = slot};
    struct nested_boxes_box all = {.work = &work};
    double cost = NO_WAY;
    int top = assignment->hierarchy->levels - 1;

    *done = false;
    if (nested_boxes_is_even(&work))
        cost = nested_boxes_solve(&work, top, stencil->size);
    if (!work.status && cost < NO_WAY) {
        all.state = nested_boxes_find_state(&work, top, stencil->size);
        nested_boxes_assign_box(&all);
        *done = true;
    }
    free(work.state);
    return work.status;
}
