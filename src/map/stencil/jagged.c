/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells cut into pieces of any sizes in strips: slabs of several pieces across
 * one dimension, strips of them across the next, and pieces along the last,
 * each of exactly the cells it is to have. Every one of them is nearly a box,
 * whatever divides. */
#include "map/stencil/grid.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct strips {
    const struct nw_tiling *tiling;
    int32_t *cell, *order, *layer;
    const int32_t *begin;        /* of each piece, and the last one's end */
    double extent[NW_TILE_DIMS]; /* of the cells looked at, about */
    bool cut[NW_TILE_DIMS];      /* across these they were cut before */
};

/* Into how many parts a dimension is cut: the best so far, and one tried. */
struct choice {
    const struct strips *strips;
    double each; /* cells of a piece */
    double best;
    int along; /* the dimension pieces follow each other in */
    int32_t count[NW_TILE_DIMS], trial[NW_TILE_DIMS];
};

double nw_tiling_inside_about(const struct nw_tiling *tiling,
                              const double *shape)
{
    double sum = 0;

    for (int i = 0; i < tiling->steps; i++) {
        double pairs = tiling->bytes[i];

        for (int d = 0; d < tiling->dims; d++) {
            bool round = tiling->periodic[d] && shape[d] >= tiling->size[d];
            double left =
                round ? shape[d] : shape[d] - (double)abs(tiling->step[i][d]);

            pairs *= left > 0 ? left : 0;
        }
        sum += pairs;
    }
    return sum;
}

/* Takes the trial's parts where pieces keep more inside. */
static void weigh(struct choice *choice, int along)
{
    double shape[NW_TILE_DIMS], length = choice->each, kept;

    for (int d = 0; d < choice->strips->tiling->dims; d++)
        if (d != along) {
            shape[d] = choice->strips->extent[d] / choice->trial[d];
            length /= shape[d];
        }
    shape[along] = length;
    if (length < 1 && choice->best >= 0)
        return;
    kept = nw_tiling_inside_about(choice->strips->tiling, shape);
    if (kept <= choice->best)
        return;
    choice->best = kept;
    choice->along = along;
    memcpy(choice->count, choice->trial, sizeof choice->count);
}

static void try_counts(struct choice *choice, int along, int d)
{
    const struct strips *strips = choice->strips;

    if (d == strips->tiling->dims) {
        weigh(choice, along);
        return;
    }
    choice->trial[d] = 1;
    try_counts(choice, along, d + 1);
    if (d == along || strips->cut[d])
        return;
    for (int32_t n = 2; n <= strips->extent[d]; n++) {
        choice->trial[d] = n;
        try_counts(choice, along, d + 1);
    }
}

/* The dimension to cut next: across strips while there are some to be cut. */
static int choose(const struct strips *strips, double each, int32_t *parts)
{
    struct choice choice = {.strips = strips, .each = each, .best = -1};
    int dims = strips->tiling->dims;

    for (int along = 0; along < dims; along++)
        if (!strips->cut[along])
            try_counts(&choice, along, 0);
    for (int d = 0; d < dims; d++)
        if (d != choice.along && choice.count[d] > 1) {
            *parts = choice.count[d];
            return d;
        }
    *parts = 0;
    return choice.along;
}

struct span {
    int32_t low, high;
};

static struct span span_of(const struct strips *strips, int32_t first,
                           int32_t end, int d)
{
    const struct nw_tiling *tiling = strips->tiling;
    struct span span = {tiling->size[d], 0};

    for (int32_t i = first; i < end; i++) {
        int32_t x = nw_tiling_at(tiling, strips->cell[i], d);

        span.low = x < span.low ? x : span.low;
        span.high = x > span.high ? x : span.high;
    }
    return span;
}

/* Cells first .. end - 1 by coordinate d, in the order they are in else. */
static void sort(const struct strips *strips, int32_t first, int32_t end, int d)
{
    const struct nw_tiling *tiling = strips->tiling;
    struct span span = span_of(strips, first, end, d);
    int32_t *layer = strips->layer;

    memset(layer + span.low, 0,
           ((size_t)(span.high - span.low) + 2) * sizeof *layer);
    for (int32_t i = first; i < end; i++)
        layer[nw_tiling_at(tiling, strips->cell[i], d) + 1]++;
    for (int32_t x = span.low; x <= span.high; x++)
        layer[x + 1] += layer[x];
    for (int32_t i = first; i < end; i++) {
        int32_t x = nw_tiling_at(tiling, strips->cell[i], d);

        strips->order[layer[x]++] = strips->cell[i];
    }
    memcpy(strips->cell + first, strips->order,
           (size_t)(end - first) * sizeof *strips->cell);
}

static void cut_strips(const struct strips *strips, int32_t from, int32_t to)
{
    int32_t pieces = to - from, parts;
    int32_t first = strips->begin[from], end = strips->begin[to];
    struct strips part = *strips;
    int d;

    if (pieces < 2 || first == end)
        return;
    d = choose(strips, (double)(end - first) / pieces, &parts);
    sort(strips, first, end, d);
    part.cut[d] = true;
    for (int64_t i = 0; i < parts; i++) {
        int32_t begin = (int32_t)(pieces * i / parts);
        int32_t stop = (int32_t)(pieces * (i + 1) / parts);

        part.extent[d] = strips->extent[d] * (stop - begin) / pieces;
        cut_strips(&part, from + begin, from + stop);
    }
}

static void measure(struct strips *strips, int32_t end)
{
    for (int d = 0; d < strips->tiling->dims; d++) {
        struct span span = span_of(strips, strips->begin[0], end, d);

        strips->extent[d] = span.high - span.low + 1;
    }
}

nw_status nw_tiling_strips(const struct nw_tiling *tiling, int32_t *cell,
                           const int32_t *begin, int32_t pieces)
{
    struct strips strips = {.tiling = tiling, .cell = cell, .begin = begin};
    int32_t count = begin[pieces] - begin[0], most = 0;
    nw_status status;

    for (int d = 0; d < tiling->dims; d++)
        most = tiling->size[d] > most ? tiling->size[d] : most;
    status = nw_alloc((size_t)count, sizeof *strips.order, &strips.order);
    if (!status)
        status =
            nw_alloc((size_t)most + 1, sizeof *strips.layer, &strips.layer);
    if (!status) {
        measure(&strips, begin[pieces]);
        cut_strips(&strips, 0, pieces);
    }
    free(strips.order);
    free(strips.layer);
    return status;
}
