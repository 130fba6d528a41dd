/* SPDX-License-Identifier: BSD-3-Clause */
/* The grid that a pattern was made on, found again from its edges. */
#ifndef NW_PATTERN_GRID_H
#define NW_PATTERN_GRID_H

#include "pattern/spec.h"

#define NW_GRID_CODES 27 /* offsets of -1, 0, 1 in 3 dimensions */

/* One kind's edges: a stencil, or all-to-all along the first dimension of
 * size[0] x size[1] (`col`; bytes[0] and messages[0] of each pair). An offset
 * is a number in base 3, first dimension first, digit 1 for 0. */
struct nw_grid_found {
    struct nw_grid grid;
    bool col, periodic[NW_SPEC_DIMS];
    bool active[NW_GRID_CODES];
    uint64_t bytes[NW_GRID_CODES], messages[NW_GRID_CODES]; /* means */
};

/* False where the edges of that kind lie on no grid whose directions carry
 * the same bytes everywhere within a tenth. */
bool nw_grid_find(const nw_pattern *pattern, enum nw_kind kind,
                  struct nw_grid_found *out);

int nw_grid_codes(const struct nw_grid *grid);
void nw_grid_offset(const struct nw_grid *grid, int code, int32_t *offset);
void nw_grid_coordinates(const struct nw_grid *grid, int32_t rank, int32_t *at);
/* The rank at an offset of -1, 0 or 1 in each dimension, -1 beyond an open
 * border. */
int32_t nw_grid_neighbour(const struct nw_grid *grid, const bool *periodic,
                          const int32_t *at, const int32_t *offset);

#endif
