/* SPDX-License-Identifier: BSD-3-Clause */
/* What the children of a cluster hold, on a grid, made round: no cut across
 * comes near where borders askew cost little more than straight ones. */
#include "map/multilevel/rb_internal.h"
#include "base/array.h"
#include "map/stencil/power_diagram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORK_MOST 1500000 /* cells times parts */

struct rounded {
    struct nw_round round;
    float *at;
    int32_t *part;
};

/* A length along each dimension, so that as many bytes cross a border of the
 * same area across any, and the product is 1. */
static void stretch(const struct nw_tiling *tiling, double scale[NW_TILE_DIMS])
{
    double product = 1;

    for (int d = 0; d < tiling->dims; d++) {
        double across = 0;

        for (int i = 0; i < tiling->steps; i++)
            across += tiling->bytes[i] * abs(tiling->step[i][d]);
        scale[d] = across > 0 ? 1 / across : 1;
        product *= scale[d];
    }
    for (int d = 0; d < tiling->dims; d++)
        scale[d] /= pow(product, 1.0 / tiling->dims);
}

static nw_status place(const struct sectioning *work, const struct piece *piece,
                       struct rounded *out)
{
    const struct nw_tiling *tiling = work->section->tiling;
    size_t n = (size_t)(piece->end - piece->first);
    double scale[NW_TILE_DIMS];
    nw_status status =
        nw_alloc_raw(n * (size_t)tiling->dims, sizeof *out->at, &out->at);

    if (!status)
        status = nw_alloc_raw(n, sizeof *out->part, &out->part);
    if (status)
        return status;
    stretch(tiling, scale);
    out->round.n = (int32_t)n;
    out->round.dims = tiling->dims;
    out->round.part = out->part;
    for (int d = 0; d < tiling->dims; d++) {
        float *at = out->at + (size_t)d * n;

        for (size_t i = 0; i < n; i++)
            at[i] = (float)(scale[d] *
                            work->at[d][work->list[piece->first + (int32_t)i]]);
        out->round.at[d] = at;
        out->round.ring[d] =
            tiling->periodic[d] ? (float)(scale[d] * tiling->size[d]) : 0;
    }
    return NW_OK;
}

nw_status nw_section_round(const struct sectioning *work,
                           const struct piece *piece, struct nw_sift *sift)
{
    struct rounded rounded = {.round = {.parts = sift->parts,
                                        .seed = sift->seed,
                                        .threads = sift->threads}};
    size_t bytes = (size_t)sift->graph->n * sizeof *sift->part;
    nw_status status;

    if (sift->parts < 3 || (double)sift->graph->n * sift->parts > WORK_MOST)
        return NW_OK;
    status = place(work, piece, &rounded);
    if (!status) {
        memcpy(rounded.part, sift->part, bytes);
        status = nw_round(&rounded.round);
    }
    if (!status && nw_sift_cut(sift->graph, rounded.part) <
                       nw_sift_cut(sift->graph, sift->part))
        memcpy(sift->part, rounded.part, bytes);
    free(rounded.at);
    free(rounded.part);
    return status;
}
