/* SPDX-License-Identifier: BSD-3-Clause */
/* The cores and GPUs that ranks are fixed to. */
#include "map/problem/problem.h"

/* Returns what list() gives for a rank in the list of fixed ranks: its cores or
 * its GPUs. Returns an empty set if the rank is not fixed, or if the set begins
 * with a negative number, which means any core (or any GPU) of the node to
 * which the rank is fixed. */
static struct nw_ints
fixed_ranks_of(const struct nw_problem *problem, int32_t rank,
               struct nw_ints (*list)(const nw_mapping *, int32_t))
{
    struct nw_ints set = {NULL, 0};

    if (problem->fixed_host && problem->fixed_host[rank] >= 0)
        set = list(problem->options.fixed, rank);
    if (set.count && set.values[0] < 0)
        set.count = 0;
    return set;
}

struct nw_ints nw_problem_fixed_cores(const struct nw_problem *problem,
                                      int32_t rank)
{
    return fixed_ranks_of(problem, rank, nw_mapping_cores);
}

struct nw_ints nw_problem_fixed_gpus(const struct nw_problem *problem,
                                     int32_t rank)
{
    return fixed_ranks_of(problem, rank, nw_mapping_gpus);
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
