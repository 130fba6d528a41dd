/* SPDX-License-Identifier: BSD-3-Clause */
/* Which pieces may own cells of a box, without looking at all of them: a
 * coarse grid over the domain lists the pieces that reach into each cell. */
#ifndef NW_HALO_PLAN_NEIGHBOUR_GRID_H
#define NW_HALO_PLAN_NEIGHBOUR_GRID_H

#include "halo/plan/layout.h"

struct nw_halo_neighbour_grid {
    int64_t extent[3];
    int32_t cells[3];
    int32_t *first; /* [cells + 1] into item */
    int32_t *item;  /* pieces */
    int32_t *found; /* [piece_count] the last answer, ascending */
    uint64_t *seen; /* [piece_count] questions that found it */
    uint64_t questions;
};

NW_MUST_CHECK nw_status nw_halo_neighbour_grid_make(
    const nw_halo_layout *layout, struct nw_halo_neighbour_grid *out);
void nw_halo_neighbour_grid_fini(struct nw_halo_neighbour_grid *nearby);
/* Pieces that may have cells of the part of `box` in the domain, in
 * nearby->found; returns their count. */
int32_t nw_halo_neighbour_grid_find(struct nw_halo_neighbour_grid *nearby,
                                    const struct nw_halo_box *box);

#endif
