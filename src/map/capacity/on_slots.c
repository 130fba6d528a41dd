/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Improves the result of the k-way engine by moves of ranks between slots.
 * There are two cases. With one rank per element and limits of load, an element
 * is one slot; GPUs are assigned to the engine's result, or the mapping of
 * --from replaces it, and moves keep the limits. With several ranks per
 * element, an element has a slot for each rank that it takes; this requires
 * that ranks are few and have the same load.
 */
#include "map/capacity/slots_problem.h"
#include "map/congestion/branch_bound.h"
#include "map/portfolio/candidate.h"
#include "map/common/parameters.h"
#include "base/status.h"
#include "topology/topology.h"

/* State of one call of nw_several_on_slots: the problem with one rank per slot,
 * and the report of its searches. */
struct on_slots_work {
    struct nw_slots_problem base;
    nw_mapping *found; /* result of the k-way engine; NULL if the search begins
                          from the mapping of --from */
    struct nw_map_report report;
};

/* Returns a rank whose load exceeds the limit of its core unit; -1 if none
 * does.
 */
static int32_t on_slots_find_over(const struct nw_problem *problem,
                                  const struct nw_answer *answer)
{
    for (int32_t r = 0; r < problem->pattern->rank_count; r++)
        if (!nw_problem_within_limit(problem, answer->core[r], r))
            return r;
    return -1;
}

/* Returns NW_EINVAL if the mapping of --from exceeds the limit of load of an
 * element. */
static nw_status on_slots_check_given(const struct nw_problem *problem,
                                      const struct nw_answer *answer)
{
    int32_t r = on_slots_find_over(problem, answer);

    if (r < 0)
        return NW_OK;
    return nw_fail_about(NW_MAPPED(-1), NW_EINVAL,
                         "the mapping to begin from has rank %d on an "
                         "element that bears %lld, and its weight is %lld",
                         r, (long long)problem->limit[answer->core[r]],
                         (long long)problem->load[r]);
}

/* Makes the first candidate from the initial solution: the k-way engine's
 * result, with GPUs assigned if ranks use them, or the mapping of --from. */
static nw_status on_slots_begin(struct on_slots_work *work, const char *name,
                                struct nw_candidate *out)
{
    const struct nw_problem *problem = &work->base.problem;
    struct nw_answer answer = {0};
    nw_status status;

    if (work->found) {
        status = nw_answer_from_mapping(problem, &answer);
        if (!status && problem->uses_gpus)
            status = nw_several_assign_gpus(work->base.several, problem,
                                            &answer, &work->report);
    } else {
        status = nw_search_initial(problem, &answer);
        if (!status)
            status = on_slots_check_given(problem, &answer);
    }
    if (!status)
        status = nw_candidate_from_answer(problem, &answer, name, out);
    nw_answer_fini(&answer);
    return status;
}

/* Replaces *best by the default mapping if that is within the limits and
 * better. Called only if ranks use GPUs: the k-way engine did not compare the
 * two then, because GPUs were not yet assigned. */
static nw_status on_slots_try_default(const struct nw_problem *problem,
                                      struct nw_candidate *best)
{
    struct nw_answer answer = {0};
    struct nw_candidate other = {0};
    nw_status status = nw_answer_init(&answer, problem->pattern->rank_count);

    if (!status)
        status = nw_answer_default(problem, &answer);
    if (!status && on_slots_find_over(problem, &answer) < 0)
        status = nw_candidate_from_answer(problem, &answer, "default", &other);
    nw_candidate_replace(best, &other,
                         other.mapping && nw_candidate_better(&other, best));
    nw_answer_fini(&answer);
    return status;
}

/* --- auto --- */

/* Returns true if swaps of ranks along the tree of the machine (hierarchy/)
 * search the whole problem. All these conditions must hold:
 * - hop-bytes is the only objective;
 * - no rank is fixed or uses a GPU;
 * - no distance matrix is given;
 * - every host takes at least as many ranks as it has core units. */
