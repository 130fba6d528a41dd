/* SPDX-License-Identifier: BSD-3-Clause */
/* A solver: its fields, in storage with ghosts, and the view of a step. */
#ifndef NW_MPDATA_SOLVER_H
#define NW_MPDATA_SOLVER_H

#include "mpdata/view.h"
#include <nodewise/mpdata.h>

struct nw_mpdata {
    struct nw_mpdata_options options;
    ptrdiff_t n[3];
    ptrdiff_t ghost, lead, pitch, plane; /* strides in elements */
    size_t bytes;                        /* of an element */
    void *field[NW_MPDATA_FIELD_COUNT];
    void *next; /* x after the step */
    void *stage[NW_STAGE_COUNT];
    const struct nw_mpdata_kernels *kernels;
    bool blocked;
    bool lent; /* the caller knows where x is, and may write it */
    int32_t threads;
    void *scratch; /* of all threads */
    size_t scratch_bytes;
    ptrdiff_t rows;    /* of a block */
    int64_t origin[3]; /* of the whole grid's cells, where it is said */
};

/* Element of cell (i, j, 0) from the first allocated one. */
static inline ptrdiff_t nw_mpdata_at(const struct nw_mpdata *s, ptrdiff_t i,
                                     ptrdiff_t j)
{
    return (i + s->ghost) * s->plane + (j + s->ghost) * s->pitch + s->lead;
}

/* Value k of the row at element `at` of a field, and setting it. */
double nw_mpdata_value(const struct nw_mpdata *s, const void *field,
                       ptrdiff_t at);
void nw_mpdata_store(const struct nw_mpdata *s, void *field, ptrdiff_t at,
                     double value);

/* Fills the ghosts of periodic and open sides. */
void nw_mpdata_border(const struct nw_mpdata *s, enum nw_mpdata_field field,
                      void *values);
/* The same for x after a step, which has left the ends of its rows right: only
 * rows that a neighbour sent get theirs. */
void nw_mpdata_sides(struct nw_mpdata *s);

/* Cells of field's array along each axis. */
void nw_mpdata_extent(const struct nw_mpdata *s, enum nw_mpdata_field field,
                      int64_t out[3]);

#endif
