/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grids of processes. The edges between processes alone show whether the
 * processes are the cells of a grid in which edges join near cells. The cells
 * are then assigned to the slots of a hierarchy; such an assignment is called
 * an embedding.
 */
#ifndef NW_MAP_STENCIL_GRID_H
#define NW_MAP_STENCIL_GRID_H

#include "map/hierarchy/assignment.h"

#define NW_STENCIL_DIMS 5
#define NW_STENCIL_OFFSETS 128

/* A grid of processes and its edges. Process p is the cell whose coordinate d
 * is p / stride[d] % size[d]; the last dimension varies fastest. */
struct nw_stencil {
    int dims; /* number of dimensions */
    int32_t size[NW_STENCIL_DIMS], stride[NW_STENCIL_DIMS];
    bool periodic[NW_STENCIL_DIMS]; /* edges join the first and the last cells
                                       of the dimension */
    /* offsets: number of offsets; offset: each in cells, from a cell to a
     * neighbour, one of each opposite pair; bytes: mean bytes of the edges
     * along each offset, both directions of an edge together */
    int offsets;
    int32_t offset[NW_STENCIL_OFFSETS][NW_STENCIL_DIMS];
    double bytes[NW_STENCIL_OFFSETS];
    /* every edge along the offsets exists, and all edges along one offset have
     * the same bytes */
    bool uniform;
    double filled; /* fraction (0 .. 1) of the edges along the offsets that
                      exist */
    double uneven; /* 0 .. 1, how much the bytes of edges along one offset
                      differ: the fraction of the sum of squared bytes that
                      their means do not explain */
};

/* Finds the grid in *out if the processes are numbered along a grid. Sets
 * *found to false if they are not. Takes time proportional to the number of
 * edges. */
NW_MUST_CHECK nw_status nw_stencil_find(const struct nw_assignment *assignment,
                                        struct nw_stencil *out, bool *found);

/* Finds a grid under any numbering of the processes. order[count] lists the
 * processes in the order of their cells, row by row; nw_stencil_find then finds
 * the grid of the processes in this order. Sets *found to false if the
 * processes do not form a grid, if they are too few, or if loads are limited.
 */
NW_MUST_CHECK nw_status nw_stencil_find_unordered(
    const struct nw_assignment *assignment, int32_t *order, bool *found);

/* Computes an embedding of equal boxes within boxes by dynamic programming:
 * fills slot[count] with the slot of each process. No slot may be fixed. Sets
 * *done to false and leaves slot[] as it is if the sizes of the grid and of the
 * clusters allow no such embedding. */
NW_MUST_CHECK nw_status nw_stencil_nested_boxes(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    int32_t *slot, bool *done);
/* Kinds of coordinate bisection, as bits. LAYERS: split the clusters of a part
 * where whole layers of cells fill both halves, not in the middle. PACKED: fill
 * clusters one after the other, not evenly. JAGGED: divide the grid among the
 * children of the root by a jagged partition (jagged.c), not by bisection;
 * NW_STENCIL_JAGGED << l does that among the clusters l levels further down. */
enum nw_stencil_cut_kind {
    NW_STENCIL_LAYERS = 1,
    NW_STENCIL_PACKED = 2,
    NW_STENCIL_JAGGED = 4
};

/* A division of the grid into columns, which run along dimension `along` and
 * have a rectangular cross section. The cells are put in an order that goes
 * upwards in one column and downwards in the next. */
struct nw_stencil_columns {
    int along;
    int32_t count[NW_STENCIL_DIMS]; /* number of columns side by side in each
                                       dimension; 1 for `along` */
    double kept; /* estimate of the bytes between cells of one piece (`each`
                    consecutive cells of the order) */
};

/* Lists at most `most` divisions of the grid into columns in out[] and returns
 * their number. The order of the cells will be cut into pieces of `each` cells;
 * divisions with the most bytes inside a piece come first. */
int nw_stencil_columns(const struct nw_stencil *stencil, double each, int most,
                       struct nw_stencil_columns *out);
/* Fills cell[count] with all cells in the order of the columns. */
void nw_stencil_follow_columns(const struct nw_stencil *stencil,
                               const struct nw_stencil_columns *columns,
                               int32_t *cell);

/* How a coordinate bisection divides the grid: the bits of nw_stencil_cut_kind
 * in `kind`. If `columns` is not NULL, each child of the root gets consecutive
 * cells in the order of the columns. */
struct nw_stencil_cut {
    int kind;
    const struct nw_stencil_columns *columns;
};
/* Computes an embedding by recursive coordinate bisection: fills slot[count]
 * with the slot of each process. The grid may have any sizes. No slot may be
 * fixed (nw_assignment.fixed). */
NW_MUST_CHECK nw_status nw_stencil_coordinate_bisection(
    const struct nw_assignment *assignment, const struct nw_stencil *stencil,
    struct nw_stencil_cut cut, int32_t *slot);

/* Settings and results of nw_assignment_best_embedding. */
struct nw_best_embedding {
    /* in: time is short, so only nested boxes and one kind of bisection are
     * tried */
    bool once;
    bool few;    /* in: the caller also tries graph bisection, so fewer kinds of
                    bisection are tried on grids of three or more dimensions
                    that no boxes fit well */
    double cost; /* hop-bytes of the assignment, in and out */
    bool found;  /* out: the processes form a grid */
    bool boxed;  /* out: nested boxes fit the grid; they can be nearly cubes,
                    because every slot has a process and the number of processes
                    has only the prime factors 2 and 3 */
    bool layered; /* out: a bisection with NW_STENCIL_LAYERS lowered the cost */
    struct nw_stencil stencil; /* the grid, if found */
};

/* Looks for a grid of the processes and, if there is one, tries several
 * embeddings of it. Moves the processes to the best embedding if it costs less
 * than the assignment. If the grid was found under another numbering, the
 * processes of the assignment are renumbered. Does nothing if a slot is fixed.
 */
NW_MUST_CHECK nw_status nw_assignment_best_embedding(
    struct nw_assignment *assignment, struct nw_best_embedding *try);

/* Returns the bytes inside a box of size shape[dims]. Each pair of cells that
 * are one offset apart counts once, with the mean bytes of this offset. */
double nw_stencil_inside(const struct nw_stencil *stencil,
                         const int32_t *shape);
/* Returns the bytes between the first `layers` layers, across dimension d, of a
 * box of size box[dims], and its other layers. */
double nw_stencil_cut_layers(const struct nw_stencil *stencil,
                             const int32_t *box, int32_t layers, int d);
/* Returns the bytes that cross a straight border at right angles to dimension
 * d, per cell along the border. */
double nw_stencil_across(const struct nw_stencil *stencil, int d);

/* Returns a lower bound on the hop-bytes of any assignment of this grid,
 * counting each pair of processes once; 0 if none is known. A bound is known
 * only for grids that are uniform and not periodic, have edges only across the
 * faces of cells, and fill all slots. */
double nw_stencil_lower_bound(const struct nw_assignment *assignment,
                              const struct nw_stencil *stencil);

/* Returns the bytes inside a box as nw_stencil_inside does. The sizes of the
 * box, shape[dims], may be fractions. */
double nw_stencil_inside_about(const struct nw_stencil *stencil,
                               const double *shape);

/* Returns coordinate d of the cell that is process p. */
static inline int32_t nw_stencil_coordinate(const struct nw_stencil *stencil,
                                            int32_t p, int d)
{
    return p / stencil->stride[d] % stencil->size[d];
}

#endif
