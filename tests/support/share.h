/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs only a part of the cases that a test repeats. With NW_SHARE=N in the
 * environment, a test runs one case in N, for tools with which everything takes
 * many times as long. The test prints what was left out. */
#ifndef NW_TESTS_SUPPORT_SHARE_H
#define NW_TESTS_SUPPORT_SHARE_H

#include <stdio.h>
#include <stdlib.h>

/* Prints how many of the cases are run, unless all are. */
static inline void share_say(int tried, int cases, const char *what)
{
    if (tried < cases)
        printf("# NW_SHARE: %d of %d %s\n", tried, cases, what);
}

/* The distance between two cases that are run: 1 without NW_SHARE. */
static inline int share_step(int cases, const char *what)
{
    const char *word = getenv("NW_SHARE");
    int step = word && atoi(word) > 1 ? atoi(word) : 1;

    share_say((cases - 1) / step + 1, cases, what);
    return step;
}

#endif
