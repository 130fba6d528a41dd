/* SPDX-License-Identifier: BSD-3-Clause */
/* Recovers the process grid of a pattern from its edges. */
#ifndef NW_PATTERN_GRID_H
#define NW_PATTERN_GRID_H

#include "pattern/spec.h"

#define NW_GRID_CODES 27 /* offsets -1, 0, 1 in 3 dimensions */

/* The grid that was found for the edges of one kind. The edges are a stencil
 * or, if `col` is set, all-to-all along the first dimension of a grid size[0] x
 * size[1]. In this case, bytes[0] and messages[0] are the means of all edges.
 * The code of an offset is a number in base 3, whose first digit belongs to the
 * first dimension. Digits 0, 1, 2 mean -1, 0, 1. */
struct nw_grid_found {
    struct nw_grid grid;
    bool col, periodic[NW_SPEC_DIMS];
    /* whether the stencil has edges with the offset of each code */
    bool active[NW_GRID_CODES];
    /* means of the edges with the offset of each code */
    uint64_t bytes[NW_GRID_CODES], messages[NW_GRID_CODES];
};

/* Finds a grid on which the edges of `kind` are a stencil or all-to-all along
 * the first dimension. The bytes of edges with the same offset, or of all edges
 * of the all-to-all, may differ by at most a tenth of their mean. Returns false
 * if no grid fits, if the pattern has no edge of this kind, and for one rank.
 */
bool nw_grid_find(const nw_pattern *pattern, enum nw_kind kind,
                  struct nw_grid_found *out);

/* nw_grid_codes returns the number of offset codes of a grid. nw_grid_offset
 * converts a code to an offset of -1, 0 or 1 in each dimension.
 * nw_grid_coordinates converts a rank to its position. */
int nw_grid_codes(const struct nw_grid *grid);
void nw_grid_offset(const struct nw_grid *grid, int code, int32_t *offset);
void nw_grid_coordinates(const struct nw_grid *grid, int32_t rank, int32_t *at);
/* Returns the rank at an offset of -1, 0 or 1 in each dimension, or -1 if the
 * offset crosses a border that is not periodic. */
int32_t nw_grid_neighbour(const struct nw_grid *grid, const bool *periodic,
                          const int32_t *at, const int32_t *offset);

#endif
