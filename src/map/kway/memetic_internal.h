/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the memetic algorithm. */
#ifndef NW_MAP_KWAY_MEMETIC_INTERNAL_H
#define NW_MAP_KWAY_MEMETIC_INTERNAL_H

#include "map/kway/memetic.h"

struct kway_memetic_answer {
    int32_t *part;
    double cost;
    bool balanced;
};

/* One thread's task: from two answers (or none) a third. */
struct kway_memetic_task {
    const struct nw_kway_run *run;
    const struct kway_memetic_answer *one,
        *other; /* NULL: a start, or a cycle */
    uint64_t seed;
    bool other_share;
    bool grouped;               /* the start goes by the machine's groups */
    bool whole;                 /* the start is cut without coarsening */
    struct nw_time_shares pace; /* on the way back; work: vertices */
    struct kway_memetic_answer out;
};

/* v_cycle.c */

NW_MUST_CHECK nw_status
nw_kway_memetic_run_task(struct kway_memetic_task *task);

#endif
