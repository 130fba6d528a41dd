/* SPDX-License-Identifier: BSD-3-Clause */
/* Which search suits a problem: dense ones where ranks are few or distances a
 * matrix and the objective a sum over pairs, else annealing of the seating with
 * its link loads. */
#include "map/search.h"
#include "map/aim.h"
#include "map/budget.h"
#include "map/bundles.h"
#include "map/dense.h"
#include "map/exhaust.h"
#include "base/status.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MOST 12 /* elements whose optimum auto proves */
#define EXACT_NODES 200000
#define EXACT_PLACES 64     /* elements that a bound is known for */
#define DENSE_MOST 128      /* elements of any machine */
#define HOP_BYTES_MORE 1.04 /* for less congestion */
#define MATRIX_MOST 400     /* elements of a matrix of distances */

/* --- an answer to begin with --- */

static nw_status let_remote(const struct nw_problem *problem,
                            struct nw_answer *answer)
{
    if (!problem->options.remote_gpus || !problem->uses_gpus)
        return NW_OK;
    return nw_answer_let_remote(answer, problem->pattern->rank_count);
}

static nw_status begin(const struct nw_problem *problem,
                       struct nw_answer *answer)
{
    struct nw_answer start = {0};
    nw_status status;

    if (!problem->options.start) {
        status = nw_answer_default(problem, answer);
        return status ? status : let_remote(problem, answer);
    }
    status = nw_answer_begin(problem, &start);
    if (status)
        return status;
    nw_answer_fini(answer);
    *answer = start;
    for (int32_t r = 0; r < problem->pattern->rank_count; r++)
        if (answer->host[r] < 0 ||
            (answer->core[r] < 0 && nw_problem_needs_core(problem, r)) ||
            (answer->gpu[r] < 0 && nw_problem_needs_gpu(problem, r)))
            return nw_fail(NW_EINVAL,
                           "the mapping to begin from leaves rank %d open or "
                           "on cores or GPUs that are not to be used",
                           r);
    return let_remote(problem, answer);
}

static nw_status check_dense(const char *name, const struct nw_seats *seats)
{
    if (nw_dense_fits(seats))
        return NW_OK;
    return nw_fail(NW_EUNSUPPORTED,
                   "%s is for hop-bytes or latency between cores, all of "
                   "which may be used; anneal and refine know every objective, "
                   "GPUs and nodes that take fewer ranks",
                   name);
}

static nw_status run_dense(const char *name, struct nw_seats *seats,
                           struct nw_map_report *report)
{
    struct nw_dense dense;
    nw_status status = check_dense(name, seats);

    if (!status)
        status = nw_dense_init(&dense, seats);
    if (status)
        return status;
    if (!strcmp(name, "tabu"))
        status = nw_dense_tabu(&dense);
    else if (!strcmp(name, "anneal"))
        status = nw_dense_anneal(&dense);
    else
        status = nw_dense_exact(&dense, 0, &report->proven);
    if (!status)
        nw_dense_finish(&dense);
    nw_dense_fini(&dense);
    return status;
}

/* A rank that may move inside its node, which a dense problem does not know. */
static bool holds_some(const struct nw_seats *seats)
{
    for (int32_t r = 0; r < seats->rank_count; r++)
        if (seats->held[r] && !seats->locked[r])
            return true;
    return false;
}

/* A dense problem has one objective. */
static bool is_all_dense(const struct nw_seats *seats)
{
    return nw_dense_fits(seats) && !holds_some(seats) &&
           !seats->problem->options.has_second;
}

static nw_status run_exact(struct nw_seats *seats, const struct nw_aim *aim,
                           struct nw_map_report *report)
{
    if (is_all_dense(seats) && seats->count <= EXACT_PLACES)
        return run_dense("exact", seats, report);
    if (seats->rank_count > NW_EXHAUST_MOST)
        return nw_fail(NW_EUNSUPPORTED,
                       "exact is for at most %d ranks, these are %d",
                       NW_EXHAUST_MOST, seats->rank_count);
    return nw_seats_exhaust(seats, aim, 0, &report->proven);
}

/* What a dense search does not know, swaps of seats see to afterwards. */
static nw_status run_tabu(struct nw_seats *seats, const struct nw_aim *aim,
                          struct nw_map_report *report)
{
    nw_status status = run_dense("tabu", seats, report);

