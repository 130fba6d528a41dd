/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the pieces that may own cells of a box without a search of all pieces:
 * a coarse grid over the domain lists the pieces that overlap each grid cell.
 */
#ifndef NW_HALO_PLAN_NEIGHBOUR_GRID_H
#define NW_HALO_PLAN_NEIGHBOUR_GRID_H

#include "halo/plan/layout.h"

struct nw_halo_neighbour_grid {
    int64_t extent[3];
    int32_t cells[3];
    int32_t *first; /* [cells + 1] into item */
    int32_t *item;  /* pieces */
    int32_t *found; /* [piece_count] the last result, ascending */
    uint64_t *seen; /* [piece_count] the last query that found the piece */
    uint64_t questions;
};

NW_MUST_CHECK nw_status nw_halo_neighbour_grid_make(
    const nw_halo_layout *layout, struct nw_halo_neighbour_grid *out);
void nw_halo_neighbour_grid_fini(struct nw_halo_neighbour_grid *nearby);
/* Sets nearby->found to the pieces that may own cells of `box` inside the
 * domain; returns their number. */
int32_t nw_halo_neighbour_grid_find(struct nw_halo_neighbour_grid *nearby,
                                    const struct nw_halo_box *box);

#endif
