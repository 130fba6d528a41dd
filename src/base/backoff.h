/* SPDX-License-Identifier: BSD-3-Clause */
/* How a caller waits for an event from another process. It first polls, then
 * polls and yields the core for a limited time, then polls and sleeps. A time
 * limits the yields, not their number: if many processes share a core, one
 * yield can last as long as the time slices of all of them, and the scheduler
 * prefers processes that slept.
 *
 * Loops that wait for milliseconds or longer, for a file or for the end of a
 * process, do not use this header. They sleep for milliseconds between two
 * polls, since each poll is a system call, often to a file server. */
#ifndef NW_BASE_BACKOFF_H
#define NW_BASE_BACKOFF_H

#include "base/clock.h"

#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

enum {
    NW_LOOKS = 200,
    NW_YIELDS_NS = 2000000,
    NW_NAP_US = 50,
    NW_MPI_LOOKS = 64 /* nw_backoff_yield: polls without a yield */
};

struct nw_backoff {
    unsigned idle;     /* consecutive polls without an event */
    uint64_t since_ns; /* time of the first yield */
};

/* Pauses the core between two polls. Without the pause, a poll would repeatedly
 * take a cache line that other cores want to write, and would slow the second
 * hardware thread of the core. */
static inline void nw_backoff_breathe(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* Call it after each poll; `news` says whether the poll found an event. Returns
 * true if the caller should now call nw_backoff_pause, false if it should poll
 * again. */
static inline bool nw_backoff_ends(struct nw_backoff *backoff, bool news)
{
    backoff->idle = news ? 0 : backoff->idle + 1;
    if (backoff->idle)
        nw_backoff_breathe();
    return backoff->idle > NW_LOOKS;
}

static inline void nw_backoff_pause(struct nw_backoff *backoff)
{
    uint64_t now = nw_clock_ns();

    if (backoff->idle == NW_LOOKS + 1)
        backoff->since_ns = now;
    if (now - backoff->since_ns < NW_YIELDS_NS)
        (void)sched_yield();
    else
        (void)usleep(NW_NAP_US);
}

/* Call it after each poll without an event, in a loop around MPI_Test. The
 * first NW_MPI_LOOKS calls do nothing, and later ones yield the core. It never
 * sleeps, since MPI makes progress inside MPI_Test, and a sleep would delay
 * MPI's other messages. It does not pause the core, since MPI_Test takes longer
 * than a pause. */
static inline void nw_backoff_yield(struct nw_backoff *backoff)
{
    if (++backoff->idle > NW_MPI_LOOKS)
        (void)sched_yield();
}

#endif
