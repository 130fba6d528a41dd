/* SPDX-License-Identifier: BSD-3-Clause */
/* A monotonic clock, for progress, for measured times and for time limits. */
#ifndef NW_BASE_CLOCK_H
#define NW_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t nw_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
