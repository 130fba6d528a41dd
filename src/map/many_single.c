/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank on an element, within limits of load. Where any rank may be on any
 * element the limits are dropped and all algorithms answer; else the k-way
 * engine finds some way to keep them, GPUs are given beside that, and the
 * searches of seats go on from there by moves that keep the limits.
 */
#include "map/algorithm.h"
#include "map/budget.h"
#include "map/exhaust.h"
#include "map/many.h"
#include "map/search.h"
#include "base/array.h"
#include "base/status.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool nw_many_is_single(const struct nw_map_options *options)
{
    return options->capacity == 1 && options->imbalance >= 0;
}

bool nw_many_uses_gpus(const struct nw_many *many)
{
    return many->options.gpus_per_rank || nw_pattern_has_gpu(many->pattern);
}

/* Elements that take no rank for want of slots count by their speed. */
bool nw_many_binds(const struct nw_many *many)
{
    const struct nw_kmachine *m = &many->machine;
    const double *speeds = many->options.speeds;
    double least = HUGE_VAL;
    bool binds = false;

    for (int32_t q = 0; q < m->k; q++)
        if (m->capacity[q]) {
            binds |= m->limit[q] < many->heaviest;
            if (speeds && speeds[many->element[q]] < least)
                least = speeds[many->element[q]];
        }
    for (int32_t q = 0; speeds && q < m->k; q++)
        binds |= speeds[many->element[q]] < least;
    return binds;
}

struct nw_map_options nw_many_without_limits(const struct nw_many *many)
{
    struct nw_map_options options = many->options;

    options.capacity = 0;
    options.imbalance = -1;
    options.weights = NULL;
    options.speeds = NULL;
    return options;
}

/* --- the problem --- */

struct single {
    struct nw_many *many;
    struct nw_problem problem;
    int64_t *limit; /* [core units] */
    const nw_mapping *start;
    nw_mapping *found; /* it, where none was given */
    struct nw_map_report report;
};

/* Units are the elements of each host; the machine of parts has its hosts in
 * the topology's order. */
static void fill_limits(struct single *work)
{
    const struct nw_many *many = work->many;
    const struct nw_problem *problem = &work->problem;

    for (int32_t i = 0; i < problem->host_count; i++) {
        int32_t low = many->first[many->order[i]];

        for (int32_t u = problem->core.first[i]; u < problem->core.first[i + 1];
             u++) {
            nw_kload limit = many->machine.limit[low + problem->core.member[u]];

            work->limit[u] = limit > INT64_MAX ? INT64_MAX : (int64_t)limit;
        }
    }
}

static nw_status make_problem(struct single *work)
{
    struct nw_problem *problem = &work->problem;
    struct nw_map_options options = nw_many_without_limits(work->many);
    nw_status status;

    options.start = work->start;
    options.careful = false;
    status = nw_problem_init(problem, work->many->topology, work->many->pattern,
                             &options);
    if (!status)
        status = nw_alloc((size_t)problem->core.first[problem->host_count],
                          sizeof *work->limit, &work->limit);
    if (status)
        return status;
    fill_limits(work);
    problem->budget = &work->many->budget;
    problem->load = work->many->graph.load;
    problem->limit = work->limit;
    return NW_OK;
}

/* --- where to begin --- */

static nw_status check_given(const struct single *work,
                             const struct nw_answer *answer)
{
    const struct nw_problem *problem = &work->problem;

    for (int32_t r = 0; r < problem->pattern->rank_count; r++)
        if (answer->core[r] >= 0 &&
            !nw_problem_bears(problem, answer->core[r], r))
            return nw_fail(NW_EINVAL,
                           "the mapping to begin from has rank %d on an "
                           "element that bears %lld, and its weight is %lld",
                           r, (long long)problem->limit[answer->core[r]],
                           (long long)problem->load[r]);
    return NW_OK;
}

static nw_status begin(struct single *work, struct nw_candidate *out)
{
    struct nw_answer answer = {0};
    nw_status status;

    if (work->found) {
        status = nw_answer_begin(&work->problem, &answer);
        if (!status && work->problem.uses_gpus)
            status = nw_many_give_gpus(work->many, &work->problem, &answer,
                                       &work->report);
    } else {
        status = nw_answer_init(&answer, work->problem.pattern->rank_count);
        if (!status)
            status = nw_search_begin(&work->problem, &answer);
        if (!status)
            status = check_given(work, &answer);
    }
    if (!status)
        status =
            nw_candidate_finish(&work->problem, &answer, "multilevel", out);
    nw_answer_fini(&answer);
    return status;
}

