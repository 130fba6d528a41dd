/* SPDX-License-Identifier: BSD-3-Clause */
/* A grid over the domain by which the neighbours of a piece are found. The grid
 * has about one cell per piece, so that the time to find neighbours does not
 * depend on the number of pieces. */
#include "halo/plan/neighbour_grid.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>

#define SPARE 4 /* maximum number of grid cells per piece */

struct range {
    int32_t low[3], high[3]; /* cells low <= c <= high */
};

static int64_t neighbour_grid_within(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static struct range range_of(const struct nw_halo_neighbour_grid *nearby,
                             const struct nw_halo_box *box)
{
    struct range range;

    for (int axis = 0; axis < 3; axis++) {
        int64_t n = nearby->extent[axis], cells = nearby->cells[axis];

        range.low[axis] =
            (int32_t)(neighbour_grid_within(box->low[axis], 0, n - 1) * cells /
                      n);
        range.high[axis] =
            (int32_t)(neighbour_grid_within(box->high[axis] - 1, 0, n - 1) *
                      cells / n);
    }
    return range;
}

static size_t cell_at(const struct nw_halo_neighbour_grid *nearby, int32_t x,
                      int32_t y, int32_t z)
{
    const int32_t *cells = nearby->cells;

    return ((size_t)z * (size_t)cells[1] + (size_t)y) * (size_t)cells[0] +
           (size_t)x;
}

/* Enters a piece into all grid cells that it overlaps. In the first pass,
 * counts it in these cells. In the second pass, adds it to the lists of these
 * cells, which are filled from the back. */
static void neighbour_grid_enter(struct nw_halo_neighbour_grid *nearby,
                                 const struct nw_halo_piece *piece, int32_t id)
{
    struct range range = range_of(nearby, &piece->box);

    for (int32_t z = range.low[2]; z <= range.high[2]; z++)
        for (int32_t y = range.low[1]; y <= range.high[1]; y++)
            for (int32_t x = range.low[0]; x <= range.high[0]; x++) {
                int32_t *first = &nearby->first[cell_at(nearby, x, y, z)];

                if (nearby->item)
                    nearby->item[--*first] = id;
                else
                    ++*first;
            }
}

static nw_status neighbour_grid_fill(const nw_halo_layout *layout,
                                     struct nw_halo_neighbour_grid *nearby,
                                     size_t cells)
{
    nw_status status;

    for (int32_t i = 0; i < layout->piece_count; i++)
        neighbour_grid_enter(nearby, &layout->piece[i], i);
    for (size_t i = 1; i <= cells; i++)
        nearby->first[i] += nearby->first[i - 1];
    status = nw_alloc((size_t)nearby->first[cells] + 1, sizeof(int32_t),
                      &nearby->item);
    for (int32_t i = 0; !status && i < layout->piece_count; i++)
        neighbour_grid_enter(nearby, &layout->piece[i], i);
    return status;
}

/* Returns the number of grid cells along an axis: the number of pieces of mean
 * width that fit side by side. */
static int32_t cells_along(const nw_halo_layout *layout, int axis)
{
    int64_t n = layout->domain.extent[axis], count = layout->piece_count;
    double sum = 0;

    for (int32_t i = 0; i < layout->piece_count; i++)
        sum += (double)(layout->piece[i].box.high[axis] -
                        layout->piece[i].box.low[axis]);
    return (int32_t)neighbour_grid_within(
        llround((double)n * (double)count / sum), 1, n < count ? n : count);
}

/* Halves the number of grid cells along the axis with the most cells, until
 * there are at most SPARE cells per piece. This is needed, for example, if a
 * few pieces are large and many are small. Returns the number of cells. */
static size_t limit_cells(struct nw_halo_neighbour_grid *nearby, size_t count)
{
    int32_t *cells = nearby->cells;

    while ((double)cells[0] * cells[1] * cells[2] > SPARE * (double)count) {
        int most = 0;

        for (int axis = 1; axis < 3; axis++)
            most = cells[axis] > cells[most] ? axis : most;
        cells[most] = (cells[most] + 1) / 2;
    }
    return (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
}

nw_status nw_halo_neighbour_grid_make(const nw_halo_layout *layout,
                                      struct nw_halo_neighbour_grid *out)
{
    size_t count = (size_t)layout->piece_count, cells;
    nw_status status;

    *out = (struct nw_halo_neighbour_grid){0};
    for (int axis = 0; axis < 3; axis++) {
        out->extent[axis] = layout->domain.extent[axis];
        out->cells[axis] = cells_along(layout, axis);
    }
    cells = limit_cells(out, count);
    status = nw_alloc(cells + 1, sizeof(int32_t), &out->first);
    if (!status)
        status = nw_alloc(count, sizeof(int32_t), &out->found);
    if (!status)
        status = nw_alloc(count, sizeof(uint64_t), &out->seen);
    return status ? status : neighbour_grid_fill(layout, out, cells);
}

void nw_halo_neighbour_grid_fini(struct nw_halo_neighbour_grid *nearby)
{
    free(nearby->first);
    free(nearby->item);
    free(nearby->found);
    free(nearby->seen);
    *nearby = (struct nw_halo_neighbour_grid){0};
}

static int32_t neighbour_grid_collect(struct nw_halo_neighbour_grid *nearby,
                                      size_t cell, int32_t count)
{
    for (int32_t i = nearby->first[cell]; i < nearby->first[cell + 1]; i++) {
        int32_t piece = nearby->item[i];

        if (nearby->seen[piece] == nearby->questions)
            continue;
        nearby->seen[piece] = nearby->questions;
        nearby->found[count++] = piece;
    }
    return count;
}

int32_t nw_halo_neighbour_grid_find(struct nw_halo_neighbour_grid *nearby,
                                    const struct nw_halo_box *box)
{
    struct range range = range_of(nearby, box);
    int32_t count = 0;

    nearby->questions++;
    for (int32_t z = range.low[2]; z <= range.high[2]; z++)
        for (int32_t y = range.low[1]; y <= range.high[1]; y++)
            for (int32_t x = range.low[0]; x <= range.high[0]; x++)
                count = neighbour_grid_collect(nearby, cell_at(nearby, x, y, z),
                                               count);
    qsort(nearby->found, (size_t)count, sizeof *nearby->found,
          nw_compare_int32);
    return count;
}
