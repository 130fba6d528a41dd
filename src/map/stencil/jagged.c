/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides cells into pieces of given sizes. The cells are cut across one
 * dimension into slabs of several pieces, each slab across the next dimension
 * into strips, and each strip along the last dimension into pieces. Every piece
 * is nearly a box, even if the sizes do not divide each other. */
#include "map/stencil/grid_part.h"

#include <stdlib.h>
#include <string.h>

/* State of the cuts, and of the cells that are being cut. */
struct jagged_work {
    struct nw_grid_part_work *of;   /* the listed cells, which are being
                                       sorted */
    const int32_t *begin;           /* index of the listed cell at which each
                                       piece begins; the last entry is the end
                                       of the last piece */
    double extent[NW_STENCIL_DIMS]; /* approximate size, in cells, of the box of
                                       the cells that are being cut */
    bool cut[NW_STENCIL_DIMS];      /* true: the cells were already cut across
                                       this dimension */
};

/* A search for the number of parts into which each dimension is divided: the
 * best numbers so far (`count`), and the present trial. */
struct jagged_choice {
    const struct jagged_work *work;
    double each; /* cells per piece */
    double best; /* bytes inside a piece for the best numbers; -1: none yet */
    int along;   /* dimension that is not cut into parts, but along which pieces
                    follow each other */
    int32_t count[NW_STENCIL_DIMS], trial[NW_STENCIL_DIMS];
};

double nw_stencil_inside_about(const struct nw_stencil *stencil,
                               const double *shape)
{
    double sum = 0;

    for (int i = 0; i < stencil->offsets; i++) {
        double pairs = stencil->bytes[i];

        for (int d = 0; d < stencil->dims; d++) {
            bool round = stencil->periodic[d] && shape[d] >= stencil->size[d];
            double left = round ? shape[d]
                                : shape[d] - (double)abs(stencil->offset[i][d]);

            pairs *= left > 0 ? left : 0;
        }
        sum += pairs;
    }
    return sum;
}

/* Keeps the numbers of the trial if a piece then has more bytes inside than the
 * best so far. Skips a trial whose pieces would be shorter than one cell, if
 * another was kept before. `along`: dimension along which pieces follow each
 * other. */
static void jagged_weigh(struct jagged_choice *choice, int along)
{
    double shape[NW_STENCIL_DIMS], length = choice->each, kept;

    for (int d = 0; d < choice->work->of->stencil->dims; d++)
        if (d != along) {
            shape[d] = choice->work->extent[d] / choice->trial[d];
            length /= shape[d];
        }
    shape[along] = length;
    if (length < 1 && choice->best >= 0)
        return;
    kept = nw_stencil_inside_about(choice->work->of->stencil, shape);
    if (kept <= choice->best)
        return;
    choice->best = kept;
    choice->along = along;
    memcpy(choice->count, choice->trial, sizeof choice->count);
}

/* Tries all numbers of parts in the dimensions from d on, except `along` and
 * those that were cut before, which have one part. */
static void jagged_try_counts(struct jagged_choice *choice, int along, int d)
{
    const struct jagged_work *work = choice->work;

    if (d == work->of->stencil->dims) {
        jagged_weigh(choice, along);
        return;
    }
    choice->trial[d] = 1;
    jagged_try_counts(choice, along, d + 1);
    if (d == along || work->cut[d])
        return;
    for (int32_t n = 2; n <= work->extent[d]; n++) {
        choice->trial[d] = n;
        jagged_try_counts(choice, along, d + 1);
    }
}

/* Returns the dimension to cut next and sets *parts to the number of parts. If
 * only the dimension along which pieces follow each other is left, *parts is 0:
 * the cells are only sorted along it. `each`: cells per piece. */
static int jagged_choose(const struct jagged_work *work, double each,
                         int32_t *parts)
{
    struct jagged_choice choice = {.work = work, .each = each, .best = -1};
    int dims = work->of->stencil->dims;

    for (int along = 0; along < dims; along++)
        if (!work->cut[along])
            jagged_try_counts(&choice, along, 0);
    for (int d = 0; d < dims; d++)
        if (d != choice.along && choice.count[d] > 1) {
            *parts = choice.count[d];
            return d;
        }
    *parts = 0;
    return choice.along;
}

/* Sorts the cells of pieces from .. to - 1 so that each piece is nearly a box:
 * cuts them across one dimension, then each part across the other dimensions.
 */
static void jagged_cut_jagged(const struct jagged_work *work, int32_t from,
                              int32_t to)
{
    struct nw_grid_part_work *of = work->of;
    int32_t pieces = to - from, parts;
    int32_t first = work->begin[from], end = work->begin[to];
    struct jagged_work part = *work;
    int d;

    if (pieces < 2 || first == end)
        return;
    d = jagged_choose(work, (double)(end - first) / pieces, &parts);
    nw_grid_part_sort(of, first, end, d);
    memcpy(of->cell + first, of->order + first,
           (size_t)(end - first) * sizeof *of->cell);
    part.cut[d] = true;
    for (int64_t i = 0; i < parts; i++) {
        int32_t begin = (int32_t)(pieces * i / parts);
        int32_t stop = (int32_t)(pieces * (i + 1) / parts);

        part.extent[d] = work->extent[d] * (stop - begin) / pieces;
        jagged_cut_jagged(&part, from + begin, from + stop);
    }
}

void nw_grid_part_jagged(struct nw_grid_part_work *work, const int32_t *begin,
                         int32_t pieces)
{
    struct jagged_work jagged = {.of = work, .begin = begin};

    for (int d = 0; d < work->stencil->dims; d++) {
        struct nw_grid_part_span span =
            nw_grid_part_span(work, begin[0], begin[pieces], d);

        jagged.extent[d] = span.high - span.low + 1;
    }
    jagged_cut_jagged(&jagged, 0, pieces);
}
