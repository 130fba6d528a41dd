/* SPDX-License-Identifier: BSD-3-Clause */
/* The best of the cheap ones. Every candidate is priced by the same figures
 * as evaluate shows; the default is the first of them. */
#include "map/algorithm.h"
#include "map/flat.h"
#include "base/status.h"

#include <stdlib.h>

/* Where it stops being cheap: trials of Algorithm 1, ranks for Scotch. */
#define GREEDY_TRIALS_MOST 4e6
#define SCOTCH_RANKS_MOST 32768

/* A row beside the named ones. */
static const struct nw_algorithm by_distance = {
    "partition",   "",
    nw_run_phases, {"partition", "partition", "partition"},
    NW_KINDS_ALL,  .by_distance = true};

static bool greedy_is_cheap(const struct nw_problem *problem)
{
    double most = 0;

    for (int32_t h = 0; h < problem->host_count; h++) {
        double units = problem->core.first[h + 1] - problem->core.first[h];

        most += units * (units < problem->pattern->rank_count
                             ? units
                             : problem->pattern->rank_count);
    }
    return most <= GREEDY_TRIALS_MOST;
}

struct choosing {
    const struct nw_problem *problem;
    struct nw_map_report *report;
    struct nw_candidate best;
    double standard; /* the default's other figure */
};

static bool is_allowed(const struct choosing *choosing,
                       const struct nw_candidate *candidate)
{
    return !choosing->problem->options.careful ||
           candidate->figure[1] <= choosing->standard * (1 + 1e-9);
}

static nw_status consider(struct choosing *choosing,
                          const struct nw_algorithm *algorithm)
{
    struct nw_candidate candidate = {0};
    nw_status status = nw_candidate_run(algorithm, choosing->problem,
                                        choosing->report, &candidate);

    if (status)
        return status;
    if (!choosing->best.mapping)
        choosing->standard = candidate.figure[1];
    if (!choosing->best.mapping ||
        (is_allowed(choosing, &candidate) &&
         nw_candidate_better(&candidate, &choosing->best))) {
        struct nw_candidate worse = choosing->best;

        choosing->best = candidate;
        candidate = worse;
    }
    nw_candidate_fini(&candidate);
    return NW_OK;
}

static bool is_cancelled(const struct nw_problem *problem)
{
    struct nw_progress *progress = problem->options.progress;

    return progress && __atomic_load_n(&progress->cancelled, __ATOMIC_RELAXED);
}

static size_t list_candidates(const struct nw_problem *problem,
                              const struct nw_algorithm *list[8])
{
    size_t count = 0;

    list[count++] = nw_algorithm_find("default");
    list[count++] = nw_algorithm_find("block");
    list[count++] = nw_algorithm_find("partition");
    list[count++] = &by_distance;
    if (greedy_is_cheap(problem))
        list[count++] = nw_algorithm_find("magc-greedy");
    if (nw_scotch_is_here() &&
        problem->pattern->rank_count <= SCOTCH_RANKS_MOST) {
        list[count++] = nw_algorithm_find("magc-scotch");
        list[count++] = nw_algorithm_find("scotch");
    }
    if (problem->options.remote_gpus)
        list[count++] = nw_algorithm_find("independent");
    return count;
}

nw_status nw_choose_best(const struct nw_problem *problem,
                         struct nw_map_report *report, struct nw_candidate *out)
{
    struct choosing choosing = {.problem = problem, .report = report};
    const struct nw_algorithm *list[8];
    size_t count = list_candidates(problem, list);
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < count && !(i && is_cancelled(problem));
         i++) {
        struct nw_progress *progress = problem->options.progress;

        if (progress && progress->update)
            progress->update(progress, i, count, list[i]->name);
        status = consider(&choosing, list[i]);
    }
    if (status)
        nw_candidate_fini(&choosing.best);
    else
        *out = choosing.best;
    return status;
}
