/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs two recursive bisections of the same processes, on two threads at once
 * if possible. A single one has too little parallelism on the upper levels of
 * the tree, which have few clusters. */
#include "map/multilevel/recursive_bisection.h"

/* Runs one of the two bisections; a function nw_start.run. */
static nw_status two_starts_run(void *user, struct nw_budget *budget)
{
    struct nw_recursive_bisection *bisection = user;

    bisection->budget = budget;
    return nw_recursive_bisection(bisection);
}

/* Returns true if the first bisection found the pattern to be expander-like: a
 * second one then gains nothing. A function first_suffices of
 * nw_budget_run_starts. */
static bool two_starts_first_suffices(const void *user)
{
    const struct nw_recursive_bisection *first = user;

    return first->expander_like;
}

nw_status nw_two_starts(struct nw_recursive_bisection bisection[2], bool *both)
{
    struct nw_start start[2] = {{two_starts_run, &bisection[0]},
                                {two_starts_run, &bisection[1]}};
    struct nw_budget *budget = bisection[0].budget;
    nw_status status;

    bisection[1].only_separable = true;
    status = nw_budget_run_starts(budget, start, two_starts_first_suffices);
    bisection[1].budget = budget;
    *both = start[1].ran && !bisection[0].expander_like &&
            !bisection[1].expander_like;
    return status;
}
