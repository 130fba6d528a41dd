/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data that the kernels of a step use: the addresses of the fields, the
 * conditions beyond the sides, and the variant. The kernels are compiled for
 * each precision and instruction set; a table of them is one
 * `nw_mpdata_kernels`.
 */
#ifndef NW_MPDATA_VIEW_H
#define NW_MPDATA_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes before the first cell of a row: ghosts of the contiguous axis, its own
 * and those after the row before, in one cache line. */
#define NW_MPDATA_LINE 64

/* Full arrays of the stages: fluxes, extrema before the step and of a pass, x*,
 * velocities, ratios. */
enum nw_mpdata_stage_array {
    NW_STAGE_F1,
    NW_STAGE_F2,
    NW_STAGE_F3,
    NW_STAGE_MX0,
    NW_STAGE_MN0,
    NW_STAGE_MX,
    NW_STAGE_MN,
    NW_STAGE_XS,
    NW_STAGE_V1,
    NW_STAGE_V2,
    NW_STAGE_V3,
    NW_STAGE_CP,
    NW_STAGE_CN,
    NW_STAGE_W1, /* velocities of the pass before */
    NW_STAGE_W2,
    NW_STAGE_W3,
    NW_STAGE_COUNT
};

struct nw_mpdata_view {
    ptrdiff_t n[3];
    ptrdiff_t plane, pitch; /* strides in elements */
    ptrdiff_t ghost;
    bool open[3][2];
    int32_t passes;
    bool limited, gauge, third, divergent, fast;
    /* all at cell (0, 0, 0); faces are those above the cell */
    const void *x, *u[3], *h;
    void *out;
    void *stage[NW_STAGE_COUNT];
};

/* Cells low <= (i, j) < high, whole rows. */
struct nw_mpdata_box {
    ptrdiff_t low[2], high[2];
};

struct nw_mpdata_kernels {
    /* one step of a box; `scratch` is of scratch_bytes for its rows */
    void (*blocked)(const struct nw_mpdata_view *view,
                    const struct nw_mpdata_box *box, void *scratch);
    size_t (*scratch_bytes)(const struct nw_mpdata_view *view, ptrdiff_t rows);
    /* one step of the whole grid, stage by stage */
    void (*stages)(const struct nw_mpdata_view *view);
};

/* Those of the best instruction set here. */
const struct nw_mpdata_kernels *nw_mpdata_kernels_find(bool single);

#endif
