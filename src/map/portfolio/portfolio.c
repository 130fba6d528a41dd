/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings with one rank per element: runs the requested algorithm. Except for
 * the baselines, no answer is worse than the default mapping. */
#include "map/portfolio/portfolio.h"
#include "map/common/budget.h"
#include "map/portfolio/candidate.h"
#include "base/status.h"

#include <math.h>

/* Replaces *best by the mapping of --from, if the algorithm starts from that,
 * and if it is better: a search that uses an approximation of the machine may
 * make the mapping worse. A mapping of --from that is not complete or not valid
 * is ignored. */
static nw_status portfolio_keep_start(const struct nw_algorithm *algorithm,
                                      const struct nw_problem *problem,
                                      struct nw_candidate *best)
{
    struct nw_candidate other = {0};
    struct nw_answer answer = {0};
    nw_status status;

    if (!problem->options.start || !algorithm->takes_start)
        return NW_OK;
    status = nw_search_initial(problem, &answer);
    if (!status)
        status =
            nw_candidate_from_answer(problem, &answer, algorithm->name, &other);
    nw_answer_fini(&answer);
    if (!status)
        nw_candidate_replace(best, &other, nw_candidate_better(&other, best));
    return status == NW_EINVAL || status == NW_EUNSUPPORTED ? NW_OK : status;
}

/* Finds the algorithm that the options name: `auto` by default, or `magc` if
 * phases are given. Returns NW_EINVAL if the name is unknown, or if phases are
 * given for an algorithm without phases. */
static nw_status portfolio_find(const struct nw_map_options *options,
                                const struct nw_algorithm **out)
{
    struct nw_map_options mine = nw_problem_options(options);
    const char *name = mine.algorithm;
    bool phases = mine.phase[0] || mine.phase[1] || mine.phase[2];
    const struct nw_algorithm *found =
        name ? nw_algorithm_find(name)
             : nw_algorithm_get(phases ? NW_ALGORITHM_MAGC : NW_ALGORITHM_AUTO);

    if (!found)
        return nw_fail(
            NW_EINVAL,
            "unknown algorithm '%s'; 'nodewise map --list' lists all", name);
    if (phases && !found->phase[1])
        return nw_fail(NW_EINVAL, "algorithm %s has no phases to replace",
                       found->name);
    *out = found;
    return NW_OK;
}

/* Runs the algorithm and sets *best. `auto` chooses among several mappings,
 * one of them the default. For any other algorithm but a baseline, the default
 * mapping replaces the result if the default has a lower objective. Then the
 * mapping of --from replaces the result if the algorithm begins from --from,
 * and --from is better. At last, ranks move nearer to their GPUs and NICs,
 * unless the algorithm is a baseline or the default mapping. Clears
 * report->proven if the pattern has phases, because a proof is about the whole
 * pattern. Returns NW_EINVAL if the objective needs links and the machine has
 * none. */
static nw_status portfolio_solve(const struct nw_algorithm *algorithm,
                                 const struct nw_problem *problem,
                                 struct nw_map_report *report,
                                 struct nw_candidate *best)
{
    struct nw_candidate other = {0};
    nw_status status =
        nw_problem_check_links(problem->topology, &problem->options);

    if (status)
        return status;
    if (!algorithm->run)
        status = nw_choose_best(problem, report, best);
    else
        status = nw_candidate_run(algorithm, problem, report, best);
    /* This also computes problem->standard, the cost of the default mapping. */
    if (!status && algorithm->run &&
        (!algorithm->baseline || problem->standard)) {
        status = nw_candidate_run(nw_algorithm_get(NW_ALGORITHM_DEFAULT),
                                  problem, report, &other);
        if (!status)
            nw_candidate_replace(best, &other,
                                 !algorithm->baseline &&
                                     best->figure[0] - other.figure[0] >
                                         1e-9 * fabs(other.figure[0]));
    }
    if (!status && algorithm->run)
        status = portfolio_keep_start(algorithm, problem, best);
    report->proven &= !problem->phases->found;
    if (!status && !algorithm->baseline &&
        !nw_algorithm_is(algorithm, NW_ALGORITHM_DEFAULT))
        status = nw_cores_near_gpus(problem, algorithm->cores_stay, best);
    return status;
}

nw_status nw_portfolio_map(const struct nw_map_call *call, bool priced,
                           struct nw_map_answer *out)
{
    const struct nw_algorithm *algorithm = NULL;
    struct nw_map_answer answer = {0};
    struct nw_candidate best = {0};
    struct nw_problem problem;
    struct nw_budget budget;
    nw_status status = portfolio_find(call->options, &algorithm);

    if (!status)
        status = nw_problem_init(&problem, call->topology, call->pattern,
                                 call->options);
    if (status)
        return status;
    nw_budget_init(&budget, &problem.options);
    problem.budget = &budget;
    problem.standard = priced ? &answer.standard : NULL;
    status = portfolio_solve(algorithm, &problem, &answer.report, &best);
    nw_problem_fini(&problem);
    if (status) {
        nw_candidate_fini(&best);
        nw_map_answer_fini(&answer);
        return status;
    }
    if (budget.steps)
        answer.report.steps = budget.steps;
    answer.report.hurried = budget.hurried;
    nw_candidate_to_answer(&best, &answer);
    *out = answer;
    return NW_OK;
}

void nw_map_answer_fini(struct nw_map_answer *answer)
{
    nw_mapping_free(answer->mapping);
    nw_cost_fini(&answer->cost);
    nw_cost_fini(&answer->standard);
    *answer = (struct nw_map_answer){0};
}
