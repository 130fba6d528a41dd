/* SPDX-License-Identifier: BSD-3-Clause */
/* How a caller waits for an event from another process. It first polls, then
 * polls and yields the core for a limited time, then polls and sleeps. A time
 * limits the yields, not their number: if many processes share a core, one
 * yield can last as long as the time slices of all of them, and the scheduler
 * prefers processes that slept. */
#ifndef NW_CHANNEL_BACKOFF_H
#define NW_CHANNEL_BACKOFF_H

#include "base/clock.h"

#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

enum { NW_LOOKS = 200, NW_YIELDS_NS = 2000000, NW_NAP_US = 50 };

struct nw_backoff {
    unsigned idle;     /* consecutive polls without an event */
    uint64_t since_ns; /* time of the first yield */
};

/* Pauses the core between two polls. Without the pause, a poll would repeatedly
 * take a cache line that other cores want to write, and would slow the second
 * hardware thread of the core. */
static inline void nw_breathe(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* Call it after each poll; `news` says whether the poll found an event. Returns
 * true if the caller should now call nw_give_way, false if it should poll
 * again. */
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
