/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Improves the result of the k-way engine by moves of ranks between slots. With
 * one rank per element and limited loads: if any rank may be on any element,
 * the limits are dropped and all algorithms apply; otherwise GPUs are assigned
 * to the result, and moves keep the limits. With several ranks per element, if
 * they are few and weigh the same, an element has a slot for each.
 */
#include "map/portfolio/algorithm.h"
#include "map/common/budget.h"
#include "map/congestion/branch_bound.h"
#include "map/capacity/several.h"
#include "map/portfolio/named_searches.h"
#include "base/array.h"
#include "base/status.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most ranks and slots for these moves if elements have several ranks. */
#define RANKS_MAX 512
#define SLOTS_MAX 8192

bool nw_several_is_single(const struct nw_map_options *options)
{
    return options->capacity == 1 && options->imbalance >= 0;
}

bool nw_several_uses_gpus(const struct nw_several *several)
{
    return several->options.gpus_per_rank ||
           nw_pattern_has_gpu(several->pattern);
}

/* Elements that take no rank for want of slots count by their speed. */
bool nw_several_limits_matter(const struct nw_several *several)
{
    const struct nw_kway_machine *m = &several->machine;
    const double *speeds = several->options.speeds;
    double least = HUGE_VAL;
    bool binds = false;

    for (int32_t q = 0; q < m->k; q++)
        if (m->capacity[q]) {
            binds |= m->limit[q] < several->heaviest;
            if (speeds && speeds[several->element[q]] < least)
                least = speeds[several->element[q]];
        }
    for (int32_t q = 0; speeds && q < m->k; q++)
        binds |= speeds[several->element[q]] < least;
    return binds;
}

struct nw_map_options
nw_several_without_limits(const struct nw_several *several)
{
    struct nw_map_options options = several->options;

    options.capacity = 0;
    options.imbalance = -1;
    options.weights = NULL;
    options.speeds = NULL;
    return options;
}

/* --- the problem --- */

struct on_slots_work {
    struct nw_several *several;
    bool per_element_several; /* ranks on an element */
    struct nw_problem problem;
    int64_t *limit; /* [core units] where not several */
    const nw_mapping *start;
    nw_mapping *found; /* the initial solution, if none was given */
    struct nw_map_report report;
};

static int64_t on_slots_whole(nw_kway_load limit)
{
    return limit > INT64_MAX ? INT64_MAX : (int64_t)limit;
}

bool nw_several_is_even(const struct nw_several *several)
{
    const int64_t *load = several->graph.load;

    for (int32_t v = 1; v < several->graph.n; v++)
        if (load[v] != load[0])
            return false;
    return true;
}

static int32_t on_slots_most_of_all(const struct nw_several *several)
{
    int32_t most = several->options.capacity;

    return most && most < several->graph.n ? most : several->graph.n;
}

/* How many ranks element q takes; that of slots is said by the host. */
static int32_t on_slots_most_on(const struct nw_several *several, int32_t q)
{
    int32_t most = on_slots_most_of_all(several);
    int64_t load = several->graph.load[0];
    int64_t borne =
        load ? on_slots_whole(several->machine.limit[q] / load) : most;

    return borne < most ? (int32_t)borne : most;
}

bool nw_several_has_slots(const struct nw_several *several)
{
    int64_t slots = 0;

    if (several->graph.n > RANKS_MAX || !nw_several_is_even(several))
        return false;
    for (int32_t q = 0; q < several->machine.k; q++)
        slots += on_slots_most_on(several, q);
    return slots <= SLOTS_MAX;
}

/* A unit has lost a place for each rank that is fixed there. */
static void on_slots_lower_capacity(struct on_slots_work *work, int32_t q,
                                    int32_t unit)
{
    int32_t *capacity = &work->problem.core.capacity[unit];
    int32_t less = on_slots_most_of_all(work->several) -
                   on_slots_most_on(work->several, q);

    *capacity = *capacity > less ? *capacity - less : 0;
}

