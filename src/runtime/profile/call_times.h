/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the time in MPI over all ranks. The result for each MPI function, for
 * all of them together, and for the whole run is the number of calls, and the
 * minimum, mean and maximum time over the ranks. */
#ifndef NW_PROFILE_CALL_TIMES_H
#define NW_PROFILE_CALL_TIMES_H

#include "base/json.h"
#include "runtime/profile/part.h"

#include <nodewise/pattern.h>

/* The times of one MPI function. `ns` is the time of rank `rank`, whose records
 * are being added; it is not included in `sum`, `min` and `max` yet.
 * `rank_count`: number of ranks with records, including this one. Times are in
 * ns. */
struct nw_call_time {
    char name[NW_PART_NAME];
    int32_t rank, rank_count;
    uint64_t calls, ns, min, max;
    nw_uint128 sum;
};

/* The times of each MPI function (`call`), and of all of them together (`all`).
 * Initialise it with {0}; free it by nw_call_times_fini. */
struct nw_call_times {
    struct nw_call_time *call; /* sorted by name */
    size_t count, capacity;
    struct nw_call_time all;
};

/* Adds a record of class NW_PART_TIME that `rank` has counted. All records of
 * one rank must be added before those of the next rank. Returns NW_EINVAL if
 * the record is invalid. */
NW_MUST_CHECK nw_status nw_call_times_add(struct nw_call_times *times,
                                          int32_t rank,
                                          const struct nw_part_record *record);
/* Fills pattern->time. A rank that never called a function counts with time 0.
 * If no record was added, the pattern gets no times. */
NW_MUST_CHECK nw_status nw_call_times_build(struct nw_call_times *times,
                                            nw_pattern *pattern);
void nw_call_times_fini(struct nw_call_times *times);

#endif
