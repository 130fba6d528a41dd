/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the boxes with the least bytes x distance, by dynamic programming over
 * the levels of the machine and the shapes of boxes. Bytes that pass between
 * two boxes of one level travel the distance of this level. */
#include "runtime/reorder/boxes.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* --- levels of the machine --- */

static double gap_after(const nw_topology *machine, int32_t element)
{
    return nw_topology_distance(machine,
                                nw_topology_element_end(machine, element),
                                nw_topology_element_end(machine, element + 1));
}

/* Returns the smallest distance between consecutive elements that is greater
 * than `than`; 0 if all distances are at most `than`. */
static double next_gap(const nw_topology *machine, double than)
{
    int32_t n = nw_topology_element_count(machine);
    double least = 0;

    for (int32_t e = 0; e + 1 < n; e++) {
        double gap = gap_after(machine, e);

        if (gap > than && (least <= 0 || gap < least))
            least = gap;
    }
    return least;
}

/* Divides the elements into runs, inside which consecutive elements are at most
 * `gap` apart. Returns the length of the runs if all are equally long, else 0.
 */
static int32_t run_length(const nw_topology *machine, double gap)
{
    int32_t n = nw_topology_element_count(machine), length = 0, first = 0;

    for (int32_t e = 0; e < n; e++) {
        if (e + 1 < n && gap_after(machine, e) <= gap)
            continue;
        if (length && e + 1 - first != length)
            return 0;
        length = e + 1 - first;
        first = e + 1;
    }
    return length;
}

/* The first part of `level` consists of parts of `level` - 1. Returns true if
 * the first and the last of these are as far apart as neighbouring ones. In
 * trees they are; in rings and meshes they are not. */
static bool is_ultrametric(const nw_topology *machine,
                           const struct nw_levels *levels, int level)
{
    int32_t last = levels->size[level] - levels->size[level - 1];
    double far =
        nw_topology_distance(machine, nw_topology_element_end(machine, 0),
                             nw_topology_element_end(machine, last));

    return far == levels->distance[level];
}

bool nw_levels_of(const nw_topology *machine, struct nw_levels *out)
{
    struct nw_levels levels = {.count = 1, .size = {1}};
    double gap = 0;

    while ((gap = next_gap(machine, gap)) > 0) {
        int l = levels.count;

        if (l == NW_BOX_LEVELS)
            return false;
        levels.distance[l] = gap;
        levels.size[l] = run_length(machine, gap);
        levels.count++;
        if (!levels.size[l] || !is_ultrametric(machine, &levels, l))
            return false;
    }
    *out = levels;
    return levels.size[levels.count - 1] == nw_topology_element_count(machine);
}

/* --- shapes of the boxes --- */

#define STATES 2048 /* size of the hash table, a power of two */

struct boxes_state {
    int32_t shape[NW_BOX_DIMS], part[NW_BOX_DIMS];
    int level; /* level of the machine; 0: unused entry */
    double cost;
};

struct boxes_search {
    struct nw_boxes *boxes;
    double weight[NW_BOX_DIMS];
    bool periodic[NW_BOX_DIMS];
    struct boxes_state state[STATES];
    int count;
    bool failed;
};

#define NO_WAY 1e300

static int32_t boxes_volume(const struct nw_boxes *boxes, const int32_t *shape)
{
    int32_t cells = 1;

    for (int d = 0; d < boxes->dims; d++)
        cells *= shape[d];
    return cells;
}

/* Returns the bytes between neighbours inside one box of this shape, in one
 * direction. */
static double boxes_inside(const struct boxes_search *search,
                           const int32_t *shape)
{
    const struct nw_boxes *boxes = search->boxes;
    double cells = boxes_volume(boxes, shape), sum = 0;

    for (int d = 0; d < boxes->dims; d++) {
        bool round = search->periodic[d] && shape[d] == boxes->size[d];

        sum += search->weight[d] * cells / shape[d] *
               (round ? shape[d] : shape[d] - 1);
    }
    return sum;
}

/* Returns the table entry of (level, shape), or an unused entry if the table
 * does not have it. */
static struct boxes_state *boxes_find_state(struct boxes_search *search,
                                            int level, const int32_t *shape)
{
    uint64_t hash = (uint64_t)level;
    struct boxes_state *state;

    for (int d = 0; d < search->boxes->dims; d++)
        hash = nw_hash_word(hash, (uint64_t)shape[d]);
    for (;; hash++) {
        state = &search->state[hash % STATES];
        if (!state->level ||
            (state->level == level &&
             !memcmp(state->shape, shape, sizeof state->shape)))
            return state;
    }
}

static double boxes_solve(struct boxes_search *search, int level,
                          const int32_t *shape);

struct boxes_cut {
    int level;
    const int32_t *shape;
    int32_t cells;       /* number of cells of `shape` */
    int32_t least, most; /* limits of the number of cells of a part */
    int32_t part[NW_BOX_DIMS];
    int32_t best[NW_BOX_DIMS];
    double cost;
};

static void try_part(struct boxes_search *search, struct boxes_cut *cut,
                     int32_t cells)
{
    double parts = cut->cells / cells;
    double cost = search->boxes->levels.distance[cut->level] *
                  (boxes_inside(search, cut->shape) -
                   parts * boxes_inside(search, cut->part));

    if (cost >= cut->cost)
        return;
    cost += parts * boxes_solve(search, cut->level - 1, cut->part);
    if (cost >= cut->cost)
        return;
    cut->cost = cost;
    memcpy(cut->best, cut->part, sizeof cut->best);
}

