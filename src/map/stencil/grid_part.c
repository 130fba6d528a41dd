/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts shares of a grid: boxes by their sizes alone, anything else by sorting
 * its cells along each dimension; the last layer is taken in part where sizes
 * ask for it. Both leave cells in the same order. */
#include "map/stencil/grid_part.h"
#include "base/crew.h"

#include <stdlib.h>
#include <string.h>

/* --- boxes --- */

int32_t nw_tile_layers(const struct nw_tile_work *work,
                       const struct nw_tile_share *share, int32_t left, int d)
{
    const struct nw_tiling *tiling = work->tiling;
    int32_t layer;

    if (!share->box[0] || !tiling->uniform || tiling->periodic[d])
        return 0;
    layer = (share->end - share->first) / share->box[d];
    return left % layer ? 0 : left / layer;
}

double nw_tile_across(const struct nw_tile_work *work,
                      const struct nw_tile_share *share, int32_t layers, int d)
{
    int32_t part[NW_TILE_DIMS];
    double sum = nw_tiling_inside(work->tiling, share->box);

    memcpy(part, share->box, sizeof part);
    part[d] = layers;
    sum -= nw_tiling_inside(work->tiling, part);
    part[d] = share->box[d] - layers;
    return sum - nw_tiling_inside(work->tiling, part);
}

static int best_layers(const struct nw_tile_work *work,
                       const struct nw_tile_share *share, int32_t left)
{
    int chosen = -1;
    double least = -1;

    for (int d = 0; d < work->tiling->dims; d++) {
        int32_t layers = nw_tile_layers(work, share, left, d);
        double cut = nw_tile_across(work, share, layers, d);

        if (least >= 0 && cut >= least)
            continue;
        least = cut;
        chosen = d;
    }
    return chosen;
}

/* The best dimension where every one has whole layers, else -1. Trees part the
 * same boxes in the same way again and again. */
static int choose_layers(struct nw_tile_work *work,
                         const struct nw_tile_share *share, int32_t left)
{
    struct nw_tile_known *known;
    uint32_t hash = (uint32_t)left;

    for (int d = 0; d < work->tiling->dims; d++) {
        if (!nw_tile_layers(work, share, left, d))
            return -1;
        hash = hash * 31 + (uint32_t)share->box[d];
    }
    known = &work->known[hash % NW_TILE_KNOWN];
    if (known->left != left ||
        memcmp(known->box, share->box, sizeof known->box)) {
        known->left = left;
        memcpy(known->box, share->box, sizeof known->box);
        known->chosen = best_layers(work, share, left);
    }
    return known->chosen;
}

/* The boxes of both halves, where they are some, and the order of their cells:
 * sorted along d, else as before. */
static void part_box(struct nw_tile_share *share, struct nw_tile_share *right,
                     int d)
{
    int32_t cells = share->end - share->first;
    int32_t whole = right->end - share->first, layer;
    int k = 0;

    if (!share->box[0])
        return;
    layer = whole / share->box[d];
    if (cells % layer) {
        share->box[0] = right->box[0] = 0;
        return;
    }
    while (share->along[k] != d)
        k++;
    memmove(share->along + 1, share->along, (size_t)k);
    share->along[0] = (uint8_t)d;
    memcpy(right->along, share->along, sizeof right->along);
    share->box[d] = cells / layer;
    right->box[d] -= share->box[d];
    right->corner[d] += share->box[d];
}

/* The cells of a box that follow its last dimension. */
struct row {
    int32_t at[NW_TILE_DIMS]; /* in the box */
    int32_t process;          /* of the first of them */
};

static struct row row_at(const struct nw_tiling *tiling,
                         const struct nw_tile_share *share, int32_t number)
{
    struct row row = {{0}, 0};

    for (int k = tiling->dims - 1; k-- > 0;) {
        int d = share->along[k];

        row.at[d] = number % share->box[d];
        number /= share->box[d];
    }
    for (int d = 0; d < tiling->dims; d++)
        row.process += (share->corner[d] + row.at[d]) * tiling->stride[d];
    return row;
}

