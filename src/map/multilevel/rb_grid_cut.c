/* SPDX-License-Identifier: BSD-3-Clause */
/* Bisects a piece of a grid: makes initial cuts that follow the grid and
 * refines each by FM. If the sizes of the grid do not divide evenly, the result
 * is better than straight cuts. It is found faster than by coarsening the
 * graph. */
#include "map/multilevel/rb_internal.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* State while one piece of a grid is bisected. */
struct rb_grid_cut_work {
    const struct sectioning *work;
    const struct piece *piece;
    const struct nw_graph *graph;
    struct nw_random *random;
    int8_t *side, *best;
    double least; /* bytes of the best cut so far; -1: no cut yet */
};

/* Marks the straight cut across dimension d in bit `bit` of side[]: in the
 * order of coordinate d, the bit stays 0 for the first piece->left cells and is
 * set for the others. */
static nw_status rb_grid_cut_mark_across(const struct rb_grid_cut_work *cut,
                                         int d, int bit)
{
    const int32_t *cell = cut->work->list + cut->piece->first;
    const int32_t *at = cut->work->at[d];
    int32_t *layer = NULL, size = cut->work->bisection->stencil->size[d];
    nw_status status = nw_alloc((size_t)size + 1, sizeof *layer, &layer);

    if (status)
        return status;
    for (int32_t i = 0; i < cut->graph->n; i++)
        layer[at[cell[i]] + 1]++;
    for (int32_t x = 0; x < size; x++)
        layer[x + 1] += layer[x];
    for (int32_t i = 0; i < cut->graph->n; i++)
        cut->side[i] |=
            (int8_t)((layer[at[cell[i]]]++ >= cut->piece->left) << bit);
    free(layer);
    return NW_OK;
}

/* Refines the cut in side[] by FM and keeps it if it is the best so far. If
 * side 0 has only one cell, the refinement grows it to piece->left cells. */
static nw_status rb_grid_cut_finish(struct rb_grid_cut_work *cut)
{
    const struct sectioning *work = cut->work;
    struct nw_bisection to = nw_bisection_exact(cut->graph, cut->piece->left);
    struct nw_fm fm = {cut->graph, &to, cut->side,
                       .most = work->unit > 0 ? work->most : 0};
    double bytes;
    nw_status status;

    to.reduced_effort = nw_rb_reduces_effort(work);
    status = nw_fm(&fm);
    bytes = fm.cut;

    if (!status && work->bisection->loose > 0)
        bytes *= 1 + work->bisection->loose * nw_random_unit(cut->random);
    if (status || (cut->least >= 0 && bytes >= cut->least))
        return status;
    cut->least = bytes;
    memcpy(cut->best, cut->side, (size_t)cut->graph->n);
    return NW_OK;
}

/* Makes and refines a cut whose side 0 grows from the cell of index `from`. */
static nw_status rb_grid_cut_grow(struct rb_grid_cut_work *cut, int32_t from)
{
    memset(cut->side, 1, (size_t)cut->graph->n);
    cut->side[from] = 0;
    return rb_grid_cut_finish(cut);
}

/* side[] holds `bits` different cuts, one in each bit. Returns the bit whose
 * cut has the fewest bytes. */
static int rb_grid_cut_least_bit(const struct rb_grid_cut_work *cut, int bits)
{
    const struct nw_graph *graph = cut->graph;
    double bytes[1 << NW_STENCIL_DIMS] = {0}, least = -1;
    int best = 0;

    for (int32_t v = 0; v < graph->n; v++)
        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            int differ = cut->side[v] ^ cut->side[graph->arc[a].to];

            if (differ) /* most edges are in no cut: skip their addition */
                bytes[differ] += (double)graph->arc[a].weight;
        }
    for (int bit = 0; bit < bits; bit++) {
        double sum = 0;

        for (int i = 0; i < 1 << bits; i++)
            sum += i >> bit & 1 ? bytes[i] : 0;
        if (least >= 0 && sum >= least)
            continue;
        least = sum;
        best = bit;
    }
    return best;
}

/* Marks the straight cuts across all dimensions and refines only the one with
 * the fewest bytes, since refining a cut takes longer than comparing all cuts.
 */
static nw_status rb_grid_cut_cut_straight(struct rb_grid_cut_work *cut)
{
    int dims = cut->work->bisection->stencil->dims, best;
    nw_status status = NW_OK;

    memset(cut->side, 0, (size_t)cut->graph->n);
    for (int d = 0; !status && d < dims; d++)
        status = rb_grid_cut_mark_across(cut, d, d);
    if (status)
        return status;
    best = rb_grid_cut_least_bit(cut, dims);
    for (int32_t i = 0; i < cut->graph->n; i++)
        cut->side[i] = cut->side[i] >> best & 1;
    return rb_grid_cut_finish(cut);
}

