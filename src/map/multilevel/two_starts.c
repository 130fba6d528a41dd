/* SPDX-License-Identifier: BSD-3-Clause */
/* Two bisections of the same processes, each on a thread of its own: between
 * few clusters one alone has not enough to do for two. */
#include "map/multilevel/recursive_bisection.h"
#include "base/parallel.h"

static nw_status two_starts_run(void *user)
{
    return nw_recursive_bisection(user);
}

static bool two_starts_is_done(const struct nw_recursive_bisection *bisection)
{
    return !bisection->only_separable || !bisection->expander_like;
}

/* The second result counts only if the first one does not exclude it, as if
 * both had run in order. */
static nw_status
two_starts_run_at_once(struct nw_recursive_bisection bisection[2], bool *both)
{
    struct nw_budget *budget = bisection[0].budget, beside = *budget;
    uint64_t begun = budget->steps;
    struct nw_parallel_task task[] = {
        {.run = two_starts_run, .user = &bisection[0]},
        {.run = two_starts_run, .user = &bisection[1]}};
    nw_status status;

    beside.quiet = true;
    bisection[1].budget = &beside;
    status = nw_parallel_pair(task, budget->threads);
    bisection[1].budget = budget;
    *both = !bisection[0].expander_like && two_starts_is_done(&bisection[1]);
    if (!bisection[0].expander_like)
        budget->steps += beside.steps - begun;
    budget->stopped |= beside.stopped;
    budget->hurried |= beside.hurried;
    return status;
}

nw_status nw_two_starts(struct nw_recursive_bisection bisection[2], bool *both)
{
    struct nw_budget *budget = bisection[0].budget;
    nw_status status;

    bisection[1].only_separable = true;
    *both = false;
    if (budget->threads > 1 && !budget->anytime)
        return two_starts_run_at_once(bisection, both);
    status = nw_recursive_bisection(&bisection[0]);
    if (status || bisection[0].expander_like || budget->stopped)
        return status;
    status = nw_recursive_bisection(&bisection[1]);
    *both = two_starts_is_done(&bisection[1]);
    return status;
}
