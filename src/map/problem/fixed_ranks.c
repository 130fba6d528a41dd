/* SPDX-License-Identifier: BSD-3-Clause */
/* The cores and GPUs that ranks are fixed to. */
#include "map/problem/problem.h"

/* The set is empty, too, if it begins with a negative number in the list of
 * fixed ranks, which means any core (or any GPU) of the node to which the rank
 * is fixed. */
struct nw_ints nw_problem_fixed(const struct nw_problem *problem, bool gpus,
                                int32_t rank)
{
    const nw_mapping *fixed = problem->options.fixed;
    struct nw_ints set = {NULL, 0};

    if (problem->fixed_host && problem->fixed_host[rank] >= 0)
        set =
            gpus ? nw_mapping_gpus(fixed, rank) : nw_mapping_cores(fixed, rank);
    if (set.count && set.values[0] < 0)
        set.count = 0;
    return set;
}

bool nw_problem_needs_core(const struct nw_problem *problem, int32_t rank)
{
    return !nw_problem_fixed(problem, false, rank).count;
}

bool nw_problem_needs_gpu(const struct nw_problem *problem, int32_t rank)
{
    return problem->wants_gpu[rank] &&
           !nw_problem_fixed(problem, true, rank).count;
}
