/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the memetic algorithm. */
#ifndef NW_MAP_KWAY_KWAY_MEMETIC_INTERNAL_H
#define NW_MAP_KWAY_KWAY_MEMETIC_INTERNAL_H

#include "map/kway/kway.h"

/* A partition, its cost and whether it keeps the limits. */
struct kway_memetic_answer {
    int32_t *part; /* [vertices] owned; NULL: no partition */
    double cost;
    bool balanced; /* no part exceeds its limits */
};

/* A task of one thread: makes one partition by combining two others, by
 * refining one of them again, or from scratch. */
struct kway_memetic_task {
    const struct nw_kway_run *run;
    const struct kway_memetic_answer *one,
        *other; /* second parent to combine with `one`; NULL: `one` alone is
                   refined again, or if `one` is NULL, too, a partition is made
                   from scratch */
    uint64_t seed;
    bool alternative; /* from scratch: wanted loads are run->share unless it is
                         NULL, and elements may be divided into groups, not only
                         halves */
    bool whole;       /* from scratch: the graph is not coarsened */
    struct nw_time_shares pace; /* divides the time limit among the levels in
                                   proportion to their numbers of vertices */
    struct kway_memetic_answer out;
};

/* Fills task->out. task->out.part stays NULL if the task is left out, because
 * time is over and run->given keeps all limits. Defined in v_cycle.c. */

NW_MUST_CHECK nw_status
nw_kway_memetic_run_task(struct kway_memetic_task *task);

#endif
