/* SPDX-License-Identifier: BSD-3-Clause */
/* The searches as algorithms of their own: dense ones where ranks are few or
 * distances a matrix and the objective a sum over pairs, else annealing of the
 * seating with its link loads. */
#include "map/portfolio/named_searches.h"
#include "map/congestion/objectives.h"
#include "map/congestion/qap_bridge.h"
#include "map/congestion/branch_bound.h"
#include "map/congestion/digit_embedding.h"
#include "base/status.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_PLACES 64 /* elements that a bound is known for */
#define TABU_MOST 2048  /* that tabu search has matrices for */
#define DENSE_MOST 128  /* elements of any machine */
#define MATRIX_MOST 400 /* elements of a matrix of distances */

/* --- an answer to begin with --- */

nw_status nw_search_let_remote(const struct nw_problem *problem,
                               struct nw_answer *answer)
{
    if (!problem->options.remote_gpus || !problem->uses_gpus)
        return NW_OK;
    return nw_answer_let_remote(answer, problem->pattern->rank_count);
}

nw_status nw_search_begin(const struct nw_problem *problem,
                          struct nw_answer *answer)
{
    struct nw_answer start = {0};
    nw_status status;

    if (!problem->options.start) {
        status = nw_answer_default(problem, answer);
        return status ? status : nw_search_let_remote(problem, answer);
    }
    status = nw_answer_begin(problem, &start);
    if (status)
        return status;
    nw_answer_fini(answer);
    *answer = start;
    status = nw_answer_check_begun(problem, answer);
    return status ? status : nw_search_let_remote(problem, answer);
}

static nw_status run_dense(const char *name, struct nw_seats *seats,
                           struct nw_map_report *report)
{
    struct nw_dense dense;
    nw_status status = nw_dense_init(&dense, seats);

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

bool nw_search_is_dense_first(const struct nw_seats *seats)
{
    return nw_dense_fits(seats) && !holds_some(seats);
}

/* A dense problem has one objective. */
bool nw_search_is_dense(const struct nw_seats *seats)
{
    return nw_search_is_dense_first(seats) &&
           !seats->problem->options.has_second;
}

static nw_status run_exact(struct nw_seats *seats, const struct nw_aim *aim,
                           struct nw_map_report *report)
{
    if (nw_search_is_dense(seats) && seats->count <= EXACT_PLACES)
        return run_dense("exact", seats, report);
    if (seats->rank_count > NW_EXHAUST_MOST)
        return nw_fail(NW_EUNSUPPORTED,
                       "exact is for at most %d ranks, these are %d",
                       NW_EXHAUST_MOST, seats->rank_count);
    return nw_seats_exhaust(seats, aim, 0, &report->proven);
}

/* What a dense search does not know, swaps of seats see to afterwards; where it
 * knows nothing of it, or would need too much memory, they do it all. */
static nw_status run_tabu(struct nw_seats *seats, const struct nw_aim *aim,
                          struct nw_map_report *report)
{
    nw_status status;

    if (!nw_dense_fits(seats) || seats->count > TABU_MOST)
        return nw_seats_search(seats, aim, NW_SEARCH_FULL);
    status = run_dense("tabu", seats, report);
    if (!status && !nw_search_is_dense(seats))
        status = nw_seats_search(seats, aim, NW_SEARCH_DESCENT);
    return status;
}

static nw_status run_fold(struct nw_seats *seats, const struct nw_aim *aim)
{
    bool found = false;
    nw_status status = nw_seats_fold(seats, aim, &found);

    if (status || found)
        return status;
    return nw_fail(NW_EUNSUPPORTED,
                   "fold is for grids of ranks, one on each core of nodes "
                   "that are alike, without GPUs and fixed ranks");
}

nw_status nw_run_search(const struct nw_algorithm *algorithm,
                        const struct nw_problem *problem,
                        struct nw_answer *answer, struct nw_map_report *report)
{
    struct nw_aim aim = nw_aim_of(problem);
    const char *name = algorithm->name;
    bool dense = false;
    struct nw_seats seats;
    nw_status status = nw_search_begin(problem, answer);

    if (!status)
        status = nw_seats_init(&seats, problem, answer);
    if (status)
        return status;
    if (!strcmp(name, "anneal") && problem->topology->matrix &&
        seats.count <= MATRIX_MOST)
        dense = nw_search_is_dense(&seats);
    if (!strcmp(name, "exact") ||
        (!strcmp(name, "refine") && seats.count <= NW_EXACT_MOST &&
         nw_search_is_dense(&seats)))
        status = run_exact(&seats, &aim, report);
    else if (!strcmp(name, "tabu"))
        status = run_tabu(&seats, &aim, report);
    else if (!strcmp(name, "fold"))
        status = run_fold(&seats, &aim);
    else
        status =
            dense ? run_dense(name, &seats, report)
                  : nw_seats_search(&seats, &aim,
                                    strcmp(name, "refine") ? NW_SEARCH_FULL
                                                           : NW_SEARCH_DESCENT);
    if (!status)
        nw_seats_finish(&seats, answer);
    nw_seats_fini(&seats);
    return status;
}

bool nw_search_is_tiny(const struct nw_problem *problem)
{
    return problem->core.first[problem->host_count] <= NW_EXACT_MOST &&
           problem->pattern->rank_count <= NW_EXHAUST_MOST &&
           problem->options.effort != NW_EFFORT_FAST;
}

bool nw_search_is_small(const struct nw_problem *problem)
{
    return problem->core.first[problem->host_count] <=
           (problem->topology->matrix ? MATRIX_MOST : DENSE_MOST);
}