/* Tries all parts whose sizes in dimensions d and above divide the shape and
 * fit. `cells` is the product of the sizes in the dimensions below d. */
static void try_dims(struct boxes_search *search, struct boxes_cut *cut, int d,
                     int32_t cells)
{
    if (d == search->boxes->dims) {
        if (cells >= cut->least)
            try_part(search, cut, cells);
        return;
    }
    for (int32_t size = 1;
         size <= cut->shape[d] && !search->failed && cells <= cut->most / size;
         size++) {
        if (cut->shape[d] % size)
            continue;
        cut->part[d] = size;
        try_dims(search, cut, d + 1, cells * size);
    }
}

/* Returns the least sum of bytes x distance for a box of this shape that lies
 * in one part of `level`. Returns NO_WAY if the box does not fit, or if there
 * are too many shapes to try (search->failed). */
static double boxes_solve(struct boxes_search *search, int level,
                          const int32_t *shape)
{
    const int32_t *size = search->boxes->levels.size;
    struct boxes_cut cut = {.level = level, .shape = shape, .cost = NO_WAY};
    struct boxes_state *known;

    cut.cells = boxes_volume(search->boxes, shape);
    if (!level)
        return cut.cells == 1 ? 0 : NO_WAY;
    known = boxes_find_state(search, level, shape);
    if (known->level)
        return known->cost;
    cut.most = size[level - 1];
    cut.least = (cut.cells - 1) / (size[level] / size[level - 1]) + 1;
    try_dims(search, &cut, 0, 1);
    if (++search->count > STATES / 2)
        search->failed = true;
    if (search->failed)
        return NO_WAY;
    /* search the entry again, since the recursion has added entries */
    known = boxes_find_state(search, level, shape);
    known->level = level;
    known->cost = cut.cost;
    memcpy(known->shape, shape, sizeof known->shape);
    memcpy(known->part, cut.best, sizeof known->part);
    return cut.cost;
}

/* Copies the dimensions with more than one vertex to search->boxes. Returns
 * false if their number is 0 or above NW_BOX_DIMS. */
static bool take_dims(struct boxes_search *search, const struct nw_cart *cart,
                      const double *weight)
{
    struct nw_boxes *boxes = search->boxes;
    int32_t stride = 1;

    for (int d = cart->count - 1; d >= 0; d--) {
        int at = boxes->dims;

        if (cart->dims[d] < 2)
            continue;
        if (at == NW_BOX_DIMS)
            return false;
        boxes->size[at] = cart->dims[d];
        boxes->stride[at] = stride;
        search->weight[at] = weight[d];
        search->periodic[at] = cart->periods[d];
        stride *= cart->dims[d];
        boxes->dims++;
    }
    return boxes->dims > 0;
}

static bool boxes_find(struct boxes_search *search, const struct nw_cart *cart,
                       const double *weight)
{
    struct nw_boxes *boxes = search->boxes;
    int top = boxes->levels.count - 1;

    if (!take_dims(search, cart, weight) ||
        boxes_volume(boxes, boxes->size) > boxes->levels.size[top] ||
        boxes_solve(search, top, boxes->size) >= NO_WAY || search->failed)
        return false;
    memcpy(boxes->shape[top], boxes->size, sizeof boxes->size);
    for (int l = top; l > 0; l--)
        memcpy(boxes->shape[l - 1],
               boxes_find_state(search, l, boxes->shape[l])->part,
               sizeof boxes->size);
    return true;
}

bool nw_boxes_find(const struct nw_levels *levels, const struct nw_cart *cart,
                   const double *weight, struct nw_boxes *out)
{
    struct boxes_search *search = calloc(1, sizeof *search);
    bool found;

    memset(out, 0, sizeof *out);
    out->levels = *levels;
    if (!search)
        return false;
    search->boxes = out;
    found = boxes_find(search, cart, weight);
    free(search);
    return found;
}

int32_t nw_boxes_vertex(const struct nw_boxes *boxes, int32_t element)
{
    int32_t vertex = 0;

    for (int l = boxes->levels.count - 1; l > 0; l--) {
        int32_t index = element / boxes->levels.size[l - 1];

        element %= boxes->levels.size[l - 1];
        for (int d = 0; d < boxes->dims; d++) {
            int32_t part = boxes->shape[l - 1][d];
            int32_t parts = boxes->shape[l][d] / part;

            vertex += index % parts * part * boxes->stride[d];
            index /= parts;
        }
        if (index)
            return -1;
    }
    return vertex;
}

int32_t nw_boxes_element(const struct nw_boxes *boxes, int32_t vertex)
{
    int32_t element = 0, at[NW_BOX_DIMS];

    for (int d = 0; d < boxes->dims; d++)
        at[d] = vertex / boxes->stride[d] % boxes->size[d];
    for (int l = boxes->levels.count - 1; l > 0; l--) {
        int32_t index = 0;

        for (int d = boxes->dims - 1; d >= 0; d--) {
            int32_t part = boxes->shape[l - 1][d];

            index = index * (boxes->shape[l][d] / part) + at[d] / part;
            at[d] %= part;
        }
        element += index * boxes->levels.size[l - 1];
    }
    return element;
}
