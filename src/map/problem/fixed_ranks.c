/* SPDX-License-Identifier: BSD-3-Clause */
/* The cores and GPUs that ranks are fixed to. */
#include "map/problem/problem.h"

/* Returns `set`; an empty set if it begins with a negative number, which means
 * any core (or any GPU) of the node to which the rank is fixed. */
static struct nw_ints fixed_ranks_only_closed(struct nw_ints set)
{
    if (set.count && set.values[0] < 0)
        set.count = 0;
    return set;
}

struct nw_ints nw_problem_fixed_cores(const struct nw_problem *problem,
                                      int32_t rank)
{
    if (!problem->fixed_host || problem->fixed_host[rank] < 0)
        return (struct nw_ints){NULL, 0};
    return fixed_ranks_only_closed(
        nw_mapping_cores(problem->options.fixed, rank));
}

struct nw_ints nw_problem_fixed_gpus(const struct nw_problem *problem,
                                     int32_t rank)
{
    if (!problem->fixed_host || problem->fixed_host[rank] < 0)
        return (struct nw_ints){NULL, 0};
    return fixed_ranks_only_closed(
        nw_mapping_gpus(problem->options.fixed, rank));
}

bool nw_problem_needs_core(const struct nw_problem *problem, int32_t rank)
{
    return !nw_problem_fixed_cores(problem, rank).count;
}

bool nw_problem_needs_gpu(const struct nw_problem *problem, int32_t rank)
{
    return problem->wants_gpu[rank] &&
           !nw_problem_fixed_gpus(problem, rank).count;
}
