/* SPDX-License-Identifier: BSD-3-Clause */
/* The median of measured values. */
#ifndef NW_BASE_MEDIAN_H
#define NW_BASE_MEDIAN_H

#include <stddef.h>

/* Sorts `count` values in place and returns their median; 0 if count is 0. */
double nw_median(double *values, size_t count);

#endif