    if (!status && !is_all_dense(seats))
        status = nw_seats_search(seats, aim, false);
    return status;
}

nw_status nw_run_search(const struct nw_algorithm *algorithm,
                        const struct nw_problem *problem,
                        struct nw_answer *answer, struct nw_map_report *report)
{
    struct nw_aim aim = nw_aim_of(problem);
    const char *name = algorithm->name;
    bool dense = false;
    struct nw_seats seats;
    nw_status status = begin(problem, answer);

    if (!status)
        status = nw_seats_init(&seats, problem, answer);
    if (status)
        return status;
    if (!strcmp(name, "anneal") && problem->topology->matrix &&
        seats.count <= MATRIX_MOST)
        dense = is_all_dense(&seats);
    if (!strcmp(name, "exact") ||
        (!strcmp(name, "refine") && seats.count <= EXACT_MOST &&
         is_all_dense(&seats)))
        status = run_exact(&seats, &aim, report);
    else if (!strcmp(name, "tabu"))
        status = run_tabu(&seats, &aim, report);
    else
        status =
            dense ? run_dense(name, &seats, report)
                  : nw_seats_search(&seats, &aim, strcmp(name, "refine") != 0);
    if (!status)
        nw_seats_finish(&seats, answer);
    nw_seats_fini(&seats);
    return status;
}

/* --- the last part of auto --- */

bool nw_search_is_small(const struct nw_problem *problem)
{
    return problem->core.first[problem->host_count] <=
           (problem->topology->matrix ? MATRIX_MOST : DENSE_MOST);
}

static bool dense_suits(const struct nw_seats *seats)
{
    return nw_search_is_small(seats->problem) && is_all_dense(seats);
}

static nw_status improve_dense(struct nw_seats *seats,
                               struct nw_map_report *report)
{
    struct nw_dense dense;
    nw_status status = nw_dense_init(&dense, seats);

    if (status)
        return status;
    if (seats->count <= EXACT_MOST)
        status = nw_dense_exact(&dense, EXACT_NODES, &report->proven);
    if (!status && !report->proven)
        status = nw_dense_tabu(&dense);
    if (!status)
        nw_dense_finish(&dense);
    nw_dense_fini(&dense);
    return status;
}

/* The answer that a candidate's mapping is. */
static nw_status answer_of(const struct nw_problem *problem,
                           const struct nw_candidate *candidate,
                           struct nw_answer *answer)
{
    struct nw_problem mine = *problem;

    nw_status status;

    mine.options.start = candidate->mapping;
    status = nw_answer_begin(&mine, answer);
    return status ? status : let_remote(problem, answer);
}

struct improving {
    const struct nw_problem *problem;
    struct nw_map_report *report;
    const double *guard; /* or NULL */
    double hop_limit;
    bool all; /* try every seating */
    const char *name;
};

/* What a dense search may end with, a guard may refuse. */
static bool may_be_dense(const struct improving *work,
                         const struct nw_seats *seats)
{
    return !work->guard && dense_suits(seats);
}

/* Whole nodes first, once; then ranks. */
static nw_status search_seats(struct nw_seats *seats, const struct nw_aim *aim)
{
    struct nw_budget *budget = seats->problem->budget;
    bool endless = budget->endless;
    nw_status status;

    budget->endless = false;
    status = nw_bundles_search(seats, aim);
    budget->endless = endless;
    if (status)
        return status;
    return nw_seats_search(
        seats, aim, seats->problem->options.effort != NW_EFFORT_FAST);
}

static nw_status improve(struct improving *work, struct nw_answer *answer)
{
    struct nw_aim aim = nw_aim_of(work->problem);
    struct nw_seats seats;
    nw_status status = nw_seats_init(&seats, work->problem, answer);

    if (status)
        return status;
    if (work->all) {
        status =
            nw_seats_exhaust(&seats, &aim, EXACT_NODES, &work->report->proven);
        work->name = "exact";
    } else if (may_be_dense(work, &seats)) {
        status = improve_dense(&seats, work->report);
        work->name = work->report->proven ? "exact" : "tabu";
    } else {
        aim.hop_limit = work->hop_limit;
        if (work->guard && aim.first != NW_OBJECTIVE_CONGESTION)
            aim.most_limit = work->guard[1];
        status = search_seats(&seats, &aim);
        work->name = "anneal";
    }
    if (!status)
        nw_seats_finish(&seats, answer);
    nw_seats_fini(&seats);
    return status;
}

