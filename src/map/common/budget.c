/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the steps of all searches of a call, looks at the clock and at Ctrl-C,
 * and reports progress. */
#include "map/common/budget.h"
#include "map/common/parameters.h"
#include "base/clock.h"
#include "base/parallel.h"

#include <math.h>
#include <stdio.h>

void nw_budget_init(struct nw_budget *budget,
                    const struct nw_map_options *options)
{
    *budget = (struct nw_budget){.effort = options->effort,
                                 .objective = options->objective,
                                 .steps_most = options->steps,
                                 .progress = options->progress};
    budget->now = nw_clock_ns;
    budget->grace_ns = nw_tuned.budget.grace_ns;
    budget->begun_ns = budget->now();
    budget->threads = nw_parallel_size(options->threads);
    budget->anytime = options->steps || options->seconds > 0;
    if (!options->steps)
        budget->steps_most = UINT64_MAX;
    if (options->seconds > 0)
        budget->end_ns =
            budget->begun_ns + (uint64_t)(fmin(options->seconds, 1e9) * 1e9);
}

/* Reports to the user how much of the steps or of the time is used, and the
 * best value of the objective so far; does nothing without a function that
 * reports. `now`: time in ns. */
static void budget_tell(struct nw_budget *budget, uint64_t now)
{
    struct nw_progress *progress = budget->progress;
    uint64_t total = budget->expected, done = budget->steps;
    char words[96];

    if (!progress || !progress->update || budget->quiet)
        return;
    if (budget->end_ns) {
        total = budget->end_ns - budget->begun_ns;
        done = now > budget->begun_ns ? now - budget->begun_ns : 0;
    } else if (budget->steps_most != UINT64_MAX) {
        total = budget->steps_most;
    }
    if (done > total)
        total = 0; /* more is done than expected: the total is unknown */
    snprintf(words, sizeof words,
             budget->best[0] ? "best so far: %s (Ctrl-C keeps it)"
                             : "searching%s (Ctrl-C keeps the best so far)",
             budget->best);
    progress->update(progress, done, total, words);
}

/* Returns true if Ctrl-C was pressed. */
static bool budget_is_cancelled(const struct nw_budget *budget)
{
    return budget->progress &&
           __atomic_load_n(&budget->progress->cancelled, __ATOMIC_RELAXED);
}

bool nw_budget_spend(struct nw_budget *budget, uint64_t steps)
{
    uint64_t now = budget->end_ns || budget->progress ? budget->now() : 0;

    budget->seen_ns = now;
    budget->steps += steps;
    if (budget_is_cancelled(budget) || budget->steps >= budget->steps_most ||
        (budget->end_ns && now >= budget->end_ns))
        budget->stopped = true;
    budget_tell(budget, now);
    return !budget->stopped && !(budget->due_ns && now >= budget->due_ns);
}

void nw_budget_begin_shares(struct nw_budget *budget)
{
    budget->due_ns = budget->end_ns;
    budget->hurried |= budget->end_ns > 0;
}

uint64_t nw_budget_share(struct nw_budget *budget, double part)
{
    uint64_t former = budget->due_ns;

    if (!former)
        return 0;
    budget->seen_ns = budget->now();
    budget->due_ns = budget->seen_ns;
    if (former > budget->seen_ns)
        budget->due_ns += (uint64_t)(part * (double)(former - budget->seen_ns));
    return former;
}

void nw_budget_end_share(struct nw_budget *budget, uint64_t former)
{
    budget->due_ns = former;
}

double nw_budget_elapsed(const struct nw_budget *budget, uint64_t begun)
{
    if (!budget->due_ns)
        return 0;
    if (budget->seen_ns >= budget->due_ns)
        return 1;
    return (double)(budget->seen_ns - begun) / (double)(budget->due_ns - begun);
}

bool nw_budget_begin_starts(struct nw_budget *budget)
{
    bool former = budget->anytime;

    budget->anytime = false;
    return former;
}

void nw_budget_end_starts(struct nw_budget *budget, bool former)
{
    budget->anytime = former;
}

/* Runs a start; `user` is a struct nw_start. Threads run this function, too. */
static nw_status budget_run_start(void *user)
{
    struct nw_start *start = user;
    struct nw_budget *budget = start->budget;
    bool quiet = budget->quiet;
    nw_status status;

    budget->quiet |= start->quiet;
    start->ran = true;
    status = start->run(start->user, budget);
    budget->quiet = quiet;
    return status;
}

/* Without --time and --steps, the second start always has a copy of the budget,
 * so that the result does not depend on the number of threads. */
nw_status nw_budget_run_starts(struct nw_budget *budget,
                               struct nw_start start[2],
                               bool (*first_suffices)(const void *user))
{
    bool anytime = nw_budget_begin_starts(budget), both;
    bool at_once = !anytime && budget->threads > 1;
    struct nw_budget beside = *budget;
    uint64_t begun = budget->steps;
    struct nw_parallel_task task[] = {
        {.run = budget_run_start, .user = &start[0]},
        {.run = budget_run_start, .user = &start[1]}};
    nw_status status;

    start[0].budget = budget;
    start[1].budget = anytime ? budget : &beside;
    beside.quiet |= at_once; /* only one of two threads reports progress */
    status = at_once ? nw_parallel_pair(task, budget->threads)
                     : budget_run_start(&start[0]);
    both = !(anytime && budget->stopped) &&
           !(first_suffices && first_suffices(start[0].user));
    if (!status && both && !at_once)
        status = budget_run_start(&start[1]);
    start[1].budget = NULL; /* `beside` ends here */
    if (both && !anytime) {
        budget->steps += beside.steps - begun;
        budget->stopped |= beside.stopped;
        budget->hurried |= beside.hurried;
    }
    nw_budget_end_starts(budget, anytime);
    return status;
}

bool nw_budget_is_overdue(struct nw_budget *budget)
{
    bool overdue;

    if (!budget)
        return false;
    overdue =
        budget_is_cancelled(budget) ||
        (budget->end_ns && budget->now() > budget->end_ns + budget->grace_ns);
    if (overdue)
        __atomic_store_n(&budget->hurried, true, __ATOMIC_RELAXED);
    return overdue;
}

bool nw_budget_is_past(struct nw_budget *budget, uint64_t until)
{
    if (nw_budget_is_overdue(budget))
        return true;
    if (!budget || !until || budget->now() <= until)
        return false;
    __atomic_store_n(&budget->hurried, true, __ATOMIC_RELAXED);
    return true;
}

uint64_t nw_budget_slice(const struct nw_budget *budget, uint64_t want)
{
    uint64_t left = budget->steps_most > budget->steps
                        ? budget->steps_most - budget->steps
                        : 1;

    return want < left ? want : left;
}

uint64_t nw_budget_scale(enum nw_effort effort, uint64_t steps)
{
    return steps / nw_tuned.effort.steps_divided[effort] *
           nw_tuned.effort.steps_times[effort];
}
