/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grids of processes: finds the grid along which processes are numbered from
 * their edges alone, and embeds its cells into a hierarchy.
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
     * the edges along each offset */
    int offsets;
    int32_t offset[NW_STENCIL_OFFSETS][NW_STENCIL_DIMS];
    double bytes[NW_STENCIL_OFFSETS];
    /* every edge along the offsets exists and has the mean bytes */
    bool uniform;
    double filled; /* fraction of the edges along the offsets that exist */
    double uneven; /* fraction of the sum of squared bytes that the means do not
                      explain */
};

/* Finds the grid; sets *found to false if the processes form none. O(edges). */
NW_MUST_CHECK nw_status nw_stencil_find(const struct nw_assignment *assignment,
                                        struct nw_stencil *out, bool *found);

/* Finds a grid under any numbering of the processes: order[count] lists the
 * processes row by row. Sets *found to false if there is no grid. */
NW_MUST_CHECK nw_status nw_stencil_find_unordered(
    const struct nw_assignment *assignment, int32_t *order, bool *found);

/* Fills slot[count] with an embedding of equal boxes within boxes, found by
 * dynamic programming. Sets *done to false if sizes do not divide or something
 * is fixed. */
NW_MUST_CHECK nw_status nw_stencil_nested_boxes(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    int32_t *slot, bool *done);
/* Kinds of cuts, as bits. LAYERS: split clusters where whole layers split, not
 * in the middle. PACKED: fill clusters one after the other, not evenly. JAGGED:
 * cut the children of the root as a jagged partition; NW_STENCIL_JAGGED << l
 * does so for the clusters l levels below. */
enum nw_stencil_cut_kind {
    NW_STENCIL_LAYERS = 1,
    NW_STENCIL_PACKED = 2,
    NW_STENCIL_JAGGED = 4
};

/* Fills slot[count] by recursive coordinate bisection, for grids of any size;
 * no slot may be fixed. */
NW_MUST_CHECK nw_status nw_stencil_coordinate_bisection(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    int kind, int32_t *slot);
/* Divides cells begin[0] .. begin[pieces] - 1 of the list into a jagged
 * partition of near-boxes; piece i takes the entries begin[i] .. begin[i + 1] -
 * 1. */
NW_MUST_CHECK nw_status nw_stencil_jagged(const struct nw_stencil *stencil,
                                          int32_t *cell, const int32_t *begin,
                                          int32_t pieces);

/* A division of the grid into columns: `count` across each dimension, followed
 * upwards and downwards in turn along dimension `along`. */
struct nw_stencil_columns {
    int along;
    int32_t count[NW_STENCIL_DIMS];
    double kept; /* estimate of the bytes that stay inside a piece */
};

/* Lists at most `most` divisions that suit pieces of `each` cells, the best
 * first; returns their number. */
int nw_stencil_columns(const struct nw_stencil *stencil, double each, int most,
                       struct nw_stencil_columns *out);
/* Fills cell[count] in the order of the columns. */
void nw_stencil_follow_columns(const struct nw_stencil *stencil,
                               const struct nw_stencil_columns *columns,
                               int32_t *cell);
/* Fills slot[count] like nw_stencil_coordinate_bisection, but gives cells to
 * the children of the root in the order of the columns. */
NW_MUST_CHECK nw_status nw_stencil_bisect_columns(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    const struct nw_stencil_columns *columns, int32_t *slot);

struct nw_best_tiling {
    /* tries only nested boxes and one kind of cut, if time is short */
    bool once;
    bool few; /* tries fewer kinds of cuts if cells neither fill boxes well nor
                 form a plane, because bisection follows */
    double cost;  /* cost of the assignment, in and out */
    bool found;   /* out: the processes form a grid */
    bool boxed;   /* out: nested boxes divide the grid and are nearly cubes */
    bool layered; /* out: cuts between whole layers were better */
    struct nw_stencil stencil; /* the grid, if found */
};

/* Moves the processes to the best embedding if it costs less than the
 * assignment. Renumbers the processes if the grid was found under another
 * numbering. */
NW_MUST_CHECK nw_status nw_assignment_best_tiling(
    struct nw_assignment *assignment, struct nw_best_tiling *try);

/* Returns the bytes between the cells of a box, counting each pair once. */
double nw_stencil_inside(const struct nw_stencil *stencil,
                         const int32_t *shape);

/* Returns a lower bound on the hop-bytes, counting each pair once; 0 if
 * unknown. A bound is known only for grids that are not periodic, have face
 * neighbours only and fill the machine. */
double nw_stencil_lower_bound(const struct nw_assignment *assignment,
                              const struct nw_stencil *stencil);

/* Returns nw_stencil_inside for a box whose sizes are not integers. */
double nw_stencil_inside_about(const struct nw_stencil *stencil,
                               const double *shape);

static inline int32_t nw_stencil_coordinate(const struct nw_stencil *stencil,
                                            int32_t p, int d)
{
    return p / stencil->stride[d] % stencil->size[d];
}

#endif
