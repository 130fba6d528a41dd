/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grids of processes. From the edges alone, it is found whether the processes
 * are the cells of a grid whose edges join near cells. The cells are then
 * assigned to the slots of a hierarchy.
 */
#ifndef NW_MAP_STENCIL_GRID_H
#define NW_MAP_STENCIL_GRID_H

#include "map/hierarchy/assignment.h"

#define NW_STENCIL_DIMS 5
#define NW_STENCIL_OFFSETS 128

/* A grid of processes and its edges. Coordinate d of process p is
 * p / stride[d] % size[d]; the last dimension varies fastest. */
struct nw_stencil {
    int dims; /* number of dimensions */
    int32_t size[NW_STENCIL_DIMS], stride[NW_STENCIL_DIMS];
    bool periodic[NW_STENCIL_DIMS]; /* edges join both ends of the dimension */
    /* offsets from a cell to its neighbours, one of each opposite pair, and the
     * mean bytes of the edges along each offset */
    int offsets;
    int32_t offset[NW_STENCIL_OFFSETS][NW_STENCIL_DIMS];
    double bytes[NW_STENCIL_OFFSETS];
    /* every edge along the offsets exists and has the mean bytes */
    bool uniform;
    double filled; /* fraction of the edges along the offsets that exist */
    double uneven; /* how much the bytes of edges along one offset differ: the
                      fraction of the sum of squared bytes that the means do not
                      explain */
};

/* Finds the grid along which the processes are numbered. Sets *found to false
 * if the processes form no grid. Takes time proportional to the edges. */
NW_MUST_CHECK nw_status nw_stencil_find(const struct nw_assignment *assignment,
                                        struct nw_stencil *out, bool *found);

/* Finds a grid under any numbering of the processes. Fills order[count] with
 * the processes, row by row. Sets *found to false if there is no grid. */
NW_MUST_CHECK nw_status nw_stencil_find_unordered(
    const struct nw_assignment *assignment, int32_t *order, bool *found);

/* Fills slot[count], the slot of each process, with an embedding of equal boxes
 * within boxes, found by dynamic programming; no slot may be fixed. Sets *done
 * to false and leaves slot[] as it is if the sizes of the grid and of the
 * clusters allow none. */
NW_MUST_CHECK nw_status nw_stencil_nested_boxes(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    int32_t *slot, bool *done);
/* Kinds of cuts, as bits. LAYERS: divide a list of clusters where whole layers
 * of cells fill them, not in the middle. PACKED: fill clusters one after the
 * other, not evenly. JAGGED: divide the grid among the children of the root by
 * a jagged partition (jagged.c); NW_STENCIL_JAGGED << l does so among the
 * clusters l levels further down.
 */
enum nw_stencil_cut_kind {
    NW_STENCIL_LAYERS = 1,
    NW_STENCIL_PACKED = 2,
    NW_STENCIL_JAGGED = 4
};

/* Fills slot[count], the slot of each process, by recursive coordinate
 * bisection. Grids may have any size; no slot may be fixed. `kind` holds bits
 * of nw_stencil_cut_kind. */
NW_MUST_CHECK nw_status nw_stencil_coordinate_bisection(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    int kind, int32_t *slot);
/* Divides the cells that cell[] lists from begin[0] to begin[pieces] - 1 into
 * pieces that are nearly boxes (a jagged partition). Reorders the list so that
 * piece i is in the entries begin[i] .. begin[i + 1] - 1. */
NW_MUST_CHECK nw_status nw_stencil_jagged(const struct nw_stencil *stencil,
                                          int32_t *cell, const int32_t *begin,
                                          int32_t pieces);

/* A division of the grid into columns, which run along dimension `along`. Cells
 * are numbered upwards in one column and downwards in the next. */
struct nw_stencil_columns {
    int along;
    int32_t count[NW_STENCIL_DIMS]; /* columns across each dimension; 1 for
                                       `along` */
    double kept; /* estimate of the bytes that stay inside a piece */
};

/* Lists at most `most` divisions into columns in out[], the best first, and
 * returns their number. The order of the cells is later cut into pieces of
 * `each` cells; a division is the better, the more bytes stay inside a piece.
 */
int nw_stencil_columns(const struct nw_stencil *stencil, double each, int most,
                       struct nw_stencil_columns *out);
/* Fills cell[count] with all cells, column by column. */
void nw_stencil_follow_columns(const struct nw_stencil *stencil,
                               const struct nw_stencil_columns *columns,
                               int32_t *cell);
/* Fills slot[count] like nw_stencil_coordinate_bisection, but gives each child
 * of the root consecutive cells in the order of the columns. */
NW_MUST_CHECK nw_status nw_stencil_bisect_columns(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    const struct nw_stencil_columns *columns, int32_t *slot);

/* Settings and results of nw_assignment_best_tiling. */
struct nw_best_tiling {
    /* in: time is short, so only nested boxes and one kind of cut are tried */
    bool once;
    bool few;    /* in: the caller also tries graph bisection, so fewer kinds of
                    cuts are    tried on grids of three or more dimensions that no
                    boxes fit well */
    double cost; /* cost of the assignment, in and out */
    bool found;  /* out: the processes form a grid */
    bool boxed;  /* out: nested boxes divide the grid and are nearly cubes */
    bool layered; /* out: cuts with NW_STENCIL_LAYERS lowered the cost */
    struct nw_stencil stencil; /* the grid, if found */
};

/* Looks for a grid of the processes and, if there is one, tries several
 * embeddings of it. Moves the processes to the best one if it costs less than
 * the assignment. Renumbers the processes of the assignment if the grid was
 * found under another numbering. Does nothing if a slot is fixed. */
NW_MUST_CHECK nw_status nw_assignment_best_tiling(
    struct nw_assignment *assignment, struct nw_best_tiling *try);

/* Returns the bytes between the cells of a box of size shape[dims], counting
 * each pair once. */
double nw_stencil_inside(const struct nw_stencil *stencil,
                         const int32_t *shape);

/* Returns a lower bound on the hop-bytes of any assignment, counting each pair
 * once; 0 if unknown. A bound is known only for grids that are not periodic,
 * have edges only across the faces of cells and fill the machine. */
double nw_stencil_lower_bound(const struct nw_assignment *assignment,
                              const struct nw_stencil *stencil);

/* Returns nw_stencil_inside for a box whose sizes are not integers. */
double nw_stencil_inside_about(const struct nw_stencil *stencil,
                               const double *shape);

/* Returns coordinate d of process p. */
static inline int32_t nw_stencil_coordinate(const struct nw_stencil *stencil,
                                            int32_t p, int d)
{
    return p / stencil->stride[d] % stencil->size[d];
}

#endif
