/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides a piece of a grid among the children of a cluster by a power diagram,
 * which gives compact parts. Cuts at right angles to the dimensions are far
 * from the optimum if oblique borders cost little more than straight ones. */
#include "map/multilevel/rb_internal.h"
#include "base/array.h"
#include "map/stencil/power_diagram.h"
#include "map/common/parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* State while one piece is divided by a power diagram. */
struct rb_power_diagram_rounding {
    struct nw_power_diagram round;
    float *at;     /* [dims][cells] scaled coordinates */
    int32_t *part; /* [cells] part of each cell */
};

/* Computes a scale for each dimension, so that borders of equal area cut equal
 * bytes whatever dimension they cross. The product of the scales is 1. */
static void rb_power_diagram_stretch(const struct nw_stencil *stencil,
                                     double scale[NW_STENCIL_DIMS])
{
    double product = 1;

    for (int d = 0; d < stencil->dims; d++) {
        double across = nw_stencil_across(stencil, d);

        scale[d] = across > 0 ? 1 / across : 1;
        product *= scale[d];
    }
    for (int d = 0; d < stencil->dims; d++)
        scale[d] /= pow(product, 1.0 / stencil->dims);
}

/* Allocates the power diagram of a piece and fills the scaled coordinates of
 * its cells. */
static nw_status rb_power_diagram_place(const struct sectioning *work,
                                        const struct piece *piece,
                                        struct rb_power_diagram_rounding *out)
{
    const struct nw_stencil *stencil = work->bisection->stencil;
    size_t n = (size_t)(piece->end - piece->first);
    double scale[NW_STENCIL_DIMS];
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY_RAW(n * (size_t)stencil->dims, out->at),
                     NW_ARRAY_RAW(n, out->part));

    if (status)
        return status;
    rb_power_diagram_stretch(stencil, scale);
    out->round.n = (int32_t)n;
    out->round.dims = stencil->dims;
    out->round.part = out->part;
    for (int d = 0; d < stencil->dims; d++) {
        float *at = out->at + (size_t)d * n;

        for (size_t i = 0; i < n; i++)
            at[i] = (float)(scale[d] *
                            work->at[d][work->list[piece->first + (int32_t)i]]);
        out->round.at[d] = at;
        out->round.ring[d] =
            stencil->periodic[d] ? (float)(scale[d] * stencil->size[d]) : 0;
    }
    return NW_OK;
}

nw_status nw_rb_power_diagram(const struct sectioning *work,
                              const struct piece *piece,
                              struct nw_anneal_kway *anneal)
{
    struct rb_power_diagram_rounding rounding = {
        .round = {.parts = anneal->parts,
                  .seed = anneal->seed,
                  .threads = anneal->threads}};
    size_t bytes = (size_t)anneal->graph->n * sizeof *anneal->part;
    nw_status status;

    if (anneal->parts < 3 || (double)anneal->graph->n * anneal->parts >
                                 nw_tuned.multilevel.power_diagram_work)
        return NW_OK;
    status = rb_power_diagram_place(work, piece, &rounding);
    if (!status) {
        memcpy(rounding.part, anneal->part, bytes);
        status = nw_power_diagram(&rounding.round);
    }
    if (!status && nw_anneal_kway_cut(anneal->graph, rounding.part) <
                       nw_anneal_kway_cut(anneal->graph, anneal->part))
        memcpy(anneal->part, rounding.part, bytes);
    free(rounding.at);
    free(rounding.part);
    return status;
}
