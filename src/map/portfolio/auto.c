/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithm `auto`: runs the algorithms that take little time, beginning
 * with the default mapping, and improves the best of their results by a search.
 * Results are compared by the cost figures that the command `evaluate` shows.
 */
#include "map/portfolio/candidate.h"
#include "map/common/budget.h"
#include "map/portfolio/improve_pool.h"
#include "map/common/parameters.h"
#include "base/parallel.h"
#include "base/status.h"
#include "topology/topology.h"

#include <math.h>
#include <string.h>

#define LIST_MAX 10 /* size of the list that auto_list_candidates fills */

/* An algorithm that users cannot name. It works like "partition", but lowers
 * hop-bytes before congestion. */
static const struct nw_algorithm auto_by_distance = {
    .name = "partition",
    .run = nw_run_phases,
    .phase = {nw_place_partition, nw_place_partition, nw_place_partition},
    .by_distance = true};

/* Returns true if Algorithm 1 of the MAGC paper is cheap for this problem: it
 * tries at most greedy_trials_max pairs of a rank and a core unit. */
static bool auto_greedy_is_cheap(const struct nw_problem *problem)
{
    double most = 0;

    for (int32_t h = 0; h < problem->host_count; h++) {
        double units = problem->core.first[h + 1] - problem->core.first[h];

        most += units * (units < problem->pattern->rank_count
                             ? units
                             : problem->pattern->rank_count);
    }
    return most <= nw_tuned.portfolio.greedy_trials_max;
}

/* State of one run of `auto`. */
struct auto_work {
    const struct nw_problem *problem;
    struct nw_map_report *report;
    struct nw_candidate best;
    /* limits of the option `careful`: hop-bytes and congestion (s) of the
     * default mapping; end of an exchange (s), the earlier one of the default
     * mapping and MAGC */
    double standard[3];
    /* variant of MAGC (Scotch or Algorithm 1) whose exchange ends first, among
     * those within these limits; NULL: none */
    const struct nw_algorithm *magc;
    /* predicted values of the mapping that `magc` found: its objective, and the
     * end of an exchange (s) */
    double magc_figure, magc_end;
    struct nw_pool pool;
    bool grid_found; /* an algorithm found a grid in the pattern */
};

/* The run of one algorithm, and its result. */
struct auto_candidate_run {
    const struct nw_algorithm *algorithm;
    const struct auto_work *work;
    struct nw_candidate candidate;
};

/* Updates the limits of the option `careful`. The first candidate is the
 * default mapping, whose figures are the limits. A mapping by MAGC within these
 * limits may lower the limit of the time at which an exchange ends. `magc`: the
 * variant of MAGC that made the candidate, otherwise NULL. */
static void auto_raise_standard(struct auto_work *work,
                                const struct nw_candidate *candidate,
                                const struct nw_algorithm *magc)
{
    double *standard = work->standard;

    if (!work->best.mapping) {
        memcpy(standard, candidate->guard, sizeof candidate->guard);
        work->pool.standard = candidate->figure[0];
        if (work->problem->options.careful)
            work->pool.guard = standard;
    } else if (magc && nw_candidate_within(candidate, work->pool.guard)) {
        if (candidate->guard[2] < standard[2])
            standard[2] = candidate->guard[2];
        if (!work->magc || candidate->guard[2] < work->magc_end) {
            work->magc = magc;
            work->magc_figure = candidate->figure[0];
            work->magc_end = candidate->guard[2];
        }
    }
}

/* Returns true if the candidate replaces work->best: it is within the limits of
 * the option `careful`, and is better, or work->best exceeds the limits. */
static bool auto_is_taken(const struct auto_work *work,
                          const struct nw_candidate *candidate)
{
    if (!work->best.mapping)
        return true;
    return nw_candidate_within(candidate, work->pool.guard) &&
           (nw_candidate_better(candidate, &work->best) ||
            !nw_candidate_within(&work->best, work->pool.guard));
}

/* Runs an algorithm (of the auto_candidate_run `user`), then moves its ranks
 * near their GPUs, as happens if the user names the algorithm; the default
 * mapping stays as it is. That may lower the cost, so `auto` must compare the
 * result after it. The body of a thread. */
static nw_status auto_run_candidate(void *user)
{
    struct auto_candidate_run *candidate_run = user;
    const struct nw_algorithm *algorithm = candidate_run->algorithm;
    const struct auto_work *work = candidate_run->work;
    nw_status status = nw_candidate_run(algorithm, work->problem, work->report,
                                        &candidate_run->candidate);

    if (status || nw_algorithm_is(algorithm, NW_ALGORITHM_DEFAULT))
        return status;
    status = nw_cores_near_gpus(work->problem, algorithm->cores_stay,
                                &candidate_run->candidate);
    if (status)
        nw_candidate_fini(&candidate_run->candidate);
    return status;
}

