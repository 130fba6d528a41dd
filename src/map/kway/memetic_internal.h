/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the memetic algorithm. */
#ifndef NW_MAP_KWAY_MEMETIC_INTERNAL_H
#define NW_MAP_KWAY_MEMETIC_INTERNAL_H

#include "map/kway/memetic.h"

/* A partition and its quality. */
struct kway_memetic_answer {
    int32_t *part; /* [n] owned; NULL: none */
    double cost;
    bool balanced; /* every part is within its limits */
};

/* A task of one thread: makes one partition by combining two others, by
 * refining one of them again, or from scratch. */
struct kway_memetic_task {
    const struct nw_kway_run *run;
    const struct kway_memetic_answer *one,
        *other; /* both NULL: a partition from scratch; only other NULL: `one`
                   is refined again */
    uint64_t seed;
    bool other_share; /* the start uses the loads of run->share */
    bool grouped;     /* the start divides among groups of elements */
    /* the start is partitioned without coarsening */
    bool whole;
    struct nw_time_shares pace; /* time shares of the refinement, in vertices */
    struct kway_memetic_answer out;
};

/* Defined in v_cycle.c: fills task->out. */

NW_MUST_CHECK nw_status
nw_kway_memetic_run_task(struct kway_memetic_task *task);

#endif
