/* SPDX-License-Identifier: BSD-3-Clause */
/* A part of what a test repeats: with NW_SHARE=N in the environment one case in
 * N, for a tool under which everything takes many times as long. What is left
 * out is said, so that a log tells what was not tried. */
#ifndef NW_TESTS_SUPPORT_SHARE_H
#define NW_TESTS_SUPPORT_SHARE_H

#include <stdio.h>
#include <stdlib.h>

/* Says what is tried where that is not all. */
static inline void share_say(int tried, int cases, const char *what)
{
    if (tried < cases)
        printf("# NW_SHARE: %d of %d %s\n", tried, cases, what);
}

/* How far it is from a case to the next that is tried: 1 without NW_SHARE. */
static inline int share_step(int cases, const char *what)
{
    const char *word = getenv("NW_SHARE");
    int step = word && atoi(word) > 1 ? atoi(word) : 1;

    share_say((cases - 1) / step + 1, cases, what);
    return step;
}

#endif