/* --- auto --- */

/* Where swaps on a tree know all that is asked. */
static bool is_flat(const struct nw_problem *problem)
{
    const struct nw_map_options *options = &problem->options;

    for (int32_t h = 0; h < problem->host_count; h++)
        if (problem->room[h] <
            problem->core.first[h + 1] - problem->core.first[h])
            return false;
    return options->objective == NW_OBJECTIVE_HOP_BYTES &&
           !options->has_second && !problem->uses_gpus &&
           !problem->fixed_host && !problem->topology->matrix;
}

static nw_status search(struct single *work, struct nw_seats *seats,
                        const char **name)
{
    struct nw_aim aim = nw_aim_of(&work->problem);
    bool fast = work->problem.options.effort == NW_EFFORT_FAST;
    nw_status status = NW_OK;

    *name = "exact";
    if (nw_search_is_tiny(&work->problem))
        status =
            nw_seats_exhaust(seats, &aim, NW_EXACT_NODES, &work->report.proven);
    if (status || work->report.proven)
        return status;
    *name = "anneal";
    return nw_seats_search(seats, &aim,
                           fast ? NW_SEARCH_DESCENT : NW_SEARCH_FULL);
}

static nw_status search_seats(struct single *work, struct nw_candidate *out)
{
    struct nw_answer answer = {0};
    struct nw_seats seats = {0};
    const char *name = "";
    nw_status status =
        nw_answer_init(&answer, work->problem.pattern->rank_count);

    if (!status)
        status = nw_search_begin(&work->problem, &answer);
    if (!status)
        status = nw_seats_init(&seats, &work->problem, &answer);
    if (!status)
        status = search(work, &seats, &name);
    if (!status) {
        nw_seats_finish(&seats, &answer);
        status = nw_candidate_finish(&work->problem, &answer, name, out);
    }
    nw_seats_fini(&seats);
    nw_answer_fini(&answer);
    return status;
}

static const struct nw_algorithm on_tree = {
    "refine",
    "",
    nw_run_flat,
    {"partition", "partition", "partition"},
    NW_KINDS_ALL};

static nw_status run_auto(struct single *work, struct nw_candidate *out)
{
    nw_status status = NW_EUNSUPPORTED;

    if (is_flat(&work->problem) && !nw_search_is_tiny(&work->problem))
        status = nw_candidate_run(&on_tree, &work->problem, &work->report, out);
    return status == NW_EUNSUPPORTED ? search_seats(work, out) : status;
}

/* --- all of it --- */

static bool is_one_of(const char *name, const char *const list[])
{
    while (*list && strcmp(*list, name))
        list++;
    return *list;
}

/* The better of the beginning and what a search makes of it. */
static nw_status improve(struct single *work, const char *name,
                         struct nw_candidate *best)
{
    static const char *const whole[] = {"auto", "multilevel", NULL};
    const struct nw_algorithm *algorithm = nw_algorithm_find(name);
    struct nw_candidate other = {0};
    nw_status status;

    if (!strcmp(name, "refine") && is_flat(&work->problem))
        algorithm = &on_tree;
    work->problem.options.start = best->mapping;
    if (is_one_of(name, whole))
        status = run_auto(work, &other);
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

/* The budget is one for what is found first and what is made of it; only the
 * last goes on until it is cut. */
static nw_status find_start(struct single *work)
{
    struct nw_budget *budget = &work->many->budget;
    bool endless = budget->endless;
    nw_status status;

    work->start = work->many->options.start;
    if (work->start)
        return NW_OK;
    budget->endless = false;
    status = nw_many_solve(work->many, "multilevel", &work->found);
    budget->endless = endless;
    work->start = work->found;
    return status;
}

nw_status nw_many_single(struct nw_many *many, const char *name,
                         nw_mapping **out, struct nw_map_report *report)
{
    static const char *const known[] = {"auto",  "multilevel", "anneal", "tabu",
                                        "exact", "refine",     NULL};
    struct single work = {.many = many};
    struct nw_candidate best = {0};
    nw_status status;

    if (!is_one_of(name, known))
        return nw_fail(NW_EINVAL,
                       "%s knows no limits of load; auto, multilevel, anneal, "
                       "tabu, exact, refine and block do",
                       name);
    status = find_start(&work);
    if (!status)
        status = make_problem(&work);
    if (!status)
        status = begin(&work, &best);
    if (!status)
        status = improve(&work, name, &best);
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