/* Keeps the result of a run as the best candidate, puts it into the pool, or
 * frees it. The caller passes the results in a fixed order, even if the runs
 * ended in another order. */
static void auto_take_result(struct auto_work *work,
                             struct auto_candidate_run *candidate_run)
{
    struct nw_candidate candidate = candidate_run->candidate;
    const struct nw_algorithm *algorithm = candidate_run->algorithm;

    bool magc = nw_algorithm_is(algorithm, NW_ALGORITHM_MAGC_SCOTCH) ||
                nw_algorithm_is(algorithm, NW_ALGORITHM_MAGC_GREEDY);

    auto_raise_standard(work, &candidate, magc ? algorithm : NULL);
    /* `auto` must not be worse than an algorithm that the user could name,
     * except for `partition` and within the limits of the option `careful`. */
    if (!work->pool.guard && algorithm != &auto_by_distance &&
        !nw_algorithm_is(algorithm, NW_ALGORITHM_PARTITION))
        work->pool.standard = fmin(work->pool.standard, candidate.figure[0]);
    work->pool.approximate |= candidate.approximate;
    work->grid_found |= candidate.grid_found;
    if (auto_is_taken(work, &candidate)) {
        nw_candidate_swap(&work->best, &candidate);
        nw_candidate_tell(&work->best, work->problem);
    }
    nw_pool_take(&work->pool, &candidate);
}

/* Runs an algorithm and compares its result with the best one so far. */
static nw_status auto_consider(struct auto_work *work,
                               const struct nw_algorithm *algorithm)
{
    struct auto_candidate_run candidate_run = {algorithm, work, {0}};
    nw_status status = auto_run_candidate(&candidate_run);

    if (!status)
        auto_take_result(work, &candidate_run);
    return status;
}

/* Returns true if the machine is small enough for the QAP searches, which take
 * too long for effort "fast" except on the smallest machines. */
static bool auto_suits_qap(const struct nw_problem *problem)
{
    return nw_search_is_small(problem) &&
           (problem->options.effort != NW_EFFORT_FAST ||
            problem->core.first[problem->host_count] <=
                nw_tuned.portfolio.exact_max);
}

/* Returns true if the search on the machine's hierarchy, its tree of distances
 * (`multilevel`), should solve the problem, because hop-bytes without GPUs are
 * the only aim. Two kinds of problems are excluded. On the smallest machines an
 * optimum is proven instead. For small distance matrices a QAP search is
 * better, because their diagonal may not be zero. */
static bool auto_is_searchable(const struct nw_problem *problem)
{
    const struct nw_map_options *options = &problem->options;
    bool elsewhere =
        auto_suits_qap(problem) && (problem->topology->matrix ||
                                    problem->core.first[problem->host_count] <=
                                        nw_tuned.portfolio.exact_max);

    return options->objective == NW_OBJECTIVE_HOP_BYTES && !options->careful &&
           !problem->uses_gpus && options->affinity == 0 && !elsewhere;
}

/* Runs the default mapping and the search on the machine's hierarchy, at the
 * same time if the pattern has at least threads.edges_min edges and there are
 * several threads. Sets *done if no other search is needed. Small machines are
 * also searched as a QAP, unless the pattern is a grid, which a QAP search does
 * not improve. With a second objective another search is needed, because the
 * search on the hierarchy ignores the second objective. If the machine cannot
 * be seen as a hierarchy, only the result of the default mapping is used. */
static nw_status auto_search_hierarchy(struct auto_work *work, bool *done)
{
    const struct nw_problem *problem = work->problem;
    struct auto_candidate_run standard = {
        nw_algorithm_get(NW_ALGORITHM_DEFAULT), work, {0}};
    struct auto_candidate_run search = {
        nw_algorithm_get(NW_ALGORITHM_MULTILEVEL), work, {0}};
    struct nw_parallel_task both[] = {
        {.run = auto_run_candidate, .user = &standard},
        {.run = auto_run_candidate, .user = &search}};
    bool few = problem->pattern->edge_count < nw_tuned.threads.edges_min;
    bool former = problem->budget->anytime;
    bool second = problem->options.has_second;
    nw_status status;

    if (auto_suits_qap(problem) || second)
        former = nw_budget_begin_starts(problem->budget);
    status = nw_parallel_pair(both, few ? 1 : problem->budget->threads);
    if (!both[0].status)
        auto_take_result(work, &standard);
    if (!both[0].status && !both[1].status)
        auto_take_result(work, &search);
    else
        nw_candidate_fini(&search.candidate);
    nw_budget_end_starts(problem->budget, former);
    *done = status == NW_OK && !second && !work->pool.approximate &&
            (!auto_suits_qap(problem) || work->grid_found);
    return status == NW_EUNSUPPORTED && work->best.mapping ? NW_OK : status;
}

