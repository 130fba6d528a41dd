/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPDATA, the multidimensional positive definite advection transport algorithm
 * (Smolarkiewicz 1984). It solves d(h x)/dt + div(h u x) = 0 on a grid of n x m
 * x l cells, step by step, with five inputs (x, u1, u2, u3, h) and one output
 * (x).
 *
 * Arrays are in C order; the third axis is contiguous. Inputs x and h have one
 * value for each cell. Inputs u1, u2 and u3 have one value for each face: the
 * advective Courant number times h, u dt/dx h. Array u1 has (n + 1) x m x l
 * values: u1[i] belongs to the face below cell i, u1[i + 1] to the face above
 * it. Array u2 has n x (m + 1) x l values, and u3 has n x m x (l + 1). All
 * calls are local.
 */
#ifndef NODEWISE_MPDATA_H
#define NODEWISE_MPDATA_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Periodic: must be set on both sides of an axis or on neither. Open: cells
 * beyond the side have the value of the last cell, and velocities along the
 * side are 0 there. Neighbour: another solver has the cells beyond the side;
 * see nw_mpdata_cells. */
enum nw_mpdata_border {
    NW_MPDATA_PERIODIC,
    NW_MPDATA_OPEN,
    NW_MPDATA_NEIGHBOUR,
};

/* How a step is computed. The blocked path is fast. The other path runs the 17
 * stages one after the other over whole arrays, for study. Without `fast`, both
 * give the same bits. */
enum nw_mpdata_path {
    NW_MPDATA_AUTO, /* blocked if it supports the options, else stages */
    NW_MPDATA_BLOCKED,
    NW_MPDATA_STAGES,
};

/* Options of nw_mpdata_new. Initialise with NW_MPDATA_OPTIONS_INIT. */
struct nw_mpdata_options {
    size_t size;         /* sizeof of this struct */
    int32_t passes;      /* donor-cell pass and corrective passes; 1 to 8 */
    bool limited;        /* non-oscillatory: no new extrema */
    bool infinite_gauge; /* x of either sign; requires two passes */
    bool third_order;    /* third-order terms, for constant velocity */
    bool divergent;      /* adds the term for divergent flow */
    bool single;         /* computes in float instead of double */
    bool fast;           /* one division per face, with different last digits;
                            in single precision only for x from about 1e-9 to
                            1e11 and h up to 1e18 */
    enum nw_mpdata_border border[3][2]; /* [axis][0: low side, 1: high side] */
    enum nw_mpdata_path path;
    int32_t threads; /* 0: OpenMP decides */
    int32_t block;   /* rows of a block; 0: the cache size decides */
};
#define NW_MPDATA_OPTIONS_INIT                                                 \
    {                                                                          \
        .size = sizeof(struct nw_mpdata_options), .passes = 2                  \
    }

typedef struct nw_mpdata nw_mpdata;

enum nw_mpdata_field {
    NW_MPDATA_X,
    NW_MPDATA_U1,
    NW_MPDATA_U2,
    NW_MPDATA_U3,
    NW_MPDATA_H,
    NW_MPDATA_FIELD_COUNT
};

/* The number of cells beyond a side that a step reads: one for the donor-cell
 * pass, and one for each corrective pass. A corrective pass reads one more with
 * limiting, and one more with third order. */
NW_API int32_t nw_mpdata_halo(const struct nw_mpdata_options *options);

/* Creates a solver for size[0] x size[1] x size[2] cells. x and the velocities
 * are 0 and h is 1 until nw_mpdata_put. A periodic or open axis may have fewer
 * cells than nw_mpdata_halo. NW_EINVAL: a size is below 1 or above 2^28, an
 * axis with a neighbour has fewer cells than nw_mpdata_halo, or options
 * contradict each other. The caller frees *out with nw_mpdata_free. */
NW_API NW_MUST_CHECK nw_status
nw_mpdata_new(const int64_t size[3], const struct nw_mpdata_options *options,
              nw_mpdata **out);
NW_API void nw_mpdata_free(nw_mpdata *solver); /* NULL is fine */

/* The number of values in the array of a field, as described above. */
NW_API size_t nw_mpdata_count(const nw_mpdata *solver,
                              enum nw_mpdata_field field);
/* Copies a whole field into the solver; `values` stays the caller's.
 * NW_EFORMAT: a value is NaN or infinite, h is not positive, x is negative
 * without the infinite gauge, or faces at both ends of a periodic axis differ.
 * The sentence names the place. */
NW_API NW_MUST_CHECK nw_status nw_mpdata_put(nw_mpdata *solver,
                                             enum nw_mpdata_field field,
                                             const double *values);
NW_API void nw_mpdata_get(const nw_mpdata *solver, double *x);

/* Checks the stability of the donor-cell pass: in one step a cell may not lose
 * more through its faces than it holds. The criterion is that the sum of |u| /
 * h over the axes is at most 1. u is the larger velocity of an axis's two
 * faces, or the total outflow through both. *highest is the highest sum;
 * `highest` may be NULL. NW_EFORMAT: the criterion fails; the sentence names
 * the cell. */
NW_API NW_MUST_CHECK nw_status nw_mpdata_check(const nw_mpdata *solver,
                                               double *highest);

/* Advances x by `steps` time steps. Every side must be periodic or open. */
NW_API void nw_mpdata_step(nw_mpdata *solver, int64_t steps);

/* The sum of h times x (compensated summation in array order), and the lowest
 * and highest x; NaN if an x is not a number. */
struct nw_mpdata_summary {
    double mass, low, high;
};
NW_API void nw_mpdata_summarize(const nw_mpdata *solver,
                                struct nw_mpdata_summary *out);
#ifndef __cplusplus /* the name is also that of a struct */
NW_API void nw_mpdata_summary(const nw_mpdata *solver,
                              struct nw_mpdata_summary *out);
#endif

/* --- Several solvers, one domain --- */

/* The storage of a field, for a halo exchange. `base` is the first allocated
 * cell, and the first two axes have `ghost` layers on both sides. `row` and
 * `plane` are strides in bytes. Cell (i, j, k) is at base + (i + ghost) * plane
 * + (j + ghost) * row + k * bytes. Each face has the index of the cell
 * below it. Each step moves x to another array. */
struct nw_mpdata_cells {
    void *base;
    size_t bytes, row, plane;
    int32_t ghost;
};
NW_API struct nw_mpdata_cells nw_mpdata_cells_of(nw_mpdata *solver,
                                                 enum nw_mpdata_field field);
#ifndef __cplusplus /* the name is also that of a struct */
NW_API struct nw_mpdata_cells nw_mpdata_cells(nw_mpdata *solver,
                                              enum nw_mpdata_field field);
#endif
/* The parts of a step. The function nw_mpdata_fill fills a field's ghost cells
 * at periodic and open sides; the caller fills those at neighbour sides. Then
 * nw_mpdata_advance computes the cells low <= (i, j) < high. Call it until all
 * cells are computed. Then nw_mpdata_turn makes the new x the current x. */
NW_API void nw_mpdata_fill(nw_mpdata *solver, enum nw_mpdata_field field);
NW_API void nw_mpdata_advance(nw_mpdata *solver, const int64_t low[2],
                              const int64_t high[2]);
NW_API void nw_mpdata_turn(nw_mpdata *solver);

#ifdef __cplusplus
}
#endif
#endif
