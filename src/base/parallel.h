/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs independent jobs on several threads. */
#ifndef NW_BASE_PARALLEL_H
#define NW_BASE_PARALLEL_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls job(user, i) once for each i below count, in any order, on at most
 * `threads` threads (64 if that is less), the calling one included. If a thread
 * cannot be started the others do its work. Nested runs share the thread limit
 * of the outermost run that was given two or more threads. */
void nw_parallel_run(void (*job)(void *user, int32_t i), void *user,
                     int32_t count, int32_t threads);

/* Like nw_parallel_run, for jobs that may fail. Returns the first failure in
 * the order of jobs, with its error text. Jobs after a failed one may be
 * skipped. */
NW_MUST_CHECK nw_status nw_parallel_try(nw_status (*job)(void *user, int32_t i),
                                        void *user, int32_t count,
                                        int32_t threads);

/* Claims one of `count` slots and returns its index; spins until one is free.
 * With as many slots as threads, one is always free. nw_parallel_release frees
 * the slot. */
int32_t nw_parallel_claim(bool *taken, int32_t count);
void nw_parallel_release(bool *taken, int32_t which);

/* A task that may run in parallel with another one. */
struct nw_parallel_task {
    nw_status (*run)(void *user);
    void *user;
    nw_status status; /* the result of run(); NW_OK if it was not called */
};
/* Runs both tasks, in parallel if `threads` is at least 2. Returns the first
 * failure, like nw_parallel_try. */
NW_MUST_CHECK nw_status nw_parallel_pair(struct nw_parallel_task task[2],
                                         int32_t threads);

/* The number of jobs that a long loop is divided into, for any number of
 * threads. */
#define NW_PARALLEL_RANGES 16
struct nw_parallel_range {
    int64_t first, end;
};
/* Returns the iterations of a loop of `count` that belong to job `i`. */
static inline struct nw_parallel_range nw_parallel_range(int64_t count,
                                                         int32_t i)
{
    return (struct nw_parallel_range){count * i / NW_PARALLEL_RANGES,
                                      count * (i + 1) / NW_PARALLEL_RANGES};
}

/* Like nw_alloc, but clears a long array with up to `threads` threads. */
NW_MUST_CHECK nw_status nw_parallel_alloc(size_t count, size_t size,
                                          int32_t threads, void *out);

/* Returns the number of threads for an option: `asked`, or if that is 0 the
 * number of CPUs that this thread may use (at most 64), but 1 inside an MPI
 * process. */
int32_t nw_parallel_size(int32_t asked);

#endif
