/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs an algorithm, computes the cost of its mapping and compares mappings. */
#include "map/portfolio/candidate.h"
#include "map/common/budget.h"
#include "base/c_locale.h"
#include "base/status.h"
#include "base/text.h"
#include "cost/pricing.h"

#include <math.h>
#include <stdio.h>

void nw_candidate_fini(struct nw_candidate *candidate)
{
    nw_mapping_free(candidate->mapping);
    nw_cost_fini(&candidate->cost);
    *candidate = (struct nw_candidate){0};
}

/* Computes the cost and the figures of a candidate's mapping: `figure`, by
 * which candidates are compared, and `guard`, which `careful` limits. */
static nw_status candidate_price(const struct nw_problem *problem,
                                 struct nw_candidate *candidate)
{
    int32_t threads = problem->budget ? problem->budget->threads : 1;
    const struct nw_map_options *options = &problem->options;
    const struct nw_cost *cost = &candidate->cost;
    enum nw_objective second = options->objective == NW_OBJECTIVE_HOP_BYTES
                                   ? NW_OBJECTIVE_CONGESTION
                                   : NW_OBJECTIVE_HOP_BYTES;
    nw_status status =
        nw_cost_price(&(struct nw_pricing){problem->topology, problem->pattern,
                                           candidate->mapping, threads},
                      &candidate->cost);

    if (status)
        return status;
    if (options->has_second)
        second = options->second;
    candidate->figure[0] = nw_cost_objective(cost, options->objective);
    candidate->guard[0] = cost->hop_bytes.value;
    if (cost->has_congestion || second != NW_OBJECTIVE_CONGESTION)
        candidate->figure[1] = nw_cost_objective(cost, second);
    if (!cost->has_congestion)
        return NW_OK;
    candidate->guard[1] = cost->max_congestion;
    return options->careful ? nw_exchange_makespan(problem, candidate->mapping,
                                                   cost, &candidate->guard[2])
                            : NW_OK;
}

nw_status nw_candidate_from_answer(const struct nw_problem *problem,
                                   const struct nw_answer *answer,
                                   const char *algorithm,
                                   struct nw_candidate *out)
{
    struct nw_candidate candidate = {.algorithm = algorithm,
                                     .approximate = answer->approximate,
                                     .grid_found = answer->grid_found};
    nw_status status =
        nw_answer_to_mapping(answer, problem, &candidate.mapping);

    if (!status)
        status = candidate_price(problem, &candidate);
    if (status)
        nw_candidate_fini(&candidate);
    else
        *out = candidate;
    return status;
}

bool nw_candidate_better(const struct nw_candidate *a,
                         const struct nw_candidate *b)
{
    for (int i = 0; i < 2; i++) {
        double near = 1e-9 * fmax(fabs(a->figure[i]), fabs(b->figure[i]));

        if (fabs(a->figure[i] - b->figure[i]) > near)
            return a->figure[i] < b->figure[i];
    }
    return false;
}

bool nw_candidate_within(const struct nw_candidate *candidate,
                         const double guard[3])
{
    for (int i = 0; guard && i < 3; i++)
        if (candidate->guard[i] > guard[i] * (1 + 1e-9))
            return false;
    return true;
}

nw_status nw_candidate_run(const struct nw_algorithm *algorithm,
                           const struct nw_problem *problem,
                           struct nw_map_report *report,
                           struct nw_candidate *out)
{
    struct nw_answer answer = {0};
    nw_status status = nw_answer_init(&answer, problem->pattern->rank_count);

    if (!status)
        status = algorithm->run(algorithm, problem, &answer, report);
    if (!status)
        status =
            nw_candidate_from_answer(problem, &answer, algorithm->name, out);
    if (!status && nw_algorithm_is(algorithm, NW_ALGORITHM_DEFAULT) &&
        problem->standard && !problem->standard->level_count)
        status = nw_cost_copy(&out->cost, problem->standard);
    nw_answer_fini(&answer);
    return status;
}

void nw_candidate_tell(const struct nw_candidate *best,
                       const struct nw_problem *problem)
{
    enum nw_objective objective = problem->options.objective;
    struct nw_budget *budget = problem->budget;
    char value[32];

    if (!budget || objective != budget->objective)
        return;
    if (objective == NW_OBJECTIVE_HOP_BYTES || !best->cost.has_congestion)
        nw_snprintf(value, sizeof value, "%.6g", best->figure[0]);
    else
        nw_format_quantity(best->figure[0], NW_UNIT_TIME, value, sizeof value);
    snprintf(budget->best, sizeof budget->best, "%s %s",
             nw_objective_name(objective), value);
}

void nw_candidate_replace(struct nw_candidate *best, struct nw_candidate *other,
                          bool is_better)
{
    if (is_better)
        nw_candidate_swap(best, other);
    nw_candidate_fini(other);
}

void nw_candidate_to_answer(struct nw_candidate *candidate,
                            struct nw_map_answer *answer)
{
    nw_mapping_free(answer->mapping);
    nw_cost_fini(&answer->cost);
    answer->mapping = candidate->mapping;
    answer->cost = candidate->cost;
    answer->report.algorithm = candidate->algorithm;
    *candidate = (struct nw_candidate){0};
}