/* Returns the largest number of bytes of which the bytes of all offsets of the
 * grid are multiples; 0 if an offset has no whole number of bytes. */
static double rb_grid_cut_unit_of(const struct nw_stencil *stencil)
{
    int64_t unit = 0;

    for (int i = 0; i < stencil->offsets; i++) {
        double bytes = stencil->bytes[i];
        int64_t left;

        if (bytes < 1 || bytes > INT32_MAX || bytes != floor(bytes))
            return 0;
        for (left = (int64_t)bytes; left;) {
            int64_t rest = unit % left;

            unit = left;
            left = rest;
        }
    }
    return (double)unit;
}

/* Sets work->unit and work->most if the edges of each cell have so few units
 * that FM can use buckets. */
static void rb_grid_cut_measure(struct sectioning *work)
{
    const struct nw_stencil *stencil = work->bisection->stencil;
    double unit = stencil->uniform ? rb_grid_cut_unit_of(stencil) : 0, sum = 0;

    for (int i = 0; unit > 0 && i < stencil->offsets; i++)
        sum += 2 * stencil->bytes[i] / unit;
    if (sum > NW_FM_BUCKETS_MAX)
        return;
    work->unit = unit;
    work->most = (int32_t)sum;
}

nw_status nw_rb_read_grid(struct sectioning *work)
{
    const struct nw_stencil *stencil = work->bisection->stencil;
    int32_t count = work->bisection->assignment->count;
    nw_status status = NW_OK;

    for (int d = 0; !status && d < stencil->dims; d++) {
        status = nw_alloc_raw((size_t)count, sizeof *work->at[d], &work->at[d]);
        for (int32_t p = 0; !status && p < count; p++)
            work->at[d][p] = nw_stencil_coordinate(stencil, p, d);
    }
    rb_grid_cut_measure(work);
    return status;
}

/* Sets box[] to the size of the smallest box of cells around a piece. Returns
 * false if the box also contains cells that are not in the piece. */
static bool rb_grid_cut_find_box(const struct sectioning *work,
                                 const struct piece *piece, int32_t *box)
{
    const struct nw_stencil *stencil = work->bisection->stencil;
    int64_t cells = 1;

    for (int d = 0; d < stencil->dims; d++) {
        int32_t low = stencil->size[d], high = 0;

        for (int32_t i = piece->first; i < piece->end; i++) {
            int32_t x = work->at[d][work->list[i]];

            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        box[d] = high - low + 1;
        cells *= box[d];
    }
    return cells == piece->end - piece->first;
}

int32_t nw_rb_split_layers(const struct sectioning *work,
                           const struct piece *piece)
{
    struct nw_grid_part part = {.first = piece->first,
                                .end = piece->end,
                                .from = piece->from,
                                .to = piece->to};

    const struct nw_stencil *stencil = work->bisection->stencil;

    if (piece->to - piece->from < 3 || !stencil->uniform ||
        !rb_grid_cut_find_box(work, piece, part.box))
        part.box[0] = 0;
    return nw_grid_part_split_layers(
        stencil, &part, work->hierarchy->first[piece->level],
        work->bisection->kinds & NW_RB_START_PACKED);
}

nw_status nw_rb_grid_cut(const struct sectioning *work,
                         const struct piece *piece, struct nw_graph *graph,
                         struct nw_random *random, int8_t *side)
{
    struct rb_grid_cut_work cut = {work,   piece,        graph,
                                   random, .best = side, .least = -1};
    int kinds = work->bisection->kinds, dims = work->bisection->stencil->dims;
    float unit = (float)work->unit;
    nw_status status = nw_alloc((size_t)graph->n, 1, &cut.side);

    for (size_t a = 0; unit > 0 && a < graph->row[graph->n]; a++)
        graph->arc[a].weight = /* faster than rintf */
            (float)(int32_t)(graph->arc[a].weight / unit + 0.5F);
    for (int d = 0; !status && kinds & NW_RB_START_STRIPES && d < dims; d++) {
        memset(cut.side, 0, (size_t)graph->n);
        status = rb_grid_cut_mark_across(&cut, d, 0);
        if (!status)
            status = rb_grid_cut_finish(&cut);
    }
    if (!status && kinds & NW_RB_START_STRAIGHT)
        status = rb_grid_cut_cut_straight(&cut);
    if (!status && kinds & NW_RB_START_FIRST)
        status = rb_grid_cut_grow(&cut, 0);
    if (!status && kinds & NW_RB_START_LAST)
        status = rb_grid_cut_grow(&cut, graph->n - 1);
    if (!status && kinds & NW_RB_START_ANY)
        status = rb_grid_cut_grow(
            &cut, (int32_t)nw_random_below(random, (uint64_t)graph->n));
    free(cut.side);
    return status;
}
