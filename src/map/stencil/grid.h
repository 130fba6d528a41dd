/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grids: the grid that processes are numbered along, found from their edges
 * alone, and embeddings of its cells into a hierarchy.
 */
#ifndef NW_MAP_STENCIL_GRID_H
#define NW_MAP_STENCIL_GRID_H

#include "map/hierarchy/assignment.h"

#define NW_STENCIL_DIMS 5
#define NW_STENCIL_OFFSETS 128

/* Coordinate d of process p is p / stride[d] % size[d]; the last dimension
 * varies fastest. */
struct nw_stencil {
    int dims;
    int32_t size[NW_STENCIL_DIMS], stride[NW_STENCIL_DIMS];
    bool periodic[NW_STENCIL_DIMS];
    /* offsets to neighbours, one of each opposite pair, and the mean bytes of
     * the edges along them */
    int offsets;
    int32_t offset[NW_STENCIL_OFFSETS][NW_STENCIL_DIMS];
    double bytes[NW_STENCIL_OFFSETS];
    bool uniform;  /* every edge along the offsets exists and has those bytes */
    double filled; /* fraction of the edges along the offsets that exist */
    double uneven; /* fraction of the sum of squared bytes that the means do not
                      explain */
};

/* *found is false if the processes form no grid. O(edges). */
NW_MUST_CHECK nw_status nw_stencil_find(const struct nw_assignment *assignment,
                                        struct nw_stencil *out, bool *found);

/* Finds a grid under any numbering: order[count] lists the processes of the
 * cells row by row. *found is false if there is none. */
NW_MUST_CHECK nw_status nw_stencil_find_unordered(
    const struct nw_assignment *assignment, int32_t *order, bool *found);

/* Fills slot[count] with equal boxes within boxes, found by dynamic
 * programming. *done is false if sizes do not divide or something is fixed. */
NW_MUST_CHECK nw_status nw_stencil_nested_boxes(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    int32_t *slot, bool *done);
/* Kinds of cuts, as bits. LAYERS: split clusters where whole layers split, not
 * in the middle. PACKED: fill clusters one after the other, not evenly. JAGGED:
 * cut the children of the root as a jagged partition; shifted left by a level
 * each, the children of lower clusters. */
enum nw_stencil_cut_kind {
    NW_STENCIL_LAYERS = 1,
    NW_STENCIL_PACKED = 2,
    NW_STENCIL_JAGGED = 4
};

/* Fills slot[count] by recursive coordinate bisection, for any sizes; nothing
 * may be fixed. */
NW_MUST_CHECK nw_status nw_stencil_coordinate_bisection(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    int kind, int32_t *slot);
/* Divides cells begin[0] .. begin[pieces] - 1 of the list into pieces that
 * begin there: a jagged partition into near-boxes. */
NW_MUST_CHECK nw_status nw_stencil_jagged(const struct nw_stencil *stencil,
                                          int32_t *cell, const int32_t *begin,
                                          int32_t pieces);

/* A division of the grid into columns: `count` across each dimension, followed
 * upwards and downwards in turn along dimension `along`. */
struct nw_stencil_columns {
    int along;
    int32_t count[NW_STENCIL_DIMS];
    double kept; /* estimate of the bytes inside a piece */
};

/* Lists the divisions that suit pieces of `each` cells, the best first; returns
 * how many. */
int nw_stencil_columns(const struct nw_stencil *stencil, double each, int most,
                       struct nw_stencil_columns *out);
/* Fills cell[count] in the order of the columns. */
void nw_stencil_follow_columns(const struct nw_stencil *stencil,
                               const struct nw_stencil_columns *columns,
                               int32_t *cell);
/* As nw_stencil_coordinate_bisection, but gives the children of the root cells
 * in the order of the columns. */
NW_MUST_CHECK nw_status nw_stencil_bisect_columns(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    const struct nw_stencil_columns *columns, int32_t *slot);

struct nw_best_tiling {
    bool once; /* only nested boxes and one kind of cut, if time is short */
    bool few; /* fewer kinds of cuts if cells neither fill boxes well nor form a
                 plane: bisection follows */
    double cost;  /* cost of the assignment, in and out */
    bool found;   /* out: there is a grid */
    bool boxed;   /* out: nested boxes hold the grid and are nearly cubes */
    bool layered; /* out: splitting between whole layers was better */
    struct nw_stencil stencil; /* the grid, if found */
};

/* Takes the best embedding if it is better than the assignment. Renumbers the
 * processes if the grid was found under another numbering. */
NW_MUST_CHECK nw_status nw_assignment_best_tiling(
    struct nw_assignment *assignment, struct nw_best_tiling *try);

/* Bytes between the cells of a box, each pair once. */
double nw_stencil_inside(const struct nw_stencil *stencil,
                         const int32_t *shape);

/* A lower bound on the hop-bytes, each pair once; 0 if unknown. Known for open
 * grids with face neighbours only that fill their machine. */
double nw_stencil_lower_bound(const struct nw_assignment *assignment,
                              const struct nw_stencil *stencil);

/* The same for sizes that are not integral. */
double nw_stencil_inside_about(const struct nw_stencil *stencil,
                               const double *shape);

static inline int32_t nw_stencil_coordinate(const struct nw_stencil *stencil,
                                            int32_t p, int d)
{
    return p / stencil->stride[d] % stencil->size[d];
}

#endif
