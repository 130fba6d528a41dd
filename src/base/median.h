/* SPDX-License-Identifier: BSD-3-Clause */
/* The middle of measured values. */
#ifndef NW_BASE_MEDIAN_H
#define NW_BASE_MEDIAN_H

#include <stddef.h>

/* The median of `count` values, which are put in order; 0 where none. */
double nw_median(double *values, size_t count);

#endif
