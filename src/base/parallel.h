/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that do not touch each other, on a few threads. */
#ifndef NW_BASE_PARALLEL_H
#define NW_BASE_PARALLEL_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls job(user, i) once for each i below count, in any order, on at most
 * `threads` threads, the calling one included. If a thread cannot be started
 * the others do its work. Nested runs share the thread limit of the outermost
 * run that was given two or more threads. */
void nw_parallel_run(void (*job)(void *user, int32_t i), void *user,
                     int32_t count, int32_t threads);

/* The same for jobs that may fail. Returns the first failure in their order,
 * with its sentence; those after a failure may be left out. */
NW_MUST_CHECK nw_status nw_parallel_try(nw_status (*job)(void *user, int32_t i),
                                        void *user, int32_t count,
                                        int32_t threads);

/* Claims one of `count` slots; at most `count` callers hold one. With as many
 * slots as threads, a slot is always free. */
int32_t nw_parallel_claim(bool *taken, int32_t count);
void nw_parallel_release(bool *taken, int32_t which);

/* A task that may run in parallel with another one. */
struct nw_parallel_task {
    nw_status (*run)(void *user);
    void *user;
    nw_status status; /* what it gave; NW_OK where it was not begun */
};
/* Both, at once where there are two threads; like nw_parallel_try. */
NW_MUST_CHECK nw_status nw_parallel_pair(struct nw_parallel_task task[2],
                                         int32_t threads);

/* Number of jobs that a long loop is cut into, for any number of threads. */
#define NW_PARALLEL_RANGES 16
struct nw_parallel_range {
    int64_t first, end;
};
/* The part of `count` turns that is job `i`. */
static inline struct nw_parallel_range nw_parallel_range(int64_t count,
                                                         int32_t i)
{
    return (struct nw_parallel_range){count * i / NW_PARALLEL_RANGES,
                                      count * (i + 1) / NW_PARALLEL_RANGES};
}

/* nw_alloc, cleared by those threads where it is long. */
NW_MUST_CHECK nw_status nw_parallel_alloc(size_t count, size_t size,
                                          int32_t threads, void *out);

/* Threads meant by an option: as many as asked for; with 0 the cores that are
 * here, but one inside an MPI process. */
int32_t nw_parallel_size(int32_t asked);

#endif
