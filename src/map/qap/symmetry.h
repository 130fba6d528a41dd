/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds symmetric rows of a matrix. Two rows are symmetric if a renumbering of
 * rows and columns that gives one the number of the other leaves the matrix
 * unchanged. The rows that are symmetric to each other form an orbit. */
#ifndef NW_MAP_QAP_SYMMETRY_H
#define NW_MAP_QAP_SYMMETRY_H

#include "map/qap/dual_ascent.h"

struct nw_qap_symmetry {
    const double *matrix; /* [n * n] the matrix, row by row */
    int n;                /* number of rows, at most NW_QAP_EXACT_MOST */
    bool taken[NW_QAP_EXACT_MOST]; /* true: the row must keep its number */
};

/* Sets orbit[i] to the lowest row that is symmetric to row i, or to i if row i
 * is taken or not symmetric to a lower row. Returns false if no two rows are
 * symmetric. May miss some symmetries, since the search is limited. */
bool nw_qap_orbits(const struct nw_qap_symmetry *symmetry, int *orbit);

#endif
