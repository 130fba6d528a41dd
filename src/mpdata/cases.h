/* SPDX-License-Identifier: BSD-3-Clause */
/* Built-in initial conditions, those of the published verification among them.
 */
#ifndef NW_MPDATA_CASES_H
#define NW_MPDATA_CASES_H

#include <nodewise/mpdata.h>

/* Values by the cell or face they stand at: of x and h the cell, of u1, u2, u3
 * the face below it. */
struct nw_mpdata_case {
    const char *name, *sentence;
    int64_t size[3]; /* of its own; 0: any */
    int64_t steps;
    enum nw_mpdata_border border;
    double dt; /* in the unit of its published errors */
    double (*value)(const struct nw_mpdata_case *made,
                    enum nw_mpdata_field field, const int64_t at[3]);
    double scale; /* cells a unit of length, Courant number, ... */
    double courant;
};

/* "sphere", "cone", "gaussian", "wave", "vortex"; false past the last, or
 * where there is none of that name. */
bool nw_mpdata_case_get(size_t index, struct nw_mpdata_case *out);
bool nw_mpdata_case_find(const char *name, struct nw_mpdata_case *out);

/* The 1-D case of the convergence table: 440 / dx cells, at Courant number c,
 * to time 1. */
struct nw_mpdata_case nw_mpdata_case_gaussian(int64_t parts, double courant);

/* Puts all fields of a case into a solver that has its size. */
NW_MUST_CHECK nw_status nw_mpdata_case_put(const struct nw_mpdata_case *made,
                                           nw_mpdata *solver);

/* The part of the array that begins at cell first[]. */
NW_MUST_CHECK nw_status nw_mpdata_case_put_at(const struct nw_mpdata_case *made,
                                              nw_mpdata *solver,
                                              const int64_t first[3]);

#endif
