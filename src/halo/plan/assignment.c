/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Solves the quadratic assignment problem of placement (Pearson et al.,
 * "Node-aware stencil communication"). A local search finds a first assignment.
 * For up to 16 locations, branch and bound (map/qap/branch_bound_hahn_grant.c)
 * then proves that this assignment is optimal, or finds a better one, unless
 * its step limit ends it. For more locations, the mapping engine improves the
 * assignment (mapping_engine.c), but not if the greatest cost is wanted.
 */
#include "halo/plan/assignment.h"

#include "base/array.h"
#include "base/random.h"
#include "base/status.h"
#include "map/qap/dual_ascent.h"
#include "map/qap/qap.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STARTS 24 /* random starts of a local search */
/* Maximum number of steps unless the caller sets it; they take some minutes.
 * The limit is not a time, so that results are equal on all machines. */
#define STEP_LIMIT ((uint64_t)2000000)

static void start_at(int32_t *at, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        at[i] = i;
}

/* Runs a local search from the trivial assignment and from `starts` random
 * ones, and sets `out` to the best result. */
static nw_status search_locally(const struct nw_halo_assignment *problem,
                                int starts, int32_t *out)
{
    int32_t *at = NULL;
    struct nw_random random;
    double best;
    nw_status status = nw_alloc((size_t)problem->n, sizeof *at, &at);

    if (status)
        return status;
    nw_random_init(&random, problem->seed);
    start_at(out, problem->n);
    nw_halo_assignment_descend(problem, out);
    best = nw_halo_assignment_cost(problem, out);
    start_at(at, problem->n);
    for (int i = 0; i < starts; i++) {
        double cost;

        nw_random_shuffle(&random, at, (size_t)problem->n);
        nw_halo_assignment_descend(problem, at);
        cost = nw_halo_assignment_cost(problem, at);
        if (cost < best * (1 - NW_HALO_TOLERANCE)) {
            best = cost;
            memcpy(out, at, (size_t)problem->n * sizeof *at);
        }
    }
    free(at);
    return NW_OK;
}

static nw_status search_exactly(const struct nw_halo_assignment *problem,
                                int32_t *out, struct nw_halo_assigned *report)
{
    const struct nw_qap qap = {
        .n = problem->n,
        .real = problem->n,
        .movable = problem->n,
        .flow = (double *)(uintptr_t)problem->flow,
        .distance = (double *)(uintptr_t)problem->distance,
    };
    struct nw_qap_exact_search proof = {
        .nodes_most = problem->step_limit ? problem->step_limit : STEP_LIMIT};
    nw_status status = search_locally(problem, STARTS, out);

    if (!status)
        status = nw_qap_hahn_grant(&qap, &proof, out);
    if (!status) {
        report->steps = proof.nodes;
        report->exact = proof.proven;
    }
    return status;
}

static nw_status halo_assignment_solve(const struct nw_halo_assignment *problem,
                                       int32_t *out,
                                       struct nw_halo_assigned *report)
{
    nw_status status;

    if (problem->n <= NW_QAP_EXACT_MOST)
        return search_exactly(problem, out, report);
    status = search_locally(problem, problem->n > 64 ? 0 : STARTS, out);
    return status || problem->placement == NW_HALO_PLACE_WORST
               ? status
               : nw_halo_assignment_engine(problem, out);
}

/* Finds the assignment of greatest cost. Replaces each distance by the greatest
 * distance minus it; the best assignment of this problem is the worst one of
 * the given problem. */
static nw_status solve_worst(const struct nw_halo_assignment *problem,
                             int32_t *out, struct nw_halo_assigned *report)
{
    struct nw_halo_assignment other = *problem;
    size_t cells = (size_t)problem->n * problem->n;
    double *far = NULL, most = 0;
    nw_status status = nw_alloc(cells, sizeof *far, &far);

    if (status)
        return status;
    for (size_t i = 0; i < cells; i++)
        most = fmax(most, problem->distance[i]);
    for (size_t i = 0; i < cells; i++)
        far[i] = most - problem->distance[i];
    other.distance = far;
    status = halo_assignment_solve(&other, out, report);
    free(far);
    return status;
}

static nw_status check_numbers(const struct nw_halo_assignment *problem)
{
    size_t cells = (size_t)problem->n * (size_t)problem->n;

    for (size_t i = 0; i < cells; i++)
        if (!(problem->flow[i] >= 0 && problem->flow[i] <= DBL_MAX) ||
            !(problem->distance[i] >= 0 && problem->distance[i] <= DBL_MAX))
            return nw_fail(NW_EINVAL,
                           "flows and distances must be numbers from 0");
    return NW_OK;
}

nw_status nw_halo_assign(const struct nw_halo_assignment *problem, int32_t *out,
                         struct nw_halo_assigned *report)
{
    struct nw_halo_assigned done = {.exact = problem->n == 1};
    int32_t *at = NULL;
    nw_status status;

    if (problem->n < 1)
        return nw_fail(NW_EINVAL, "there is nothing to place");
    status = check_numbers(problem);
    if (!status)
        status = nw_alloc((size_t)problem->n, sizeof *at, &at);
    if (status)
        return status;
    start_at(at, problem->n);
    done.trivial_cost = nw_halo_assignment_cost(problem, at);
    if (problem->placement == NW_HALO_PLACE_RANDOM) {
        struct nw_random random;

        nw_random_init(&random, problem->seed);
        nw_random_shuffle(&random, at, (size_t)problem->n);
    } else if (problem->placement == NW_HALO_PLACE_BEST) {
        status = halo_assignment_solve(problem, at, &done);
    } else if (problem->placement == NW_HALO_PLACE_WORST) {
        status = solve_worst(problem, at, &done);
    }
    done.cost = nw_halo_assignment_cost(problem, at);
    if (!status) {
        memcpy(out, at, (size_t)problem->n * sizeof *at);
        if (report)
            *report = done;
    }
    free(at);
    return status;
}
