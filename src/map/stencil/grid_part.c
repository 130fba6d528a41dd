/* SPDX-License-Identifier: BSD-3-Clause */
/* Bisects parts of a grid. If a part is a box and the cut lies between two
 * layers, its sizes alone give the cut. Otherwise the cells of the part are
 * listed and sorted along each dimension, and a layer is split if the number of
 * cells requires it. Both ways leave the cells in the same order. */
#include "map/stencil/grid_part.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* --- boxes --- */

int32_t nw_grid_part_layers(const struct nw_grid_part_work *work,
                            const struct nw_grid_part *part, int32_t left,
                            int d)
{
    const struct nw_stencil *stencil = work->stencil;
    int32_t layer;

    if (!part->box[0] || !stencil->uniform || stencil->periodic[d])
        return 0;
    layer = (part->end - part->first) / part->box[d];
    return left % layer ? 0 : left / layer;
}

double nw_grid_part_cut_bytes(const struct nw_grid_part_work *work,
                              const struct nw_grid_part *part, int32_t layers,
                              int d)
{
    int32_t side[NW_STENCIL_DIMS];
    double sum = nw_stencil_inside(work->stencil, part->box);

    memcpy(side, part->box, sizeof side);
    side[d] = layers;
    sum -= nw_stencil_inside(work->stencil, side);
    side[d] = part->box[d] - layers;
    return sum - nw_stencil_inside(work->stencil, side);
}

/* Returns the dimension in which the cut after `left` cells has the fewest
 * bytes. `left` cells must be whole layers of the part in every dimension. */
static int grid_part_best_layers(const struct nw_grid_part_work *work,
                                 const struct nw_grid_part *part, int32_t left)
{
    int chosen = -1;
    double least = -1;

    for (int d = 0; d < work->stencil->dims; d++) {
        int32_t layers = nw_grid_part_layers(work, part, left, d);
        double cut = nw_grid_part_cut_bytes(work, part, layers, d);

        if (least >= 0 && cut >= least)
            continue;
        least = cut;
        chosen = d;
    }
    return chosen;
}

/* Returns the dimension in which the cut after `left` cells has the fewest
 * bytes; -1 if these cells are not whole layers of the part in every dimension.
 * Remembers results in known[], since the bisection splits equal boxes many
 * times. */
static int grid_part_choose_layers(struct nw_grid_part_work *work,
                                   const struct nw_grid_part *part,
                                   int32_t left)
{
    struct nw_grid_part_known *known;
    uint32_t hash = (uint32_t)left;

    for (int d = 0; d < work->stencil->dims; d++) {
        if (!nw_grid_part_layers(work, part, left, d))
            return -1;
        hash = hash * 31 + (uint32_t)part->box[d];
    }
    known = &work->known[hash % NW_GRID_PART_KNOWN];
    if (known->left != left ||
        memcmp(known->box, part->box, sizeof known->box)) {
        known->left = left;
        memcpy(known->box, part->box, sizeof known->box);
        known->chosen = grid_part_best_layers(work, part, left);
    }
    return known->chosen;
}

/* Updates both halves after a cut of a box across dimension d. Sets the box of
 * each half, or box[0] = 0 if the cut splits a layer. Sets the order of the
 * cells: by coordinate d first, otherwise as before. */
static void grid_part_cut_box(struct nw_grid_part *part,
                              struct nw_grid_part *right, int d)
{
    int32_t cells = part->end - part->first;
    int32_t whole = right->end - part->first, layer;
    int k = 0;

    if (!part->box[0])
        return;
    layer = whole / part->box[d];
    if (cells % layer) {
        part->box[0] = right->box[0] = 0;
        return;
    }
    while (part->along[k] != d)
        k++;
    memmove(part->along + 1, part->along, (size_t)k);
    part->along[0] = (uint8_t)d;
    memcpy(right->along, part->along, sizeof right->along);
    part->box[d] = cells / layer;
    right->box[d] -= part->box[d];
    right->corner[d] += part->box[d];
}

/* A row of a box: its cells along the dimension in which they are numbered
 * fastest. */
struct grid_part_row {
    int32_t at[NW_STENCIL_DIMS]; /* position of the row's first cell in the
                                    box */
    int32_t process;             /* number of that cell in the grid */
};

/* Returns row `number` of the box `part`, in the order of its cells. */
static struct grid_part_row grid_part_row_at(const struct nw_stencil *stencil,
                                             const struct nw_grid_part *part,
                                             int32_t number)
{
    struct grid_part_row row = {{0}, 0};

    for (int k = stencil->dims - 1; k-- > 0;) {
        int d = part->along[k];

        row.at[d] = number % part->box[d];
        number /= part->box[d];
    }
    for (int d = 0; d < stencil->dims; d++)
        row.process += (part->corner[d] + row.at[d]) * stencil->stride[d];
    return row;
}