static void next_row(const struct nw_tiling *tiling,
                     const struct nw_tile_share *share, struct row *row)
{
    for (int k = tiling->dims - 1; k-- > 0;) {
        int d = share->along[k];

        row->process += tiling->stride[d];
        if (++row->at[d] < share->box[d])
            return;
        row->process -= share->box[d] * tiling->stride[d];
        row->at[d] = 0;
    }
}

struct listing {
    struct nw_tile_work *work;
    const struct nw_tile_share *share;
};

static void list_part(void *user, int32_t part)
{
    const struct listing *listing = user;
    const struct nw_tile_share *share = listing->share;
    struct nw_tile_work *work = listing->work;
    const struct nw_tiling *tiling = work->tiling;
    int last = share->along[tiling->dims - 1];
    int32_t length = share->box[last];
    struct nw_crew_part rows =
        nw_crew_part((share->end - share->first) / length, part);
    struct row row = row_at(tiling, share, (int32_t)rows.first);
    int32_t *cell = work->cell + share->first + rows.first * length;

    for (int64_t r = rows.first; r < rows.end; r++) {
        int32_t p = row.process;

        for (row.at[last] = 0; row.at[last] < length; row.at[last]++) {
            *cell++ = p;
            for (int d = 0; d < tiling->dims; d++)
                work->at[d][p] = share->corner[d] + row.at[d];
            p += tiling->stride[last];
        }
        row.at[last] = 0;
        next_row(tiling, share, &row);
    }
}

void nw_tile_list(struct nw_tile_work *work, struct nw_tile_share *share)
{
    const struct nw_layout *layout = work->layout;
    struct listing listing = {work, share};
    bool whole = share->end - share->first == layout->count;

    if (share->listed)
        return;
    nw_crew_run(list_part, &listing, NW_CREW_PARTS,
                whole ? layout->threads : 1);
    share->listed = true;
}

void nw_tile_seat(const struct nw_tile_work *work,
                  const struct nw_tile_share *share, int32_t first,
                  int32_t *seat)
{
    const struct nw_tiling *tiling = work->tiling;
    int32_t count = share->end - share->first, length;
    struct row row;
    int last;

    if (share->listed) {
        for (int32_t i = 0; i < count; i++)
            seat[work->cell[share->first + i]] = first + i;
        return;
    }
    last = share->along[tiling->dims - 1];
    length = share->box[last];
    row = row_at(tiling, share, 0);
    for (int32_t i = 0; i < count; i += length) {
        for (int32_t j = 0; j < length; j++)
            seat[row.process + j * tiling->stride[last]] = first + i + j;
        next_row(tiling, share, &row);
    }
}

/* --- anything else --- */

/* Of small shares, the layers that they have: long grids are cut into many. */
static void find_span(struct nw_tile_work *work,
                      const struct nw_tile_share *share, int d)
{
    int32_t size = work->tiling->size[d];
    bool small = share->end - share->first < size;

    work->low = small ? size : 0;
    work->high = small ? 0 : size - 1;
    if (!small)
        return;
    for (int32_t i = share->first; i < share->end; i++) {
        int32_t x = work->at[d][work->cell[i]];

        work->low = x < work->low ? x : work->low;
        work->high = x > work->high ? x : work->high;
    }
}

/* Cells of a share by coordinate d, in the order they are in else. */
static void sort_cells(struct nw_tile_work *work,
                       const struct nw_tile_share *share, int d)
{
    int32_t *layer = work->layer;

    find_span(work, share, d);
    memset(layer + work->low, 0,
           ((size_t)(work->high - work->low) + 2) * sizeof *layer);
    for (int32_t i = share->first; i < share->end; i++)
        layer[work->at[d][work->cell[i]] + 1]++;
    for (int32_t x = work->low; x <= work->high; x++)
        layer[x + 1] += layer[x];
    for (int32_t i = share->first; i < share->end; i++) {
        int32_t x = work->at[d][work->cell[i]];

        work->order[share->first + layer[x]++] = work->cell[i];
    }
}

/* The longest step in a dimension. */
static int32_t reach_of(const struct nw_tiling *tiling, int d)
{
    int32_t reach = 0;

    for (int i = 0; i < tiling->steps; i++)
        if (abs(tiling->step[i][d]) > reach)
            reach = abs(tiling->step[i][d]);
    return reach;
}