/* Hosts take no more than their units do, and those that are fixed on them. */
static nw_status on_slots_lower_hosts(struct nw_problem *problem)
{
    int64_t *capacity;
    nw_status status =
        nw_alloc((size_t)problem->host_count, sizeof *capacity, &capacity);

    for (int32_t r = 0;
         !status && problem->fixed_host && r < problem->pattern->rank_count;
         r++)
        if (problem->fixed_host[r] >= 0)
            capacity[problem->fixed_host[r]] +=
                !nw_problem_needs_core(problem, r);
    for (int32_t h = 0; !status && h < problem->host_count; h++) {
        for (int32_t u = problem->core.first[h]; u < problem->core.first[h + 1];
             u++)
            capacity[h] += problem->core.capacity[u];
        if (capacity[h] < problem->capacity[h])
            problem->capacity[h] = (int32_t)capacity[h];
    }
    free(capacity);
    return status;
}

/* Units are the elements of each host; the machine of parts has its hosts in
 * the topology's order. */
static void on_slots_fill_limits(struct on_slots_work *work)
{
    const struct nw_several *several = work->several;
    const struct nw_problem *problem = &work->problem;

    for (int32_t i = 0; i < problem->host_count; i++) {
        int32_t low = several->first[several->order[i]];

        for (int32_t u = problem->core.first[i]; u < problem->core.first[i + 1];
             u++) {
            int32_t q = low + problem->core.member[u];

            if (work->per_element_several)
                on_slots_lower_capacity(work, q, u);
            else
                work->limit[u] = on_slots_whole(several->machine.limit[q]);
        }
    }
}

static nw_status on_slots_make_problem(struct on_slots_work *work)
{
    struct nw_problem *problem = &work->problem;
    struct nw_map_options options = nw_several_without_limits(work->several);
    nw_status status;

    options.start = work->start;
    options.careful = false;
    if (work->per_element_several)
        options.capacity = on_slots_most_of_all(work->several);
    status = nw_problem_init(problem, work->several->topology,
                             work->several->pattern, &options);
    if (!status && !work->per_element_several)
        status = nw_alloc((size_t)problem->core.first[problem->host_count],
                          sizeof *work->limit, &work->limit);
    if (status)
        return status;
    on_slots_fill_limits(work);
    if (work->per_element_several)
        status = on_slots_lower_hosts(problem);
    problem->budget = &work->several->budget;
    problem->load =
        work->per_element_several ? NULL : work->several->graph.load;
    problem->limit = work->limit;
    return status;
}

/* --- where to begin --- */

static nw_status on_slots_check_given(const struct on_slots_work *work,
                                      const struct nw_answer *answer)
{
    const struct nw_problem *problem = &work->problem;

    for (int32_t r = 0; r < problem->pattern->rank_count; r++)
        if (answer->core[r] >= 0 &&
            !nw_problem_within_limit(problem, answer->core[r], r))
            return nw_fail(NW_EINVAL,
                           "the mapping to begin from has rank %d on an "
                           "element that bears %lld, and its weight is %lld",
                           r, (long long)problem->limit[answer->core[r]],
                           (long long)problem->load[r]);
    return NW_OK;
}

static nw_status on_slots_begin(struct on_slots_work *work, const char *name,
                                struct nw_candidate *out)
{
    struct nw_answer answer = {0};
    nw_status status;

    if (work->found) {
        status = nw_answer_from_mapping(&work->problem, &answer);
        if (!status && work->problem.uses_gpus)
            status = nw_several_assign_gpus(work->several, &work->problem,
                                            &answer, &work->report);
    } else {
        status = nw_answer_init(&answer, work->problem.pattern->rank_count);
        if (!status)
            status = nw_search_initial(&work->problem, &answer);
        if (!status)
            status = on_slots_check_given(work, &answer);
    }
    if (!status)
        status = nw_candidate_from_answer(&work->problem, &answer, name, out);
    nw_answer_fini(&answer);
    return status;
}

static bool on_slots_keeps_limits(const struct on_slots_work *work,
                                  const struct nw_answer *answer)
{
    for (int32_t r = 0; r < work->problem.pattern->rank_count; r++)
        if (!nw_problem_within_limit(&work->problem, answer->core[r], r))
            return false;
    return true;
}

/* With GPUs the partition was not compared with the default mapping, which may
 * be within the limits and better. */
static nw_status on_slots_try_default(const struct on_slots_work *work,
                                      struct nw_candidate *best)
{
    struct nw_answer answer = {0};
    struct nw_candidate other = {0};
    nw_status status =
        nw_answer_init(&answer, work->problem.pattern->rank_count);