/* Advances *row to the next row of the box `part`. */
static void grid_part_next_row(const struct nw_stencil *stencil,
                               const struct nw_grid_part *part,
                               struct grid_part_row *row)
{
    for (int k = stencil->dims - 1; k-- > 0;) {
        int d = part->along[k];

        row->process += stencil->stride[d];
        if (++row->at[d] < part->box[d])
            return;
        row->process -= part->box[d] * stencil->stride[d];
        row->at[d] = 0;
    }
}

/* A part whose cells several threads list. */
struct grid_part_listing {
    struct nw_grid_part_work *work;
    const struct nw_grid_part *part;
};

/* Lists the cells in one of NW_PARALLEL_RANGES ranges of rows; a task for
 * threads. */
static void grid_part_list_part(void *user, int32_t range)
{
    const struct grid_part_listing *listing = user;
    const struct nw_grid_part *part = listing->part;
    struct nw_grid_part_work *work = listing->work;
    const struct nw_stencil *stencil = work->stencil;
    int last = part->along[stencil->dims - 1];
    int32_t length = part->box[last];
    struct nw_parallel_range rows =
        nw_parallel_range((part->end - part->first) / length, range);
    struct grid_part_row row =
        grid_part_row_at(stencil, part, (int32_t)rows.first);
    int32_t *cell = work->cell + part->first + rows.first * length;

    for (int64_t r = rows.first; r < rows.end; r++) {
        int32_t p = row.process;

        for (row.at[last] = 0; row.at[last] < length; row.at[last]++) {
            *cell++ = p;
            for (int d = 0; d < stencil->dims; d++)
                work->at[d][p] = part->corner[d] + row.at[d];
            p += stencil->stride[last];
        }
        row.at[last] = 0;
        grid_part_next_row(stencil, part, &row);
    }
}

void nw_grid_part_list(struct nw_grid_part_work *work,
                       struct nw_grid_part *part)
{
    const struct nw_assignment *assignment = work->assignment;
    struct grid_part_listing listing = {work, part};
    bool whole = part->end - part->first == assignment->count;

    if (part->listed)
        return;
    nw_parallel_run(grid_part_list_part, &listing, NW_PARALLEL_RANGES,
                    whole ? assignment->threads : 1);
    part->listed = true;
}

void nw_grid_part_assign(const struct nw_grid_part_work *work,
                         const struct nw_grid_part *part, int32_t first,
                         int32_t *slot)
{
    const struct nw_stencil *stencil = work->stencil;
    int32_t count = part->end - part->first, length;
    struct grid_part_row row;
    int last;

    if (part->listed) {
        for (int32_t i = 0; i < count; i++)
            slot[work->cell[part->first + i]] = first + i;
        return;
    }
    last = part->along[stencil->dims - 1];
    length = part->box[last];
    row = grid_part_row_at(stencil, part, 0);
    for (int32_t i = 0; i < count; i += length) {
        for (int32_t j = 0; j < length; j++)
            slot[row.process + j * stencil->stride[last]] = first + i + j;
        grid_part_next_row(stencil, part, &row);
    }
}

/* --- other parts --- */

/* Sets work->low and work->high to a range that contains coordinate d of all
 * cells of a part. If the part has fewer cells than the dimension has layers,
 * the range is exact. For a larger part, it is the range of the whole grid.
 * This saves time when a long grid is cut into many small parts. */
static void grid_part_find_span(struct nw_grid_part_work *work,
                                const struct nw_grid_part *part, int d)
{
    int32_t size = work->stencil->size[d];
    bool small = part->end - part->first < size;

    work->low = small ? size : 0;
    work->high = small ? 0 : size - 1;
    if (!small)
        return;
    for (int32_t i = part->first; i < part->end; i++) {
        int32_t x = work->at[d][work->cell[i]];

        work->low = x < work->low ? x : work->low;
        work->high = x > work->high ? x : work->high;
    }
}

/* Sorts the cells of a part by coordinate d, from cell[] to order[]. Cells with
 * equal coordinates keep their order. layer[x] becomes the index, within the
 * part, after the last cell of layer x. */
static void grid_part_sort_cells(struct nw_grid_part_work *work,
                                 const struct nw_grid_part *part, int d)
{
    int32_t *layer = work->layer;

    grid_part_find_span(work, part, d);
    memset(layer + work->low, 0,
           ((size_t)(work->high - work->low) + 2) * sizeof *layer);
    for (int32_t i = part->first; i < part->end; i++)
        layer[work->at[d][work->cell[i]] + 1]++;
    for (int32_t x = work->low; x <= work->high; x++)
        layer[x + 1] += layer[x];
    for (int32_t i = part->first; i < part->end; i++) {
        int32_t x = work->at[d][work->cell[i]];

        work->order[part->first + layer[x]++] = work->cell[i];
    }
}

/* Returns the length in dimension d, in cells, of the longest edge of the grid.
 */
static int32_t grid_part_reach_of(const struct nw_stencil *stencil, int d)
{
    int32_t reach = 0;

    for (int i = 0; i < stencil->offsets; i++)
        if (abs(stencil->offset[i][d]) > reach)
            reach = abs(stencil->offset[i][d]);
    return reach;
}

/* Returns the index, within the part, of the first cell of layer x. The part
 * must have been sorted by grid_part_sort_cells. */
