/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a long call tells where it is and how it is told to stop. The library
 * prints nothing: the program that passes the struct draws from it.
 */
#ifndef NODEWISE_PROGRESS_H
#define NODEWISE_PROGRESS_H

#include <nodewise/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Owned by the caller, who may set `cancelled` from a signal handler or
 * another thread; the call then returns its best so far, or NW_ECANCELLED
 * where there is none. `update` may be NULL; it is called from the calling
 * thread, at most about every 10 ms; `total` is 0 where it is not known. */
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
