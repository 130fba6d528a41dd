/* SPDX-License-Identifier: BSD-3-Clause */
/* One cell's step, for the host and for the GPU: the same operations in the
 * same order, so that both give the same bits. */
#ifndef HEAT_STEP_H
#define HEAT_STEP_H

#include <stdint.h>

#ifndef HEAT_INLINE
#define HEAT_INLINE static inline
#define HEAT_AT(u) (*(u))
#endif
#ifndef HEAT_CELLS
#define HEAT_CELLS const double
#endif

HEAT_INLINE double heat_faces(HEAT_CELLS *u, int64_t y, int64_t z)
{
    return 0.4 * HEAT_AT(u) +
           0.1 * (HEAT_AT(u - 1) + HEAT_AT(u + 1) + HEAT_AT(u - y) +
                  HEAT_AT(u + y) + HEAT_AT(u - z) + HEAT_AT(u + z));
}

HEAT_INLINE double heat_all(HEAT_CELLS *u, int64_t y, int64_t z)
{
    double sum = 0;

    for (int k = -1; k <= 1; k++)
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++)
                sum += HEAT_AT(u + k * z + j * y + i);
    return 0.25 * HEAT_AT(u) + 0.75 / 27 * sum;
}

/* What the kernel is given: addresses of two fields, a box of local cells. */
struct heat_step {
    uint64_t to, from;
    int64_t y, z;             /* strides in elements */
    int32_t low[3], count[3]; /* first cell; cells along x, y, z */
    int32_t corners;          /* 27 points instead of 7 */
    int32_t reserved;
};

#endif
