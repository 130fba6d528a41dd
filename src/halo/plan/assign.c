/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The quadratic assignment problem of the paper's placement: branch and bound
 * with the bound of Gilmore and Lawler, locations that stand for each other
 * tried once, and a local search that gives the first answer. Beyond
 * EXACT_MOST locations the mapping engine searches.
 */
#include "halo/plan/assign.h"

#include "base/array.h"
#include "base/random.h"
#include "base/status.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MOST 16
#define STARTS 24
#define STEP_LIMIT ((uint64_t)20000000)
/* bounds are sums of rounded numbers: what is better by less is no better */
#define TOLERANCE 1e-9

/* Minimises; `worst` is turned into this by the caller. */
struct search {
    int n;
    const double *flow, *distance;
    int order[EXACT_MOST];  /* facilities, busiest first */
    int twin[EXACT_MOST];   /* the first location like this one */
    int at[EXACT_MOST];     /* of assigned facilities */
    bool taken[EXACT_MOST]; /* locations */
    double best_cost;
    int32_t best[EXACT_MOST];
    uint64_t steps, limit;
};

double nw_halo_assignment_cost(const struct nw_halo_assignment *problem,
                               const int32_t *at)
{
    int32_t n = problem->n;
    double cost = 0;

    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            cost += problem->flow[(size_t)i * n + j] *
                    problem->distance[(size_t)at[i] * n + at[j]];
    return cost;
}

/* What changes when facilities i and j trade places. */
static double swap_gain(const struct nw_halo_assignment *problem,
                        const int32_t *at, int32_t i, int32_t j)
{
    const double *f = problem->flow, *d = problem->distance;
    size_t n = (size_t)problem->n;
    size_t a = (size_t)at[i], b = (size_t)at[j];
    double gain =
        (f[i * n + i] - f[j * n + j]) * (d[a * n + a] - d[b * n + b]) +
        (f[i * n + j] - f[j * n + i]) * (d[a * n + b] - d[b * n + a]);

    for (size_t k = 0; k < n; k++) {
        size_t c = (size_t)at[k];

        if (k == (size_t)i || k == (size_t)j)
            continue;
        gain += (f[i * n + k] - f[j * n + k]) * (d[a * n + c] - d[b * n + c]) +
                (f[k * n + i] - f[k * n + j]) * (d[c * n + a] - d[c * n + b]);
    }
    return gain;
}

void nw_halo_assignment_descend(const struct nw_halo_assignment *problem,
                                int32_t *at)
{
    double enough = TOLERANCE * nw_halo_assignment_cost(problem, at);
    bool better = true;

    while (better) {
        better = false;
        for (int32_t i = 0; i < problem->n; i++)
            for (int32_t j = i + 1; j < problem->n; j++)
                if (swap_gain(problem, at, i, j) > enough) {
                    int32_t held = at[i];

                    at[i] = at[j];
                    at[j] = held;
                    better = true;
                }
    }
}

/* Swapping locations a and b leaves every distance as it is. */
static bool alike(const struct search *search, int a, int b)
{
    const double *d = search->distance;
    int n = search->n;

    if (d[a * n + a] != d[b * n + b] || d[a * n + b] != d[b * n + a])
        return false;
    for (int c = 0; c < n; c++)
        if (c != a && c != b &&
            (d[a * n + c] != d[b * n + c] || d[c * n + a] != d[c * n + b]))
            return false;
    return true;
}

static double busy(const struct search *search, int i)
{
    double sum = 0;

    for (int j = 0; j < search->n; j++)
        sum +=
            search->flow[i * search->n + j] + search->flow[j * search->n + i];
    return sum;
}

static void prepare(struct search *search)
{
    for (int i = 0; i < search->n; i++) {
        int j = i;

        for (; j > 0 && busy(search, search->order[j - 1]) < busy(search, i);
             j--)
            search->order[j] = search->order[j - 1];
        search->order[j] = i;
        search->twin[i] = i;
        for (int a = 0; a < i && search->twin[i] == i; a++)
            if (search->twin[a] == a && alike(search, a, i))
                search->twin[i] = a;
    }
}