/* Runs recursive bisection and Scotch after the search on the machine's
 * hierarchy. They are seldom better and are slow if there are many edges. So
 * they are run only for patterns with few edges, without --time and --steps,
 * and not with the effort "fast" or if the search has tried many initial
 * partitions. */
static nw_status auto_cut_few_edges(struct auto_work *work)
{
    const struct nw_problem *problem = work->problem;
    const struct nw_budget *budget = problem->budget;
    int32_t ranks = problem->pattern->rank_count;
    /* For a pattern of few ranks, but not very few, that is not a grid, the
     * search on the hierarchy has tried many initial partitions. */
    bool started = !work->grid_found && ranks >= nw_tuned.portfolio.ranks_few &&
                   ranks <= nw_tuned.multilevel.few;
    nw_status status;

    if (budget->stopped || budget->anytime || started ||
        problem->options.effort == NW_EFFORT_FAST ||
        problem->pattern->edge_count > nw_tuned.portfolio.cut_edges_max)
        return NW_OK;
    status = auto_consider(work, nw_algorithm_get(NW_ALGORITHM_PARTITION));
    if (!status && nw_scotch_is_here())
        status = auto_consider(work, nw_algorithm_get(NW_ALGORITHM_SCOTCH));
    return status;
}

/* Fills `list` with the algorithms to run after the default mapping. Returns
 * their number. */
static size_t auto_list_candidates(const struct nw_problem *problem,
                                   const struct nw_algorithm *list[LIST_MAX])
{
    bool greedy = auto_greedy_is_cheap(problem);
    bool scotch;
    size_t count = 0;

    if (problem->options.effort == NW_EFFORT_FAST) {
        list[count++] = nw_algorithm_get(greedy ? NW_ALGORITHM_MAGC_GREEDY
                                                : NW_ALGORITHM_PARTITION);
        return count;
    }
    scotch =
        nw_scotch_is_here() && !problem->topology->matrix &&
        problem->pattern->rank_count <= nw_tuned.portfolio.scotch_ranks_max;
    if (greedy)
        list[count++] = nw_algorithm_get(NW_ALGORITHM_MAGC_GREEDY);
    if (scotch) {
        list[count++] = nw_algorithm_get(NW_ALGORITHM_MAGC_SCOTCH);
        list[count++] = nw_algorithm_get(NW_ALGORITHM_SCOTCH);
    }
    list[count++] = nw_algorithm_get(NW_ALGORITHM_BLOCK);
    list[count++] = nw_algorithm_get(NW_ALGORITHM_PARTITION);
    if (!problem->topology->matrix) /* a matrix has no congestion */
        list[count++] = &auto_by_distance;
    if (problem->uses_gpus)
        list[count++] = nw_algorithm_get(NW_ALGORITHM_INDEPENDENT_REMAP);
    if (problem->options.remote_gpus)
        list[count++] = nw_algorithm_get(NW_ALGORITHM_INDEPENDENT);
    return count;
}

/* Returns true if `figure` is below `other` by more than the fraction `alike`,
 * such as 0.01. */
static bool auto_is_below(double figure, double other, double alike)
{
    return figure < other * (1 - alike);
}

/* Replaces the best candidate by MAGC's mapping if the option `careful` is set,
 * the objective is congestion or time, the pattern has few ranks, and the model
 * predicts almost equal values for both. The model is not exact: with MAGC's
 * mapping the answer is certainly not slower than MAGC's. */
static nw_status auto_keep_magc(struct auto_work *work)
{
    const struct nw_candidate *best = &work->best;
    struct nw_candidate other = {0};
    enum nw_objective objective = work->problem->options.objective;
    bool time = objective == NW_OBJECTIVE_TIME;
    nw_status status;

    if (!work->pool.guard || !work->magc ||
        work->problem->pattern->rank_count > nw_tuned.portfolio.ranks_few ||
        (objective != NW_OBJECTIVE_CONGESTION && !time) ||
        auto_is_below(best->figure[0], work->magc_figure,
                      time ? nw_tuned.portfolio.similar_time
                           : nw_tuned.portfolio.similar) ||
        auto_is_below(best->guard[2], work->magc_end,
                      nw_tuned.portfolio.similar))
        return NW_OK;
    status = nw_candidate_run(work->magc, work->problem, work->report, &other);
    if (status)
        return status;
    nw_candidate_replace(&work->best, &other, true);
    return NW_OK;
}

/* Runs the algorithms that take little time. If one of them is the search on
 * the machine's hierarchy, auto_search_hierarchy sets *done to true if no other
 * search is needed after it. In all other cases *done is false. */
