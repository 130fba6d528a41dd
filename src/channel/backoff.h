/* SPDX-License-Identifier: BSD-3-Clause */
/* How one waits for others: looking at first, then letting others run, then
 * asleep. By the clock, not by turns: where many want the core, each turn that
 * gives it away costs a slice of each of them, and who sleeps is woken first.
 */
#ifndef NW_CHANNEL_BACKOFF_H
#define NW_CHANNEL_BACKOFF_H

#include "base/clock.h"

#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

enum { NW_LOOKS = 200, NW_YIELDS_NS = 2000000, NW_NAP_US = 50 };

struct nw_backoff {
    unsigned idle;     /* looks without news */
    uint64_t since_ns; /* when it began to give way */
};

/* Between two looks at what others write: a look takes the lock that they need
 * to write, and cores of one pair share their units. */
static inline void nw_breathe(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* After a look; whether it is time to give way. */
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
