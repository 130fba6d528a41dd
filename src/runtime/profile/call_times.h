/* SPDX-License-Identifier: BSD-3-Clause */
/* Time in MPI of all ranks together: for each function its calls, and the
 * minimum, mean and maximum over the ranks. */
#ifndef NW_PROFILE_CALL_TIMES_H
#define NW_PROFILE_CALL_TIMES_H

#include "base/json.h"
#include "runtime/profile/part.h"

#include <nodewise/pattern.h>

/* One function; `ns` belongs to `rank` alone and is not yet in the sum. */
struct nw_call_time {
    char name[NW_PART_NAME];
    int32_t rank, rank_count;
    uint64_t calls, ns, min, max;
    nw_uint128 sum;
};

/* {0} to begin with. */
struct nw_call_times {
    struct nw_call_time *call; /* sorted by name */
    size_t count, capacity;
    struct nw_call_time all;
};

/* Adds a record of class NW_PART_TIME. The records of a rank come one after
 * another. NW_EINVAL if the record is invalid. */
NW_MUST_CHECK nw_status nw_call_times_add(struct nw_call_times *times,
                                          int32_t rank,
                                          const struct nw_part_record *record);
/* Gives the times to `pattern`, whose ranks are all ranks: a rank without a
 * call has 0. Nothing was added: nothing is given. */
NW_MUST_CHECK nw_status nw_call_times_build(struct nw_call_times *times,
                                            nw_pattern *pattern);
void nw_call_times_fini(struct nw_call_times *times);

#endif
