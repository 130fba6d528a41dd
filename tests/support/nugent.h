/* SPDX-License-Identifier: BSD-3-Clause */
/* The quadratic assignment problem of Nugent, Vollmann and Ruml (1968) with
 * twelve facilities on a grid of 3 x 4 places, whose optimum is published. */
#ifndef NW_TESTS_SUPPORT_NUGENT_H
#define NW_TESTS_SUPPORT_NUGENT_H

#include <stdlib.h>

enum { NUGENT = 12, NUGENT_OPTIMUM = 578 };

/* Fills the two matrices of the problem, in row-major order; both are
 * symmetric. */
static inline void nugent_fill(double flow[NUGENT * NUGENT],
                               double distance[NUGENT * NUGENT])
{
    static const int half[NUGENT][NUGENT] = {
        {0, 5, 2, 4, 1, 0, 0, 6, 2, 1, 1, 1},
        {0, 0, 3, 0, 2, 2, 2, 0, 4, 5, 0, 0},
        {0, 0, 0, 0, 0, 0, 0, 5, 5, 2, 2, 2},
        {0, 0, 0, 0, 5, 2, 2, 10, 0, 0, 5, 5},
        {0, 0, 0, 0, 0, 10, 0, 0, 0, 5, 1, 1},
        {0, 0, 0, 0, 0, 0, 5, 1, 1, 5, 4, 0},
        {0, 0, 0, 0, 0, 0, 0, 10, 5, 2, 3, 3},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 10},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    };

    for (int i = 0; i < NUGENT * NUGENT; i++) {
        int a = i / NUGENT, b = i % NUGENT;

        flow[i] = half[a][b] + half[b][a];
        distance[i] = abs(a % 4 - b % 4) + abs(a / 4 - b / 4);
    }
}

#endif
