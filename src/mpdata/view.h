/* SPDX-License-Identifier: BSD-3-Clause */
/* The data that the kernels of a step use: addresses of the fields, conditions
 * at the sides, and the variant of the method. The kernels are compiled for
 * each precision and instruction set; each version is one table
 * `nw_mpdata_kernels`. */
#ifndef NW_MPDATA_VIEW_H
#define NW_MPDATA_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes before the first cell of a row: one cache line, which holds the ghosts
 * after the last cell of the previous row and those before the first cell of
 * this row. */
#define NW_MPDATA_LINE 64

/* The whole arrays of the staged solver: fluxes (F), extrema of x before the
 * step (MX0, MN0) and of a pass (MX, MN), the intermediate x* (XS), velocities
 * of the passes 2, 4, ... (V), ratios of the limiter (CP, CN). */
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
    NW_STAGE_W1, /* velocities of the passes 3, 5, ... */
    NW_STAGE_W2,
    NW_STAGE_W3,
    NW_STAGE_COUNT
};

/* The description of a step. */
struct nw_mpdata_view {
    ptrdiff_t n[3];
    ptrdiff_t plane, pitch; /* strides in elements */
    ptrdiff_t ghost;
    bool open[3][2];
    int32_t passes;
    bool limited, gauge, third, divergent, fast;
    /* addresses of cell (0, 0, 0); velocities belong to the upper face of a
     * cell */
    const void *x, *u[3], *h;
    void *out;
    void *stage[NW_STAGE_COUNT];
};

/* The rows (i, j), of plane i and row j, with low <= (i, j) < high on both
 * axes. */
struct nw_mpdata_box {
    ptrdiff_t low[2], high[2];
};

struct nw_mpdata_kernels {
    /* computes one step of the cells in a box; `scratch` is working memory,
     * whose size scratch_bytes() returns for a number of rows */
    void (*blocked)(const struct nw_mpdata_view *view,
                    const struct nw_mpdata_box *box, void *scratch);
    size_t (*scratch_bytes)(const struct nw_mpdata_view *view, ptrdiff_t rows);
    /* computes one step of the whole grid, stage by stage */
    void (*stages)(const struct nw_mpdata_view *view);
};

/* Returns the kernels for the best instruction set of this CPU. */
const struct nw_mpdata_kernels *nw_mpdata_kernels_find(bool single);

#endif
