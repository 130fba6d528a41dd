/* SPDX-License-Identifier: BSD-3-Clause */
/* The linear assignment problem. */
#ifndef NW_MAP_QAP_LINEAR_ASSIGNMENT_H
#define NW_MAP_QAP_LINEAR_ASSIGNMENT_H

#include <stdint.h>

#define NW_LINEAR_ASSIGNMENT_MAX 64

/* Solves the linear assignment problem: gives each row a different column, rows
 * <= columns <= NW_LINEAR_ASSIGNMENT_MAX, so that the sum of cost[row][column]
 * is minimal. Fills column[row] and returns the sum. cost is [rows x columns];
 * on return it holds the reduced costs under the optimal dual solution: 0 for
 * the chosen entries, never negative. */
double nw_linear_assignment(double *cost, int rows, int columns,
                            int32_t *column);

#endif
