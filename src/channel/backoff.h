/* SPDX-License-Identifier: BSD-3-Clause */
/* How a caller waits for others: it polls, then yields the core, then sleeps.
 * The limit of yielding is a time, not a number: if many processes share a
 * core, each yield takes a time slice of each of them, and a sleeping process
 * is woken first. */
#ifndef NW_CHANNEL_BACKOFF_H
#define NW_CHANNEL_BACKOFF_H

#include "base/clock.h"

#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

enum { NW_LOOKS = 200, NW_YIELDS_NS = 2000000, NW_NAP_US = 50 };

struct nw_backoff {
    unsigned idle;     /* polls without news */
    uint64_t since_ns; /* start of the yields */
};

/* Pauses between two polls: a poll takes the cache line that others need to
 * write, and two hardware threads share the units of a core. */
static inline void nw_breathe(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* Call it after each poll. Whether the caller should now yield or sleep. */
static inline bool nw_backoff_ends(struct nw_backoff *patience, bool news)
{
    patience->idle = news ? 0 : patience->idle + 1;
    if (patience->idle)
        nw_breathe();
    return patience->idle > NW_LOOKS;
}

static inline void nw_give_way(struct nw_backoff *patience)
{
    uint64_t now = nw_clock_ns();

    if (patience->idle == NW_LOOKS + 1)
        patience->since_ns = now;
    if (now - patience->since_ns < NW_YIELDS_NS)
        (void)sched_yield();
    else
        (void)usleep(NW_NAP_US);
}

#endif