    if (!status)
        status = nw_answer_default(&work->problem, &answer);
    if (!status && on_slots_keeps_limits(work, &answer))
        status = nw_candidate_from_answer(&work->problem, &answer, "default",
                                          &other);
    if (other.mapping && nw_candidate_better(&other, best)) {
        nw_candidate_fini(best);
        *best = other;
    } else {
        nw_candidate_fini(&other);
    }
    nw_answer_fini(&answer);
    return status;
}

/* --- auto --- */

/* Where swaps on a tree know all that is asked. */
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

/* The k-way engine lowers sums over pairs; the other objectives remain. */
static enum nw_search_depth on_slots_depth_of(const struct on_slots_work *work)
{
    const struct nw_map_options *options = &work->problem.options;

    if (options->effort == NW_EFFORT_FAST)
        return NW_SEARCH_DESCENT;
    return work->per_element_several &&
                   options->objective == NW_OBJECTIVE_HOP_BYTES
               ? NW_SEARCH_BRIEF
               : NW_SEARCH_FULL;
}

static nw_status on_slots_search(struct on_slots_work *work,
                                 struct nw_slots *slots, const char **name)
{
    struct nw_objectives objectives =
        nw_objectives_from_options(&work->problem);
    nw_status status = NW_OK;

    *name = "exact";
    if (nw_search_is_tiny(&work->problem))
        status = nw_slots_branch_bound(slots, &objectives, NW_EXACT_NODES,
                                       &work->report.proven);
    if (status || work->report.proven)
        return status;
    *name = "anneal";
    return nw_slots_anneal(slots, &objectives, on_slots_depth_of(work));
}

static nw_status on_slots_search_slots(struct on_slots_work *work,
                                       struct nw_candidate *out)
{
    struct nw_answer answer = {0};
    struct nw_slots slots = {0};
    const char *name = "";
    nw_status status =
        nw_answer_init(&answer, work->problem.pattern->rank_count);

    if (!status)
        status = nw_search_initial(&work->problem, &answer);
    if (!status)
        status = nw_slots_init(&slots, &work->problem, &answer);
    if (!status)
        status = on_slots_search(work, &slots, &name);
    if (!status) {
        nw_slots_to_answer(&slots, &answer);
        status = nw_candidate_from_answer(&work->problem, &answer, name, out);
    }
    nw_slots_fini(&slots);
    nw_answer_fini(&answer);
    return status;
}

static const struct nw_algorithm on_slots_is_hierarchy = {
    "refine",
    "",
    nw_run_all_units,
    {"partition", "partition", "partition"},
    NW_KINDS_ALL};

static const struct nw_algorithm on_slots_uses_slots = {
    "refine",
    "",
    nw_run_search,
    {"partition", "partition", "partition"},
    NW_KINDS_ALL};

static nw_status on_slots_run_auto(struct on_slots_work *work,
                                   struct nw_candidate *out)
{
    nw_status status = NW_EUNSUPPORTED;

    if (!work->per_element_several && on_slots_is_flat(&work->problem) &&
        !nw_search_is_tiny(&work->problem))
        status = nw_candidate_run(&on_slots_is_hierarchy, &work->problem,
                                  &work->report, out);
    return status == NW_EUNSUPPORTED ? on_slots_search_slots(work, out)
                                     : status;
}

/* --- all of it --- */

static bool on_slots_is_one_of(const char *name, const char *const list[])
{
    while (*list && strcmp(*list, name))
        list++;
    return *list;
}

/* Keeps the better of the beginning and of a search from it. */
static nw_status on_slots_improve(struct on_slots_work *work, const char *name,
                                  struct nw_candidate *best)
{
    static const char *const on_slots_whole[] = {"auto", "multilevel", NULL};
    const struct nw_algorithm *algorithm = nw_algorithm_find(name);
    struct nw_candidate other = {0};
    nw_status status;

    if (!strcmp(name, "refine") && work->per_element_several)
        algorithm = &on_slots_uses_slots;
    else if (!strcmp(name, "refine") && on_slots_is_flat(&work->problem))
        algorithm = &on_slots_is_hierarchy;
    work->problem.options.start = best->mapping;
    if (on_slots_is_one_of(name, on_slots_whole))
        status = on_slots_run_auto(work, &other);
    else
        status =
            nw_candidate_run(algorithm, &work->problem, &work->report, &other);
    if (status)
        return status;
    if (nw_candidate_better(&other, best) || work->report.proven) {
        nw_candidate_fini(best);
        *best = other;
    } else {
        nw_candidate_fini(&other);
    }
    return NW_OK;
}