static int32_t grid_part_layer_begin(const struct nw_grid_part_work *work,
                                     int32_t x)
{
    if (x <= work->low)
        return 0;
    return work->layer[x - 1 < work->high ? x - 1 : work->high];
}

/* Marks, in work->cut, the cells with indices begin to end - 1 in the part's
 * sorted order: those from index `left` on with the position of the cut, the
 * others with 0. Cuts of other parts have other positions. Cuts of this part
 * across other dimensions have the same position and overwrite the marks near
 * them. Access is atomic, since another thread may read the mark of a neighbour
 * of its cells. */
static void grid_part_mark_sides(struct nw_grid_part_work *work,
                                 const struct nw_grid_part *part, int32_t begin,
                                 int32_t end, int32_t left)
{
    const int32_t *order = work->order + part->first;

    for (int32_t i = begin; i < end; i++)
        __atomic_store_n(&work->cut[order[i]],
                         i < left ? 0 : part->first + left, __ATOMIC_RELAXED);
}

/* Returns the bytes between the cells with indices begin to end - 1 in the
 * part's sorted order and the cells that are marked as after the cut. */
static double grid_part_sum_across(const struct nw_grid_part_work *work,
                                   const struct nw_grid_part *part,
                                   int32_t begin, int32_t end, int32_t left)
{
    const struct nw_assignment *assignment = work->assignment;
    const int32_t *order = work->order + part->first;
    int32_t cut = part->first + left;
    double sum = 0;

    for (int32_t i = begin; i < end; i++) {
        size_t b = assignment->row[order[i]],
               last = assignment->row[order[i] + 1];

        for (; b < last; b++)
            if (__atomic_load_n(&work->cut[assignment->edge[b].peer],
                                __ATOMIC_RELAXED) == cut)
                sum += assignment->edge[b].bytes;
    }
    return sum;
}

static int32_t grid_part_least_of(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Returns the bytes that are cut if the cells of a part, sorted by coordinate
 * d, are divided after the first `left` ones. Reads only layers near the cut
 * and, if the dimension is periodic, the layers at both ends. */
static double grid_part_across_sorted(struct nw_grid_part_work *work,
                                      const struct nw_grid_part *part,
                                      int32_t left, int d)
{
    const int32_t *order = work->order + part->first;
    int32_t size = work->stencil->size[d],
            reach = grid_part_reach_of(work->stencil, d);
    int32_t cut = work->at[d][order[left]], count = part->end - part->first;
    int32_t begin = grid_part_layer_begin(work, cut - reach), near, last;
    double sum = 0;

    near = grid_part_layer_begin(work, cut - 2 * reach);
    grid_part_mark_sides(
        work, part, near,
        grid_part_layer_begin(work, grid_part_least_of(cut + reach + 1, size)),
        left);
    if (work->stencil->periodic[d]) {
        last = grid_part_layer_begin(work, size - reach);
        grid_part_mark_sides(work, part, last, count, left);
        grid_part_mark_sides(work, part, 0,
                             grid_part_layer_begin(work, 2 * reach), left);
        sum = grid_part_sum_across(
            work, part, 0,
            grid_part_least_of(grid_part_layer_begin(work, reach), begin),
            left);
    }
    return sum + grid_part_sum_across(work, part, begin, left, left);
}

/* Finds the dimension in which the cut after `left` cells has the fewest bytes,
 * sorts the listed cells of the part along it, and returns it. */
static int grid_part_cut_listed(struct nw_grid_part_work *work,
                                const struct nw_grid_part *part, int32_t left)
{
    size_t count = (size_t)(part->end - part->first);
    int chosen = -1, sorted = -1;
    double least = -1;

    for (int d = 0; d < work->stencil->dims; d++) {
        int32_t layers = nw_grid_part_layers(work, part, left, d);
        double cut;

        if (layers) {
            cut = nw_grid_part_cut_bytes(work, part, layers, d);
        } else {
            grid_part_sort_cells(work, part, d);
            cut = grid_part_across_sorted(work, part, left, d);
        }
        if (least >= 0 && cut >= least)
            continue;
        least = cut;
        chosen = d;
        if (layers)
            continue;
        sorted = d;
        memcpy(work->best + part->first, work->order + part->first,
               count * sizeof *work->best);
    }
    if (sorted != chosen)
        grid_part_sort_cells(work, part, chosen);
    memcpy(work->cell + part->first,
           (sorted == chosen ? work->best : work->order) + part->first,
           count * sizeof *work->cell);
    return chosen;
}

void nw_grid_part_bisect(struct nw_grid_part_work *work,
                         struct nw_grid_part *part, int32_t left,
                         struct nw_grid_part *right)
{
    int chosen = part->listed ? -1 : grid_part_choose_layers(work, part, left);

    if (chosen < 0) {
        nw_grid_part_list(work, part);
        chosen = grid_part_cut_listed(work, part, left);
    }
    *right = *part;
    part->end = right->first = part->first + left;
    grid_part_cut_box(part, right, chosen);
}
