/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPDATA, the multidimensional positive definite advection transport algorithm
 * (Smolarkiewicz 1984): d(h x)/dt + div(h u x) = 0 on a grid of n x m x l
 * cells, one time step after the other, with five inputs (x, u1, u2, u3, h)
 * and one output (x).
 *
 * Arrays are in C order, the third axis contiguous. x and h are of cells. u1,
 * u2, u3 are of faces: advective Courant numbers times h, u dt/dx h; u1 has
 * (n + 1) x m x l values, u1[i] of the face below cell i and u1[i + 1] of the
 * one above it, u2 n x (m + 1) x l, u3 n x m x (l + 1).
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

/* Periodic on both sides of an axis or on neither. Open: cells beyond the side
 * hold what its last cell holds, velocities along the side are 0 there.
 * Neighbour: another solver has the cells beyond; see nw_mpdata_cells. */
enum nw_mpdata_border {
    NW_MPDATA_PERIODIC,
    NW_MPDATA_OPEN,
    NW_MPDATA_NEIGHBOUR,
};

/* Both give the same bits in strict mode: the blocked path for its speed, the
 * 17 stages one after the other over whole arrays for study. */
enum nw_mpdata_path {
    NW_MPDATA_AUTO, /* blocked where it knows the options, else stages */
    NW_MPDATA_BLOCKED,
    NW_MPDATA_STAGES,
};

struct nw_mpdata_options {
    size_t size;         /* sizeof of this struct */
    int32_t passes;      /* donor cell and corrective passes; from 1 */
    bool limited;        /* non-oscillatory: no new extrema */
    bool infinite_gauge; /* x of either sign; two passes */
    bool third_order;    /* third-order terms, for constant velocity */
    bool divergent;      /* the term of flows that are not solenoidal */
    bool single;         /* float inside instead of double */
    bool fast;           /* one division a face: other last digits; in single
                            precision only for x from about 1e-9 to 1e11 and h
                            to 1e18 */
    enum nw_mpdata_border border[3][2]; /* axis; low side, high side */
    enum nw_mpdata_path path;
    int32_t threads; /* 0: as OpenMP says */
    int32_t block;   /* rows of a block; 0: by the size of the cache */
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

/* Cells beyond a side that a step reads: 1 for the donor cell and for each
 * corrective pass one, with limiting or third order one more, with both two. */
NW_API int32_t nw_mpdata_halo(const struct nw_mpdata_options *options);

/* A solver of size[0] x size[1] x size[2] cells; x and the velocities are 0
 * and h is 1 until put. NW_EINVAL for sizes below 1, fewer cells than a
 * periodic axis needs, options that contradict each other. The caller frees
 * *out. */
NW_API NW_MUST_CHECK nw_status
nw_mpdata_new(const int64_t size[3], const struct nw_mpdata_options *options,
              nw_mpdata **out);
NW_API void nw_mpdata_free(nw_mpdata *solver); /* NULL is fine */

/* Number of values of a field, as the array above has it. */
NW_API size_t nw_mpdata_count(const nw_mpdata *solver,
                              enum nw_mpdata_field field);
/* Copies a whole field in; the array is the caller's. NW_EFORMAT, with the
 * place, for NaN, infinity, h not positive, x negative without the infinite
 * gauge, faces of a periodic axis that differ between its two ends. */
NW_API NW_MUST_CHECK nw_status nw_mpdata_put(nw_mpdata *solver,
                                             enum nw_mpdata_field field,
                                             const double *values);
NW_API void nw_mpdata_get(const nw_mpdata *solver, double *x);

/* NW_EFORMAT, with the cell, where more flows out of it through its faces in a
 * step than it holds: donor cell is stable where the sum over the axes of
 * |u| / h is at most 1, u being the larger of an axis's two, or what flows out
 * by both. *highest (may be NULL) is the highest such sum. */
NW_API NW_MUST_CHECK nw_status nw_mpdata_check(const nw_mpdata *solver,
                                               double *highest);

/* Advances x. Every side must be periodic or open. */
NW_API void nw_mpdata_step(nw_mpdata *solver, int64_t steps);

/* Sum of h x (compensated, in the order of the array), and extrema of x. */
struct nw_mpdata_summary {
    double mass, low, high;
};
NW_API void nw_mpdata_summary(const nw_mpdata *solver,
                              struct nw_mpdata_summary *out);

/* --- Several solvers, one domain --- */

/* The storage, for an exchange: cells of the first allocated one on, `ghost`
 * layers on both sides of the first two axes; strides in bytes. Cell (i, j, k)
 * is at base + (i + ghost) * plane + (j + ghost) * row + k * bytes. Faces are
 * stored with the cell below them. x moves to another array with each step. */
struct nw_mpdata_cells {
    void *base;
    size_t bytes, row, plane;
    int32_t ghost;
};
NW_API struct nw_mpdata_cells nw_mpdata_cells(nw_mpdata *solver,
                                              enum nw_mpdata_field field);
/* A step in parts: fill the ghosts of periodic and open sides of a field
 * (those of neighbours are the caller's to fill); compute boxes of cells low
 * <= (i, j) < high, together all of them; make the new x the current. */
NW_API void nw_mpdata_fill(nw_mpdata *solver, enum nw_mpdata_field field);
NW_API void nw_mpdata_advance(nw_mpdata *solver, const int64_t low[2],
                              const int64_t high[2]);
NW_API void nw_mpdata_turn(nw_mpdata *solver);

#ifdef __cplusplus
}
#endif
#endif