static bool on_slots_is_flat(const struct nw_problem *problem)
{
    const struct nw_map_options *options = &problem->options;

    for (int32_t h = 0; h < problem->host_count; h++)
        if (problem->capacity[h] <
            problem->core.first[h + 1] - problem->core.first[h])
            return false;
    return options->objective == NW_OBJECTIVE_HOP_BYTES &&
           !options->has_second && !problem->uses_gpus &&
           !problem->fixed_host && !problem->topology->matrix;
}

/* Returns how long to anneal: not at all with effort fast (only descent), and
 * briefly for several ranks per element and hop-bytes, because the k-way engine
 * has already lowered these. */
static enum nw_search_depth on_slots_depth_of(const struct on_slots_work *work)
{
    const struct nw_map_options *options = &work->base.problem.options;

    if (options->effort == NW_EFFORT_FAST)
        return NW_SEARCH_DESCENT;
    return work->base.per_element_several &&
                   options->objective == NW_OBJECTIVE_HOP_BYTES
               ? NW_SEARCH_BRIEF
               : NW_SEARCH_FULL;
}

/* Finds and proves the optimum of a tiny problem; otherwise, or if the proof
 * takes too many steps, anneals. Sets *name to the name of the algorithm that
 * was used. */
static nw_status on_slots_search(struct on_slots_work *work,
                                 struct nw_slots *slots, const char **name)
{
    struct nw_objectives objectives =
        nw_objectives_from_options(&work->base.problem);
    nw_status status = NW_OK;

    *name = "exact";
    if (nw_search_is_tiny(&work->base.problem))
        status = nw_slots_branch_bound(slots, &objectives,
                                       nw_tuned.portfolio.exact_nodes,
                                       &work->report.proven);
    if (status || work->report.proven)
        return status;
    *name = "anneal";
    return nw_slots_anneal(slots, &objectives, on_slots_depth_of(work));
}

/* Searches from the initial solution, problem.options.start, by moves between
 * slots and makes the candidate *out of the result. */
static nw_status on_slots_search_slots(struct on_slots_work *work,
                                       struct nw_candidate *out)
{
    const struct nw_problem *problem = &work->base.problem;
    struct nw_answer answer = {0};
    struct nw_slots slots = {0};
    const char *name = "";
    nw_status status = nw_search_initial(problem, &answer);

    if (!status)
        status = nw_slots_init(&slots, problem, &answer);
    if (!status)
        status = on_slots_search(work, &slots, &name);
    if (!status) {
        nw_slots_to_answer(&slots, &answer);
        status = nw_candidate_from_answer(problem, &answer, name, out);
    }
    nw_slots_fini(&slots);
    nw_answer_fini(&answer);
    return status;
}

static const struct nw_algorithm on_slots_by_hierarchy = {
    .name = "refine",
    .run = nw_run_all_units,
    .phase = {nw_place_partition, nw_place_partition, nw_place_partition},
    .placer = nw_place_refine};

static const struct nw_algorithm on_slots_by_slots = {
    .name = "refine", .run = nw_run_search, .search = nw_search_descend};

/* Runs the search for `auto` that suits the problem: swaps of ranks along the
 * tree of the machine (hierarchy/), or moves between slots. */
static nw_status on_slots_run_auto(struct on_slots_work *work,
                                   struct nw_candidate *out)
{
    nw_status status = NW_EUNSUPPORTED;

    if (!work->base.per_element_several &&
        on_slots_is_flat(&work->base.problem) &&
        !nw_search_is_tiny(&work->base.problem))
        status = nw_candidate_run(&on_slots_by_hierarchy, &work->base.problem,
                                  &work->report, out);
    return status == NW_EUNSUPPORTED ? on_slots_search_slots(work, out)
                                     : status;
}

/* --- the whole method --- */

/* Runs the search of an algorithm from the mapping of *best and replaces *best
 * by its result if that is better or proven optimal. */
static nw_status on_slots_improve(struct on_slots_work *work,
                                  const struct nw_algorithm *algorithm,
                                  struct nw_candidate *best)
{
    bool refine = nw_algorithm_is(algorithm, NW_ALGORITHM_REFINE);
    bool whole = nw_algorithm_is(algorithm, NW_ALGORITHM_AUTO) ||
                 nw_algorithm_is(algorithm, NW_ALGORITHM_MULTILEVEL);
    struct nw_candidate other = {0};
    nw_status status;

