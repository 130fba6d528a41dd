/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the pieces that may own cells of a box, without searching all pieces. A
 * coarse grid over the domain lists the pieces that overlap each of its cells.
 */
#ifndef NW_HALO_PLAN_NEIGHBOUR_GRID_H
#define NW_HALO_PLAN_NEIGHBOUR_GRID_H

#include "halo/plan/layout.h"

struct nw_halo_neighbour_grid {
    int64_t extent[3];  /* cells of the domain along each axis */
    int32_t cells[3];   /* grid cells along each axis */
    int32_t *first;     /* [grid cells + 1] start of each cell's list in item */
    int32_t *item;      /* numbers of the pieces that overlap each cell */
    int32_t *found;     /* [piece_count] result of the last query, ascending */
    uint64_t *seen;     /* [piece_count] last query that found this piece */
    uint64_t questions; /* number of queries until now */
};

NW_MUST_CHECK nw_status nw_halo_neighbour_grid_make(
    const nw_halo_layout *layout, struct nw_halo_neighbour_grid *out);
void nw_halo_neighbour_grid_fini(struct nw_halo_neighbour_grid *nearby);
/* Sets nearby->found to all pieces that own cells of `box` inside the domain,
 * and to other pieces of the same grid cells. Returns their number. */
int32_t nw_halo_neighbour_grid_find(struct nw_halo_neighbour_grid *nearby,
                                    const struct nw_halo_box *box);

#endif
