/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stencils: the grid that processes are numbered along, found from their bonds
 * alone, and its cells put on a tree: boxes within boxes where everything
 * divides, which is exact among all such ways, else cuts across the grid with
 * exact sizes.
 */
#ifndef NW_MAP_STENCIL_GRID_H
#define NW_MAP_STENCIL_GRID_H

#include "map/hierarchy/assignment.h"

#define NW_STENCIL_DIMS 5
#define NW_STENCIL_OFFSETS 128

/* Cell of process p: coordinate d is p / stride[d] % size[d]; the last
 * dimension varies fastest. */
struct nw_stencil {
    int dims;
    int32_t size[NW_STENCIL_DIMS], stride[NW_STENCIL_DIMS];
    bool periodic[NW_STENCIL_DIMS];
    /* steps to neighbours, each pair of opposite ones once, and the mean bytes
     * of the bonds along it, where there are any */
    int offsets;
    int32_t offset[NW_STENCIL_OFFSETS][NW_STENCIL_DIMS];
    double bytes[NW_STENCIL_OFFSETS];
    bool uniform;  /* every bond of the steps is there and has those bytes */
    double filled; /* share of the bonds of the steps that are there */
    double uneven; /* share of the squares of their bytes that is not due to
                      the means */
};

/* *found is false where processes are on no grid. O(bonds). */
NW_MUST_CHECK nw_status nw_stencil_find(const struct nw_assignment *assignment,
                                        struct nw_stencil *out, bool *found);

/* For processes numbered anyhow: fills order[count], the one of each cell of a
 * grid row by row, or *found is false. */
NW_MUST_CHECK nw_status nw_stencil_find_unordered(
    const struct nw_assignment *assignment, int32_t *order, bool *found);

/* Fills seat[count]; *done is false where sizes do not divide, or something is
 * fixed. */
NW_MUST_CHECK nw_status nw_stencil_nested_boxes(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    int32_t *slot, bool *done);
/* Ways to cut, together: clusters parted where whole layers part instead of in
 * the middle; clusters filled one after the other instead of evenly; the
 * children of the root along strips, or, the bit shifted by a level each,
 * those of the clusters below; where seats are left over, as few clusters as
 * can have the same number of cells each instead of as few as hold them. */
enum nw_stencil_cut_kind {
    NW_STENCIL_LAYERS = 1,
    NW_STENCIL_PACKED = 2,
    NW_STENCIL_JAGGED = 4,
    NW_STENCIL_EVENLY = 1024
};
/* Whether that makes a difference. */
bool nw_stencil_may_even(const struct nw_assignment *assignment);
/* Whether a share of the cells leaves some cluster of its own empty where as
 * few are filled as hold them. */
bool nw_stencil_may_spread(const struct nw_assignment *assignment);

/* Fills seat[count], whatever the sizes; nothing may be fixed. */
NW_MUST_CHECK nw_status nw_stencil_coordinate_bisection(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    int kind, int32_t *slot);
/* Cuts cells begin[0] .. begin[pieces] - 1 of the list into pieces that begin
 * there: in strips, each nearly a box. */
NW_MUST_CHECK nw_status nw_stencil_jagged(const struct nw_stencil *stencil,
                                          int32_t *cell, const int32_t *begin,
                                          int32_t pieces);

/* The grid divided into so many columns across each dimension, one column
 * followed up dimension `along`, the next one down. */
struct nw_stencil_columns {
    int along;
    int32_t count[NW_STENCIL_DIMS];
    double kept; /* bytes inside a piece, about */
};

/* Those that suit pieces of `each` cells, the best first; how many. */
int nw_stencil_columns(const struct nw_stencil *stencil, double each, int most,
                       struct nw_stencil_columns *out);
/* Fills cell[count] in their order. */
void nw_stencil_follow_columns(const struct nw_stencil *stencil,
                               const struct nw_stencil_columns *columns,
                               int32_t *cell);
/* As nw_stencil_coordinate_bisection, the root's children in the order of the
 * columns. */
NW_MUST_CHECK nw_status nw_stencil_bisect_columns(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    const struct nw_stencil_columns *columns, int32_t *slot);

/* Fills seat[count] along one of so many snakes through the grid, the first
 * along its heaviest dimension; nothing may be fixed. */
int nw_stencil_boustrophedon_count(const struct nw_stencil *stencil);
void nw_stencil_boustrophedon(const struct nw_stencil *stencil, int number,
                              int32_t count, int32_t *slot);
/* Whether bonds along each dimension weigh the same. */
bool nw_stencil_is_isotropic(const struct nw_stencil *stencil);

struct nw_best_tiling {
    bool once;   /* boxes and one way of cuts: for who waits */
    bool few;    /* not all ways of cuts where cells neither fill boxes well nor
                    lie in a plane: sections follow */
    double cost; /* of the layout, in and out */
    bool found;  /* out: there is a grid */
    bool boxed;  /* out: boxes within boxes hold it, near to cubes */
    bool layered;              /* out: parted better where whole layers part */
    struct nw_stencil stencil; /* it */
};

/* The best of boxes and cuts where it is better than the layout, which changes
 * then; where its processes are numbered anyhow, they get other numbers. */
NW_MUST_CHECK nw_status nw_assignment_best_tiling(
    struct nw_assignment *assignment, struct nw_best_tiling *try);

/* Bytes between the cells of a box, each pair once. */
double nw_stencil_inside(const struct nw_stencil *stencil,
                         const int32_t *shape);

/* Hop-bytes below which there is no seating, each pair once; 0 where that is
 * not known: faces alone lead to neighbours, in an open grid that fills its
 * machine. */
double nw_stencil_lower_bound(const struct nw_assignment *assignment,
                              const struct nw_stencil *stencil);

/* The same of sizes that need not be whole. */
double nw_stencil_inside_about(const struct nw_stencil *stencil,
                               const double *shape);

static inline int32_t nw_stencil_coordinate(const struct nw_stencil *stencil,
                                            int32_t p, int d)
{
    return p / stencil->stride[d] % stencil->size[d];
}

#endif
