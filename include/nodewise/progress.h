/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress and cancellation of long calls. The library prints nothing; the
 * program that passes this struct can draw the progress.
 */
#ifndef NODEWISE_PROGRESS_H
#define NODEWISE_PROGRESS_H

#include <nodewise/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Owned by the caller. The caller may set `cancelled` from a signal handler or
 * another thread. nw_simulate and nw_channel_tune then return NW_ECANCELLED;
 * all other calls return NW_OK and their best result so far. The library calls
 * `update` from the calling thread, at most about every 10 ms. `update` may be
 * NULL. `total` is 0 if it is not known. */
struct nw_progress {
    int cancelled; /* set and read with __atomic, relaxed */
    void (*update)(struct nw_progress *self, uint64_t done, uint64_t total,
                   const char *what);
    void *user;
};

#ifdef __cplusplus
}
#endif
#endif