/* Cost of facility i at location a with those assigned before it. */
static double joined(const struct search *search, int depth, int i, int a)
{
    const double *f = search->flow, *d = search->distance;
    int n = search->n;
    double cost = f[i * n + i] * d[a * n + a];

    for (int k = 0; k < depth; k++) {
        int j = search->order[k], b = search->at[j];

        cost += f[i * n + j] * d[a * n + b] + f[j * n + i] * d[b * n + a];
    }
    return cost;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Row `i` of a matrix without column i and those left out, ascending. */
static int sort_row(const double *row, int i, const bool *out, int n,
                    double *sorted)
{
    int count = 0;

    for (int j = 0; j < n; j++)
        if (j != i && !out[j])
            sorted[count++] = row[j];
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    return count;
}

/* The least that free facilities cost: each pair (facility, location) is
 * priced by what is assigned and by its flows, falling, times the distances,
 * rising; then the best assignment of those prices. */
static double lower_bound(const struct search *search, int depth,
                          double *reduced)
{
    int n = search->n, left = n - depth, row = 0;
    double flow[EXACT_MOST][EXACT_MOST], far[EXACT_MOST][EXACT_MOST];
    double price[EXACT_MOST * EXACT_MOST];
    bool placed[EXACT_MOST] = {false};
    int place[EXACT_MOST], places = 0;

    for (int k = 0; k < depth; k++)
        placed[search->order[k]] = true;
    for (int a = 0; a < n; a++)
        if (!search->taken[a]) {
            sort_row(search->distance + a * n, a, search->taken, n,
                     far[places]);
            place[places++] = a;
        }
    for (int k = depth; k < n; k++, row++) {
        int i = search->order[k];

        sort_row(search->flow + i * n, i, placed, n, flow[row]);
        for (int p = 0; p < places; p++) {
            double sum = joined(search, depth, i, place[p]);

            for (int m = 0; m < left - 1; m++)
                sum += flow[row][left - 2 - m] * far[p][m];
            price[row * left + p] = sum;
        }
    }
    return nw_halo_linear_assignment(price, left, reduced);
}

static void keep(struct search *search, double cost)
{
    search->best_cost = cost;
    for (int i = 0; i < search->n; i++)
        search->best[i] = search->at[i];
}

static bool tried(const struct search *search, int a)
{
    for (int b = 0; b < a; b++)
        if (!search->taken[b] && search->twin[b] == search->twin[a])
            return true;
    return false;
}

/* The free facility with the fewest locations left goes next; `reduced` has a
 * row for each, of which the chosen one's is returned. */
static const double *choose_next(struct search *search, int depth,
                                 const double *reduced, double room)
{
    int left = search->n - depth, best = 0, held, best_out = -1;
    double best_sum = 0;

    for (int row = 0; row < left; row++) {
        double sum = 0;
        int out = 0;

        for (int p = 0; p < left; p++) {
            out += reduced[row * left + p] >= room;
            sum += reduced[row * left + p];
        }
        if (out > best_out || (out == best_out && sum > best_sum)) {
            best = row;
            best_out = out;
            best_sum = sum;
        }
    }
    held = search->order[depth];
    search->order[depth] = search->order[depth + best];
    search->order[depth + best] = held;
    return reduced + best * left;
}

/* Goes down the tree of assignments; `cost` is that of the pairs assigned. */
static void branch(struct search *search, int depth, double cost)
{
    double reduced[EXACT_MOST * EXACT_MOST], bound;
    double enough = search->best_cost * (1 - TOLERANCE);
    const double *row;
    int i, place = 0;

    if (search->steps++ >= search->limit)
        return;
    if (depth == search->n) {
        if (cost < enough)
            keep(search, cost);
        return;
    }
    bound = cost + lower_bound(search, depth, reduced);
    if (bound >= enough)
        return;
    row = choose_next(search, depth, reduced, enough - bound);
    i = search->order[depth];
    for (int a = 0; a < search->n; a++) {
        bool hopeless;

        if (search->taken[a])
            continue;
        enough = search->best_cost * (1 - TOLERANCE);
        hopeless = bound + row[place++] >= enough;
        if (hopeless || tried(search, a))
            continue;
        search->taken[a] = true;
        search->at[i] = a;
        branch(search, depth + 1, cost + joined(search, depth, i, a));
        search->taken[a] = false;
    }
}

static void start_at(int32_t *at, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        at[i] = i;
}

/* Descents from the trivial placement and from random ones. */
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
        if (cost < best * (1 - TOLERANCE)) {
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
    struct search search = {.n = problem->n,
                            .flow = problem->flow,
                            .distance = problem->distance,
                            .limit = problem->step_limit ? problem->step_limit
                                                         : STEP_LIMIT};
    nw_status status = search_locally(problem, STARTS, out);

    if (status)
        return status;
    search.best_cost = nw_halo_assignment_cost(problem, out);
    memcpy(search.best, out, (size_t)problem->n * sizeof *out);
    prepare(&search);
    branch(&search, 0, 0);
    memcpy(out, search.best, (size_t)problem->n * sizeof *out);
    report->steps = search.steps;
    report->exact = search.steps < search.limit;
    return NW_OK;
}

static nw_status solve(const struct nw_halo_assignment *problem, int32_t *out,
                       struct nw_halo_assigned *report)
{
    nw_status status;

    if (problem->n <= EXACT_MOST)
        return search_exactly(problem, out, report);
    status = search_locally(problem, problem->n > 64 ? 0 : STARTS, out);
    return status || problem->placement == NW_HALO_PLACE_WORST
               ? status
               : nw_halo_assign_engine(problem, out);
}

/* The same problem with the far near: its best is the worst. */
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
    status = solve(&other, out, report);
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
    struct nw_halo_assigned done = {.exact = true};
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
        done.exact = false;
        status = solve(problem, at, &done);
    } else if (problem->placement == NW_HALO_PLACE_WORST) {
        done.exact = false;
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
