/* SPDX-License-Identifier: BSD-3-Clause */
/* The internal state of the solver: the fields with their ghosts, and the
 * kernels. */
#ifndef NW_MPDATA_SOLVER_H
#define NW_MPDATA_SOLVER_H

#include "mpdata/view.h"
#include <nodewise/mpdata.h>

struct nw_mpdata {
    struct nw_mpdata_options options;
    ptrdiff_t n[3];
    /* depth of the ghosts in cells; elements before the first cell of a row;
     * distances of rows and of planes in elements, see nw_mpdata_at() */
    ptrdiff_t ghost, lead, pitch, plane;
    size_t bytes; /* per element */
    void *field[NW_MPDATA_FIELD_COUNT];
    void *next; /* array that receives x of the next step */
    void *stage[NW_STAGE_COUNT];
    const struct nw_mpdata_kernels *kernels;
    bool blocked;
    /* true: the caller got the address of x and may write to it, so that
     * nw_mpdata_step fills all ghosts before each step */
    bool lent;
    int32_t threads;
    void *scratch; /* memory for the blocks, scratch_bytes for each thread */
    size_t scratch_bytes;
    ptrdiff_t rows;    /* rows per block */
    int64_t origin[3]; /* position of cell (0, 0, 0) in the whole grid */
};

/* Returns the index of cell (i, j, 0) in a field's array, in elements. */
static inline ptrdiff_t nw_mpdata_at(const struct nw_mpdata *s, ptrdiff_t i,
                                     ptrdiff_t j)
{
    return (i + s->ghost) * s->plane + (j + s->ghost) * s->pitch + s->lead;
}

/* Read and write element `at` of a field in the solver's precision. */
double nw_mpdata_value(const struct nw_mpdata *s, const void *field,
                       ptrdiff_t at);
void nw_mpdata_store(const struct nw_mpdata *s, void *field, ptrdiff_t at,
                     double value);

/* Fills the ghosts of a field on periodic and on open sides. On open sides,
 * velocities through the side keep their values. Ghosts at sides with a
 * neighbour are unchanged. */
void nw_mpdata_border(const struct nw_mpdata *s, enum nw_mpdata_field field,
                      void *values);
/* Fills the ghosts of x on periodic and open sides between two steps. A step
 * itself has set the ghosts at the ends of its rows, so that only rows that
 * were received from neighbours get new ends. */
void nw_mpdata_sides(struct nw_mpdata *s);

/* Sets out[] to the number of cells (or faces) of a field along each axis. */
void nw_mpdata_extent(const struct nw_mpdata *s, enum nw_mpdata_field field,
                      int64_t out[3]);

#endif
