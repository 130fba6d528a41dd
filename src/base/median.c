/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/median.h"

#include <stdlib.h>

static int median_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double nw_median(double *values, size_t count)
{
    if (!count)
        return 0;
    qsort(values, count, sizeof *values, median_ascending);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}