static bool on_slots_is_block(const char *name)
{
    return !strcmp(name, "block");
}

/* One budget covers the initial solution and the searches from it; only the
 * last search runs until it is cut. */
static nw_status on_slots_find_start(struct on_slots_work *work,
                                     const char *name)
{
    struct nw_budget *budget = &work->several->budget;
    bool anytime = budget->anytime;
    nw_status status;

    if (!work->per_element_several && work->several->options.start &&
        !on_slots_is_block(name)) {
        work->start = work->several->options.start;
        return NW_OK;
    }
    if (!on_slots_is_block(name) &&
        (!work->per_element_several ||
         (strcmp(name, "refine") && strcmp(name, "auto"))))
        name = "multilevel";
    budget->anytime = false;
    status = nw_several_solve(work->several, name, &work->found);
    budget->anytime = anytime;
    work->start = work->found;
    return status;
}

static nw_status on_slots_solve(struct nw_several *several,
                                bool per_element_several, const char *name,
                                nw_mapping **out, struct nw_map_report *report)
{
    struct on_slots_work work = {.several = several,
                                 .per_element_several = per_element_several};
    struct nw_candidate best = {0};
    nw_status status;

    status = on_slots_find_start(&work, name);
    if (!status)
        status = on_slots_make_problem(&work);
    if (!status)
        status = on_slots_begin(
            &work, on_slots_is_block(name) ? name : "multilevel", &best);
    if (!status && work.problem.uses_gpus)
        status = on_slots_try_default(&work, &best);
    if (!status && !on_slots_is_block(name))
        status = on_slots_improve(&work, name, &best);
    if (!status)
        status =
            nw_cores_near_gpus(&work.problem, on_slots_is_block(name), &best);
    if (!status) {
        *out = best.mapping;
        best.mapping = NULL;
        *report = work.report;
        report->algorithm = best.algorithm;
    }
    nw_candidate_fini(&best);
    nw_problem_fini(&work.problem);
    nw_mapping_free(work.found);
    free(work.limit);
    return status;
}

nw_status nw_several_single(struct nw_several *several, const char *name,
                            nw_mapping **out, struct nw_map_report *report)
{
    static const char *const known[] = {"auto",  "multilevel", "anneal", "tabu",
                                        "exact", "refine",     "block",  NULL};

    if (!on_slots_is_one_of(name, known))
        return nw_fail(NW_EINVAL,
                       "%s knows no limits of load; auto, multilevel, anneal, "
                       "tabu, exact, refine and block do",
                       name);
    return on_slots_solve(several, false, name, out, report);
}

nw_status nw_several_on_slots(struct nw_several *several, const char *name,
                              nw_mapping **out, struct nw_map_report *report)
{
    return on_slots_solve(several, true, name, out, report);
}

nw_status nw_several_by_phases(struct nw_several *several, const char *name,
                               nw_mapping **out, struct nw_map_report *report)
{
    struct on_slots_work work = {.several = several,
                                 .per_element_several = true};
    struct nw_candidate found = {0};
    int64_t capacity = 0;
    nw_status status;

    if (!nw_several_is_even(several))
        return nw_fail(NW_EINVAL,
                       "%s knows no weights of ranks, and these differ; "
                       "multilevel, refine and block do",
                       name);
    status = on_slots_make_problem(&work);
    for (int32_t h = 0; !status && h < work.problem.host_count; h++)
        capacity += work.problem.capacity[h];
    if (!status && capacity < several->graph.n)
        status = nw_fail(NW_EINVAL,
                         "%d ranks do not fit: the limits of load "
                         "leave room for %lld",
                         several->graph.n, (long long)capacity);
    if (!status)
        status = nw_candidate_run(nw_algorithm_find(name), &work.problem,
                                  &work.report, &found);
    if (!status) {
        *out = found.mapping;
        found.mapping = NULL;
        *report = work.report;
        report->algorithm = found.algorithm;
    }
    nw_candidate_fini(&found);
    nw_problem_fini(&work.problem);
    return status;
}
