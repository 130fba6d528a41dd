/* SPDX-License-Identifier: BSD-3-Clause */
/* The linear assignment problem. */
#ifndef NW_MAP_QAP_LINEAR_ASSIGNMENT_H
#define NW_MAP_QAP_LINEAR_ASSIGNMENT_H

#include <stdint.h>

#define NW_LINEAR_ASSIGNMENT_MAX 64

/* Solves the linear assignment problem: assigns a different column to each row
 * so that the sum of the costs is minimal, where rows <= columns <=
 * NW_LINEAR_ASSIGNMENT_MAX. cost is [rows x columns]. Fills column[row] and
 * returns the sum. On return cost[] holds the reduced costs under the optimal
 * dual solution: 0 for the assigned pairs (but for rounding), at least 0 for
 * all others. */
double nw_linear_assignment(double *cost, int rows, int columns,
                            int32_t *column);

#endif
