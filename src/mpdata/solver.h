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
    ptrdiff_t ghost, lead, pitch, plane; /* depth of the ghosts in cells;
                                            strides in elements, see
                                            nw_mpdata_at() */
    size_t bytes;                        /* per element */
    void *field[NW_MPDATA_FIELD_COUNT];
    void *next; /* array that receives x of the next step */
    void *stage[NW_STAGE_COUNT];
    const struct nw_mpdata_kernels *kernels;
    bool blocked;
    bool lent; /* the caller got the address of x and may write to it, so
                  that ghosts must be filled again */
    int32_t threads;
    void *scratch; /* memory for all threads */
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

/* Fills the ghosts of a field on periodic and on open sides. */
void nw_mpdata_border(const struct nw_mpdata *s, enum nw_mpdata_field field,
                      void *values);
/* Fills the ghosts of x after a step. The step itself has set the ghosts at the
 * ends of its rows, so that only rows that were received from neighbours get
 * new ends. */
void nw_mpdata_sides(struct nw_mpdata *s);

/* Sets out[] to the number of cells (or faces) of a field along each axis. */
void nw_mpdata_extent(const struct nw_mpdata *s, enum nw_mpdata_field field,
                      int64_t out[3]);

#endif