static bool has_remote_gpus(const nw_mapping *mapping)
{
    for (int32_t r = 0; mapping->gpu_node && r < mapping->rank_count; r++)
        if (mapping->gpu_node[r] >= 0 &&
            mapping->gpu_node[r] != mapping->node[r])
            return true;
    return false;
}

static void swap_candidates(struct nw_candidate *a, struct nw_candidate *b)
{
    struct nw_candidate c = *a;

    *a = *b;
    *b = c;
}

/* One more candidate out of `start`; `best` where it is better. */
static nw_status improve_from(struct improving *work,
                              const struct nw_candidate *start,
                              struct nw_candidate *best)
{
    struct nw_candidate other = {0};
    struct nw_answer answer = {0};
    nw_status status;

    if (has_remote_gpus(start->mapping) && !work->problem->options.remote_gpus)
        return NW_OK;
    status = answer_of(work->problem, start, &answer);
    if (!status)
        status = improve(work, &answer);
    if (!status)
        status =
            nw_candidate_finish(work->problem, &answer, work->name, &other);
    nw_answer_fini(&answer);
    if (status)
        return status;
    if (nw_candidate_better(&other, best) &&
        nw_candidate_within(&other, work->guard))
        swap_candidates(&other, best);
    else if (work->report->proven)
        best->algorithm = other.algorithm;
    nw_candidate_fini(&other);
    return NW_OK;
}

static bool looks_at_links(enum nw_objective objective)
{
    return objective == NW_OBJECTIVE_CONGESTION ||
           objective == NW_OBJECTIVE_TIME;
}

/* The best in hop-bytes, by the same means: where congestion is lowered from,
 * and what hop-bytes are held near. */
static nw_status find_nearest(const struct nw_problem *problem,
                              struct nw_map_report *report,
                              struct nw_candidate *out)
{
    struct nw_problem mine = *problem;
    bool endless = problem->budget->endless;
    nw_status status;

    mine.options.objective = NW_OBJECTIVE_HOP_BYTES;
    mine.options.has_second = true;
    mine.options.second = problem->options.objective;
    mine.options.careful = false;
    problem->budget->endless = false;
    status = nw_choose_best(&mine, report, out);
    problem->budget->endless = endless;
    report->proven = false;
    return status;
}

/* From the least congested and from the nearest; hop-bytes come second, near
 * the least that is known. */
static nw_status improve_links(struct improving *work,
                               struct nw_candidate *best)
{
    struct nw_candidate nearest = {0};
    nw_status status = find_nearest(work->problem, work->report, &nearest);

    if (status)
        return status;
    work->hop_limit = HOP_BYTES_MORE * nearest.figure[0];
    if (work->guard)
        work->hop_limit = fmin(work->hop_limit, work->guard[0]);
    if (best->figure[1] != nearest.figure[0])
        status = improve_from(work, best, best);
    if (!status)
        status = improve_from(work, &nearest, best);
    nw_candidate_fini(&nearest);
    return status;
}

/* So few elements that their best is found for any objective. */
static bool is_tiny(const struct nw_problem *problem)
{
    return problem->core.first[problem->host_count] <= EXACT_MOST &&
           problem->pattern->rank_count <= NW_EXHAUST_MOST &&
           problem->options.effort != NW_EFFORT_FAST;
}

nw_status nw_candidate_improve(const struct nw_problem *problem,
                               struct nw_map_report *report,
                               const double guard[3], struct nw_candidate *best)
{
    struct improving work = {
        .problem = problem, .report = report, .guard = guard};
    nw_status status;

    if (looks_at_links(problem->options.objective) &&
        problem->options.effort != NW_EFFORT_FAST) {
        status = improve_links(&work, best);
    } else {
        work.hop_limit = guard ? guard[0] : 0;
        status = improve_from(&work, best, best);
    }
    work.all = true;
    if (!status && !guard && !report->proven && is_tiny(problem))
        status = improve_from(&work, best, best);
    return status;
}
