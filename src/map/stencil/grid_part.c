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

struct nw_grid_part nw_grid_part_box(const struct nw_stencil *stencil,
                                     const int32_t *size)
{
    struct nw_grid_part part = {.end = 1};

    for (int d = 0; d < stencil->dims; d++) {
        part.box[d] = size[d];
        part.along[d] = (uint8_t)d;
        part.end *= size[d];
    }
    return part;
}

/* Returns how many layers across dimension d hold exactly `left` cells of a
 * part. Returns 0 in these cases:
 * - `left` is not a multiple of the cells in a layer;
 * - the part is not a box;
 * - the dimension is periodic;
 * - the edges of the grid are not uniform.
 * If the result is not 0, nw_stencil_cut_layers computes the cut without
 * reading edges. */
static int32_t grid_part_layers(const struct nw_stencil *stencil,
                                const struct nw_grid_part *part, int32_t left,
                                int d)
{
    int32_t layer;

    if (!part->box[0] || !stencil->uniform || stencil->periodic[d])
        return 0;
    layer = (part->end - part->first) / part->box[d];
    return left % layer ? 0 : left / layer;
}

int32_t nw_grid_part_left(int64_t count, int64_t slots, int64_t left_slots,
                          bool packed)
{
    int64_t left = packed ? count : (count * left_slots + slots / 2) / slots;

    if (left > left_slots)
        left = left_slots;
    if (count - left > slots - left_slots)
        left = count - (slots - left_slots);
    return (int32_t)left;
}

/* Among the dimensions in which the first `left` cells are whole layers of the
 * part, but not the whole part, returns the one whose cut after these cells has
 * the fewest bytes, and sets *least to the bytes. Returns -1 if no dimension
 * qualifies. */
static int grid_part_best_layers(const struct nw_stencil *stencil,
                                 const struct nw_grid_part *part, int32_t left,
                                 double *least)
{
    int chosen = -1;

    for (int d = 0; d < stencil->dims; d++) {
        int32_t layers = grid_part_layers(stencil, part, left, d);
        double cut;

        if (layers <= 0 || layers >= part->box[d])
            continue;
        cut = nw_stencil_cut_layers(stencil, part->box, layers, d);
        if (chosen >= 0 && cut >= *least)
            continue;
        *least = cut;
        chosen = d;
    }
    return chosen;
}

int32_t nw_grid_part_split_layers(const struct nw_stencil *stencil,
                                  const struct nw_grid_part *part,
                                  const int32_t *first, bool packed)
{
    int32_t clusters = part->to - part->from;
    int32_t best = part->from + clusters / 2;
    int32_t slots = first[part->to] - first[part->from];
    double least = -1;

    if (!part->box[0] || clusters < 3)
        return best;
    for (int32_t k = (clusters + 2) / 3; k <= clusters - clusters / 3; k++) {
        int32_t left = nw_grid_part_left(
            part->end - part->first, slots,
            first[part->from + k] - first[part->from], packed);
        double cut = 0;

        if (grid_part_best_layers(stencil, part, left, &cut) < 0)
            continue;
        cut = cut / k / (clusters - k);
        if (least >= 0 && cut >= least)
            continue;
        least = cut;
        best = part->from + k;
    }
    return best;
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
    double cut;

    for (int d = 0; d < work->stencil->dims; d++) {
        if (!grid_part_layers(work->stencil, part, left, d))
            return -1;
        hash = hash * 31 + (uint32_t)part->box[d];
    }
    known = &work->known[hash % NW_GRID_PART_KNOWN];
    if (known->left != left ||
        memcmp(known->box, part->box, sizeof known->box)) {
        known->left = left;
        memcpy(known->box, part->box, sizeof known->box);
        known->chosen = grid_part_best_layers(work->stencil, part, left, &cut);
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

void nw_grid_part_assign(const struct nw_stencil *stencil,
                         const struct nw_grid_part *part, int32_t first,
                         int32_t apart, int32_t *slot)
{
    int last = part->along[stencil->dims - 1];
    int32_t length = part->box[last];
    struct grid_part_row row = grid_part_row_at(stencil, part, 0);

    for (int32_t i = part->first; i < part->end; i += length) {
        for (int32_t j = 0; j < length; j++, first += apart)
            slot[row.process + j * stencil->stride[last]] = first;
        grid_part_next_row(stencil, part, &row);
    }
}

/* --- other parts --- */

struct nw_grid_part_span nw_grid_part_span(const struct nw_grid_part_work *work,
                                           int32_t first, int32_t end, int d)
{
    struct nw_grid_part_span span = {work->stencil->size[d], 0};

    for (int32_t i = first; i < end; i++) {
        int32_t x = work->at[d][work->cell[i]];

        span.low = x < span.low ? x : span.low;
        span.high = x > span.high ? x : span.high;
    }
    return span;
}

/* If there are fewer cells than the dimension has layers, work->span is exact,
 * which saves time when a long grid is cut into many small parts. Otherwise it
 * is the range of the whole grid. */
void nw_grid_part_sort(struct nw_grid_part_work *work, int32_t first,
                       int32_t end, int d)
{
    int32_t *layer = work->layer, size = work->stencil->size[d];
    struct nw_grid_part_span span = {0, size - 1};

    if (end - first < size)
        span = nw_grid_part_span(work, first, end, d);
    work->span = span;
    memset(layer + span.low, 0,
           ((size_t)(span.high - span.low) + 2) * sizeof *layer);
    for (int32_t i = first; i < end; i++)
        layer[work->at[d][work->cell[i]] + 1]++;
    for (int32_t x = span.low; x <= span.high; x++)
        layer[x + 1] += layer[x];
    for (int32_t i = first; i < end; i++) {
        int32_t x = work->at[d][work->cell[i]];

        work->order[first + layer[x]++] = work->cell[i];
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
 * must have been sorted by nw_grid_part_sort. */
static int32_t grid_part_layer_begin(const struct nw_grid_part_work *work,
                                     int32_t x)
{
    const struct nw_grid_part_span *span = &work->span;

    if (x <= span->low)
        return 0;
    return work->layer[x - 1 < span->high ? x - 1 : span->high];
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
    int32_t begin = grid_part_layer_begin(work, cut - reach);
    int32_t near = grid_part_layer_begin(work, cut - 2 * reach);
    int32_t far = cut + reach + 1 < size ? cut + reach + 1 : size;
    double sum = 0;

    grid_part_mark_sides(work, part, near, grid_part_layer_begin(work, far),
                         left);
    if (work->stencil->periodic[d]) {
        int32_t last = grid_part_layer_begin(work, size - reach);
        int32_t end = grid_part_layer_begin(work, reach);

        grid_part_mark_sides(work, part, last, count, left);
        grid_part_mark_sides(work, part, 0,
                             grid_part_layer_begin(work, 2 * reach), left);
        sum = grid_part_sum_across(work, part, 0, end < begin ? end : begin,
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
        int32_t layers = grid_part_layers(work->stencil, part, left, d);
        double cut;

        if (layers) {
            cut = nw_stencil_cut_layers(work->stencil, part->box, layers, d);
        } else {
            nw_grid_part_sort(work, part->first, part->end, d);
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
        nw_grid_part_sort(work, part->first, part->end, chosen);
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