static nw_status auto_run_cheap(struct auto_work *work, bool *done)
{
    const struct nw_problem *problem = work->problem;
    struct nw_progress *progress = problem->options.progress;
    const struct nw_algorithm *list[LIST_MAX];
    size_t count = 0;
    nw_status status;

    /* The default mapping is always run: no answer may be worse than it. */
    *done = false;
    status = auto_is_searchable(problem)
                 ? auto_search_hierarchy(work, done)
                 : auto_consider(work, nw_algorithm_get(NW_ALGORITHM_DEFAULT));
    if (!status && *done)
        status = auto_cut_few_edges(work);
    if (!status && problem->phases->found && !problem->fixed_host)
        status = auto_consider(work, nw_algorithm_get(NW_ALGORITHM_SORTED));
    if (!status && !*done)
        count = auto_list_candidates(problem, list);
    for (size_t i = 0;
         !status && i < count && !nw_budget_is_overdue(problem->budget); i++) {
        if (progress && progress->update)
            progress->update(progress, i + 1, count + 1, list[i]->name);
        status = auto_consider(work, list[i]);
    }
    return status;
}

static nw_status auto_choose(const struct nw_problem *problem,
                             struct nw_map_report *report, bool links,
                             struct nw_candidate *out);

/* Adds to the pool a candidate with few hop-bytes, for an objective that
 * depends on links. The search for low congestion begins from it, and its
 * hop-bytes determine the cap on hop-bytes. The QAP searches are left out
 * (`lean`), because they would take longer than everything else. */
static nw_status auto_find_nearest(struct auto_work *work)
{
    struct nw_problem mine = *work->problem;
    struct nw_budget *budget = mine.budget;
    bool restarts;
    uint64_t former;
    nw_status status;

    nw_budget_begin_shares(budget);
    restarts = nw_budget_begin_starts(budget);
    former = nw_budget_share(budget, nw_tuned.portfolio.first_part);
    mine.options.objective = NW_OBJECTIVE_HOP_BYTES;
    mine.options.has_second = nw_search_is_small(&mine);
    mine.options.second = work->problem->options.objective;
    mine.options.careful = false;
    mine.lean = true;
    status = auto_choose(&mine, work->report, false, &work->pool.nearest);
    nw_budget_end_share(budget, former);
    nw_budget_end_starts(budget, restarts);
    work->report->proven = false;
    work->pool.approximate |= work->pool.nearest.approximate;
    return status;
}

/* Runs the cheap algorithms, then improves the best of their results by a
 * search. `links`: the objective depends on link loads, and a candidate with
 * few hop-bytes is found before the search. Moves the best candidate to *out.
 */
static nw_status auto_choose(const struct nw_problem *problem,
                             struct nw_map_report *report, bool links,
                             struct nw_candidate *out)
{
    struct auto_work work = {.problem = problem, .report = report};
    bool done;
    nw_status status = auto_run_cheap(&work, &done);

    if (!status && !done && !nw_budget_is_overdue(problem->budget)) {
        if (links)
            status = auto_find_nearest(&work);
        if (!status)
            status =
                nw_candidate_improve(problem, report, &work.pool, &work.best);
    }
    if (!status && problem->options.effort != NW_EFFORT_FAST &&
        !nw_budget_is_overdue(problem->budget))
        status = auto_keep_magc(&work);
    nw_pool_fini(&work.pool);
    work.best.approximate = work.pool.approximate;
    if (status)
        nw_candidate_fini(&work.best);
    else
        *out = work.best;
    return status;
}

/* Returns true if the pattern is a training step, only the default effort
 * limits the searches, and there are so many slots that no table holds their
 * routes. Each trial then computes its routes, so that the trials of the
 * default effort take many minutes. */
static bool auto_is_large_step(const struct nw_problem *problem)
{
    const struct nw_units *slots =
        problem->uses_gpus ? &problem->gpu : &problem->core;

    return problem->phases->found && !problem->budget->anytime &&
           problem->options.effort == NW_EFFORT_DEFAULT &&
           slots->first[problem->host_count] >
               nw_tuned.congestion.route_classes_max;
}

nw_status nw_choose_best(const struct nw_problem *problem,
                         struct nw_map_report *report, struct nw_candidate *out)
{
    enum nw_objective objective = problem->options.objective;
    bool links =
        objective == NW_OBJECTIVE_CONGESTION || objective == NW_OBJECTIVE_TIME;
    struct nw_problem mine = *problem;

    if (links && auto_is_large_step(problem)) {
        mine.options.effort = NW_EFFORT_FAST;
        mine.budget->effort = NW_EFFORT_FAST;
    }
    return auto_choose(&mine, report,
                       links && mine.options.effort != NW_EFFORT_FAST, out);
}
