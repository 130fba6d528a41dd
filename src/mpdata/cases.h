/* SPDX-License-Identifier: BSD-3-Clause */
/* The built-in test cases: initial conditions and velocities, including those
 * of the published verification. */
#ifndef NW_MPDATA_CASES_H
#define NW_MPDATA_CASES_H

#include <nodewise/mpdata.h>

/* A case. value() returns the value of a field at position at[], in cells of
 * the whole grid: of this cell for x and h, of the face below this cell along
 * the field's axis for u1, u2, u3. */
struct nw_mpdata_case {
    const char *name, *sentence;
    int64_t size[3]; /* fixed size of the case; 0: any size */
    int64_t steps;
    enum nw_mpdata_border border;
    double dt; /* time step in the time unit of the published errors */
    double (*value)(const struct nw_mpdata_case *made,
                    enum nw_mpdata_field field, const int64_t at[3]);
    /* parameters of value(): `scale` is a period in cells, or the number of
     * cells per unit length; `courant` is a Courant number; 0: not used */
    double scale;
    double courant;
};

/* Find a case by index or by name: "sphere", "cone", "gaussian", "wave",
 * "vortex". Return false for any other index or name. */
bool nw_mpdata_case_get(size_t index, struct nw_mpdata_case *out);
bool nw_mpdata_case_find(const char *name, struct nw_mpdata_case *out);

/* Fills all fields of a solver, which must have the size of the case. */
NW_MUST_CHECK nw_status nw_mpdata_case_put(const struct nw_mpdata_case *made,
                                           nw_mpdata *solver);

#endif
