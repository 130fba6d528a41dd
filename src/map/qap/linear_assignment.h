/* SPDX-License-Identifier: BSD-3-Clause */
/* The linear assignment problem. */
#ifndef NW_MAP_QAP_LINEAR_ASSIGNMENT_H
#define NW_MAP_QAP_LINEAR_ASSIGNMENT_H

#include <stdint.h>

#define NW_LINEAR_ASSIGNMENT_MAX 64

/* Gives each of `rows` rows a column of its own, rows <= columns <=
 * NW_LINEAR_ASSIGNMENT_MAX, so that the sum of cost[row][column] is least. cost
 * is [rows x columns]; on return it holds what each entry costs beyond the
 * optimum's duals, 0 for those chosen, and never less. column[row] is the
 * choice. Returns the sum. */
double nw_linear_assignment(double *cost, int rows, int columns,
                            int32_t *column);

#endif
