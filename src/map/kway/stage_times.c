/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides --time among the stages that make the first partition. Each stage has
 * an end and does as much of its work as fits, so that every stage gets some
 * time. Stages of later partitions have no end: if the time ends, the whole
 * unfinished partition is dropped. */
#include "map/kway/kway.h"

void nw_time_shares_begin(struct nw_time_shares *pace, struct nw_budget *budget,
                          double share, double all)
{
    uint64_t now;

    *pace = (struct nw_time_shares){.budget = budget, .all = all};
    if (!budget || !budget->end_ns || budget->steps)
        return;
    now = budget->now();
    pace->begun_ns = now;
    if (now < budget->end_ns)
        pace->window_ns = share * (double)(budget->end_ns - now);
}

uint64_t nw_time_shares_until(struct nw_time_shares *pace, double work)
{
    if (pace->window_ns <= 0)
        return 0;
    pace->done += work;
    if (pace->done >= pace->all)
        return pace->begun_ns + (uint64_t)pace->window_ns;
    return pace->begun_ns +
           (uint64_t)(pace->window_ns * pace->done / pace->all);
}