/* Where the layer of coordinate x begins in the order of sort_cells. */
static int32_t layer_begin(const struct nw_tile_work *work, int32_t x)
{
    if (x <= work->low)
        return 0;
    return work->layer[x - 1 < work->high ? x - 1 : work->high];
}

/* Cells before and behind a cut. Where it stands says which it is: no other is
 * there but across other dimensions, which mark the same cells anew. Another
 * thread may look at those of its neighbours. */
static void mark_sides(struct nw_tile_work *work,
                       const struct nw_tile_share *share, int32_t begin,
                       int32_t end, int32_t left)
{
    const int32_t *order = work->order + share->first;

    for (int32_t i = begin; i < end; i++)
        __atomic_store_n(&work->cut[order[i]],
                         i < left ? 0 : share->first + left, __ATOMIC_RELAXED);
}

/* Bytes from cells begin .. end - 1 of the order to those behind the cut. */
static double sum_across(const struct nw_tile_work *work,
                         const struct nw_tile_share *share, int32_t begin,
                         int32_t end, int32_t left)
{
    const struct nw_layout *layout = work->layout;
    const int32_t *order = work->order + share->first;
    int32_t cut = share->first + left;
    double sum = 0;

    for (int32_t i = begin; i < end; i++) {
        size_t b = layout->row[order[i]], last = layout->row[order[i] + 1];

        for (; b < last; b++)
            if (__atomic_load_n(&work->cut[layout->bond[b].peer],
                                __ATOMIC_RELAXED) == cut)
                sum += layout->bond[b].bytes;
    }
    return sum;
}

static int32_t least_of(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Bytes from the first `left` cells of the order by coordinate d to the others;
 * only layers near the cut are looked at and, of a ring, those at its ends. */
static double across_sorted(struct nw_tile_work *work,
                            const struct nw_tile_share *share, int32_t left,
                            int d)
{
    const int32_t *order = work->order + share->first;
    int32_t size = work->tiling->size[d], reach = reach_of(work->tiling, d);
    int32_t cut = work->at[d][order[left]], count = share->end - share->first;
    int32_t begin = layer_begin(work, cut - reach), near, last;
    double sum = 0;

    near = layer_begin(work, cut - 2 * reach);
    mark_sides(work, share, near,
               layer_begin(work, least_of(cut + reach + 1, size)), left);
    if (work->tiling->periodic[d]) {
        last = layer_begin(work, size - reach);
        mark_sides(work, share, last, count, left);
        mark_sides(work, share, 0, layer_begin(work, 2 * reach), left);
        sum = sum_across(work, share, 0,
                         least_of(layer_begin(work, reach), begin), left);
    }
    return sum + sum_across(work, share, begin, left, left);
}

/* Sorts the cells in the best dimension, which is returned. */
static int part_listed(struct nw_tile_work *work,
                       const struct nw_tile_share *share, int32_t left)
{
    size_t count = (size_t)(share->end - share->first);
    int chosen = -1, sorted = -1;
    double least = -1;

    for (int d = 0; d < work->tiling->dims; d++) {
        int32_t layers = nw_tile_layers(work, share, left, d);
        double cut;

        if (layers) {
            cut = nw_tile_across(work, share, layers, d);
        } else {
            sort_cells(work, share, d);
            cut = across_sorted(work, share, left, d);
        }
        if (least >= 0 && cut >= least)
            continue;
        least = cut;
        chosen = d;
        if (layers)
            continue;
        sorted = d;
        memcpy(work->best + share->first, work->order + share->first,
               count * sizeof *work->best);
    }
    if (sorted != chosen)
        sort_cells(work, share, chosen);
    memcpy(work->cell + share->first,
           (sorted == chosen ? work->best : work->order) + share->first,
           count * sizeof *work->cell);
    return chosen;
}

void nw_tile_part(struct nw_tile_work *work, struct nw_tile_share *share,
                  int32_t left, struct nw_tile_share *right)
{
    int chosen = share->listed ? -1 : choose_layers(work, share, left);

    if (chosen < 0) {
        nw_tile_list(work, share);
        chosen = part_listed(work, share, left);
    }
    *right = *share;
    share->end = right->first = share->first + left;
    part_box(share, right, chosen);
}
