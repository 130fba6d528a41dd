/* SPDX-License-Identifier: BSD-3-Clause */
/* How a piece of a grid is halved: first cuts that follow the grid, each moved
 * to where it lets the least across. Where sizes do not divide, that is nearer
 * to the best than straight cuts are, and cheaper than coarsening. */
#include "map/section_work.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct grid_cut {
    const struct sectioning *work;
    const struct piece *piece;
    const struct nw_halve_graph *graph;
    struct nw_random *random;
    int8_t *side, *best;
    double least; /* -1 before the first */
};

/* The first cells by a coordinate are side 0. */
static nw_status cut_across(const struct grid_cut *cut, int d)
{
    const struct nw_tiling *tiling = cut->work->section->tiling;
    const int32_t *cell = cut->work->list + cut->piece->first;
    int32_t *layer = NULL, size = tiling->size[d];
    nw_status status = nw_alloc((size_t)size + 1, sizeof *layer, &layer);

    if (status)
        return status;
    for (int32_t i = 0; i < cut->graph->n; i++)
        layer[nw_tiling_at(tiling, cell[i], d) + 1]++;
    for (int32_t x = 0; x < size; x++)
        layer[x + 1] += layer[x];
    for (int32_t i = 0; i < cut->graph->n; i++)
        cut->side[i] =
            layer[nw_tiling_at(tiling, cell[i], d)]++ >= cut->piece->left;
    free(layer);
    return NW_OK;
}

/* Moves the cut, from one cell alone too, which then grows to its size. */
static nw_status settle(struct grid_cut *cut)
{
    double bytes;
    nw_status status =
        nw_halve_refine(cut->graph, cut->piece->left, 0, cut->side, &bytes);

    if (!status && cut->work->section->loose > 0)
        bytes *= 1 + cut->work->section->loose * nw_random_unit(cut->random);
    if (status || (cut->least >= 0 && bytes >= cut->least))
        return status;
    cut->least = bytes;
    memcpy(cut->best, cut->side, (size_t)cut->graph->n);
    return NW_OK;
}

static nw_status grow(struct grid_cut *cut, int32_t from)
{
    memset(cut->side, 1, (size_t)cut->graph->n);
    cut->side[from] = 0;
    return settle(cut);
}

/* Moving one cut costs more than looking at all of them. */
static nw_status cut_straight(struct grid_cut *cut)
{
    int dims = cut->work->section->tiling->dims, best = 0;
    double least = -1;
    nw_status status = NW_OK;

    for (int d = 0; !status && d < dims; d++) {
        double bytes;

        status = cut_across(cut, d);
        bytes = nw_halve_cut(cut->graph, cut->side);
        if (least >= 0 && bytes >= least)
            continue;
        least = bytes;
        best = d;
    }
    if (!status)
        status = cut_across(cut, best);
    return status ? status : settle(cut);
}

nw_status nw_section_halve_grid(const struct sectioning *work,
                                const struct piece *piece,
                                const struct nw_halve_graph *graph,
                                struct nw_random *random, int8_t *side)
{
    struct grid_cut cut = {work,   piece,        graph,
                           random, .best = side, .least = -1};
    int ways = work->section->ways, dims = work->section->tiling->dims;
    nw_status status = nw_alloc((size_t)graph->n, 1, &cut.side);

    for (int d = 0; !status && ways & NW_SECTION_STRIPES && d < dims; d++) {
        status = cut_across(&cut, d);
        if (!status)
            status = settle(&cut);
    }
    if (!status && ways & NW_SECTION_STRAIGHT)
        status = cut_straight(&cut);
    if (!status && ways & NW_SECTION_FIRST)
        status = grow(&cut, 0);
    if (!status && ways & NW_SECTION_LAST)
        status = grow(&cut, graph->n - 1);
    if (!status && ways & NW_SECTION_ANY)
        status =
            grow(&cut, (int32_t)nw_random_below(random, (uint64_t)graph->n));
    free(cut.side);
    return status;
}