    if (refine && work->base.per_element_several)
        algorithm = &on_slots_by_slots;
    else if (refine && on_slots_is_flat(&work->base.problem))
        algorithm = &on_slots_by_hierarchy;
    work->base.problem.options.start = best->mapping;
    if (whole)
        status = on_slots_run_auto(work, &other);
    else
        status = nw_candidate_run(algorithm, &work->base.problem, &work->report,
                                  &other);
    if (status)
        return status;
    nw_candidate_replace(
        best, &other, nw_candidate_better(&other, best) || work->report.proven);
    return NW_OK;
}

static bool on_slots_is_block(const struct nw_algorithm *algorithm)
{
    return nw_algorithm_is(algorithm, NW_ALGORITHM_BLOCK);
}

/* Returns the algorithm with which the k-way engine makes the initial solution:
 * `algorithm` if that is `block`, or if it is `refine` or `auto` with several
 * ranks per element; otherwise multilevel. */
static const struct nw_algorithm *
on_slots_choose_initial(const struct on_slots_work *work,
                        const struct nw_algorithm *algorithm)
{
    if (on_slots_is_block(algorithm) ||
        (work->base.per_element_several &&
         (nw_algorithm_is(algorithm, NW_ALGORITHM_REFINE) ||
          nw_algorithm_is(algorithm, NW_ALGORITHM_AUTO))))
        return algorithm;
    return nw_algorithm_get(NW_ALGORITHM_MULTILEVEL);
}

/* Finds the initial solution: with one rank per element, the mapping of --from
 * if there is one and the algorithm is not `block`; otherwise the result of the
 * k-way engine. With --time or --steps the engine ends by effort, so that the
 * rest of the budget remains for the search from its result. */
static nw_status on_slots_find_start(struct on_slots_work *work,
                                     const struct nw_algorithm *algorithm)
{
    struct nw_budget *budget = &work->base.several->budget;
    bool former;
    nw_status status;

    if (!work->base.per_element_several && work->base.several->options.start &&
        !on_slots_is_block(algorithm)) {
        work->base.start = work->base.several->options.start;
        return NW_OK;
    }
    former = nw_budget_begin_starts(budget);
    status = nw_several_by_kway(work->base.several,
                                on_slots_choose_initial(work, algorithm),
                                &work->found);
    nw_budget_end_starts(budget, former);
    work->base.start = work->found;
    return status;
}

/* Runs the whole method: finds an initial solution, improves it by the search
 * of the algorithm (none for `block`) and brings each rank's core and GPU
 * nearer to each other. */
nw_status nw_several_on_slots(struct nw_several *several,
                              const struct nw_algorithm *algorithm,
                              nw_mapping **out, struct nw_map_report *report)
{
    struct on_slots_work work = {
        .base = {several,
                 !nw_several_is_single(&several->options),
                 NULL,
                 {0},
                 NULL}};
    struct nw_candidate best = {0};
    nw_status status;

    status = on_slots_find_start(&work, algorithm);
    if (!status)
        status = nw_slots_problem_init(&work.base);
    if (!status)
        status = on_slots_begin(&work,
                                on_slots_is_block(algorithm) ? algorithm->name
                                                             : "multilevel",
                                &best);
    if (!status && work.base.problem.uses_gpus)
        status = on_slots_try_default(&work.base.problem, &best);
    if (!status && !on_slots_is_block(algorithm))
        status = on_slots_improve(&work, algorithm, &best);
    if (!status)
        status = nw_cores_near_gpus(&work.base.problem,
                                    on_slots_is_block(algorithm), &best);
    if (!status) {
        *out = best.mapping;
        best.mapping = NULL;
        *report = work.report;
        report->algorithm = best.algorithm;
    }
    nw_candidate_fini(&best);
    nw_slots_problem_fini(&work.base);
    nw_mapping_free(work.found);
    return status;
}
