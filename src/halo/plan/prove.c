/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Branch and bound by the dual ascent of relaxed.c: a facility's locations, or
 * a location's facilities, are tried in turn, whichever has the fewest left;
 * locations that stand for each other are tried once.
 */
#include "halo/plan/assign.h"
#include "halo/plan/relaxed.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define MOST NW_HALO_EXACT_MOST
#define STEP_LIMIT ((uint64_t)400000)
#define ROOT_ROUNDS 200
#define ROUNDS 12
/* bounds are sums of rounded numbers: what is better by less is no better */
#define TOLERANCE 1e-9

struct search {
    const struct nw_halo_assignment *problem;
    int twin[MOST];                /* the first location like this one */
    struct nw_halo_relaxed *level; /* [n] */
    int32_t at[MOST];
    double best_cost;
    int32_t *best;
    uint64_t steps, limit;
};

/* Swapping locations a and b leaves every distance as it is. */
static bool alike(const struct nw_halo_assignment *problem, int a, int b)
{
    const double *d = problem->distance;
    int n = problem->n;

    if (d[a * n + a] != d[b * n + b] || d[a * n + b] != d[b * n + a])
        return false;
    for (int c = 0; c < n; c++)
        if (c != a && c != b &&
            (d[a * n + c] != d[b * n + c] || d[c * n + a] != d[c * n + b]))
            return false;
    return true;
}

static void find_twins(struct search *search)
{
    for (int i = 0; i < search->problem->n; i++) {
        search->twin[i] = i;
        for (int a = 0; a < i && search->twin[i] == i; a++)
            if (search->twin[a] == a && alike(search->problem, a, i))
                search->twin[i] = a;
    }
}

static void lay_out(const struct nw_halo_assignment *problem,
                    struct nw_halo_relaxed *out)
{
    const double *f = problem->flow, *d = problem->distance;
    int n = problem->n;
    double *pair = out->pair;

    out->n = n;
    out->bound = 0;
    for (int i = 0; i < n; i++) {
        out->facility[i] = out->location[i] = i;
        for (int p = 0; p < n; p++) {
            out->linear[i * n + p] = f[i * n + i] * d[p * n + p];
            for (int j = 0; j < n; j++)
                for (int q = 0; q < n; q++)
                    *pair++ = f[i * n + j] * d[p * n + q];
        }
    }
}

static double enough(const struct search *search)
{
    return search->best_cost * (1 - TOLERANCE);
}

/* The answer is complete: its cost is summed anew. */
static void keep(struct search *search)
{
    double cost = nw_halo_assignment_cost(search->problem, search->at);

    if (cost >= enough(search))
        return;
    search->best_cost = cost;
    memcpy(search->best, search->at,
           (size_t)search->problem->n * sizeof *search->at);
}

/* Rows first, then columns: that with the most places out, then with the
 * dearest ones. */
static int choose_line(const struct nw_halo_relaxed *problem, double room)
{
    int n = problem->n, best = 0, best_out = -1;
    double best_sum = 0;

    for (int line = 0; line < 2 * n; line++) {
        double sum = 0;
        int out = 0;

        for (int k = 0; k < n; k++) {
            double cost = line < n ? problem->linear[line * n + k]
                                   : problem->linear[k * n + line - n];

            out += cost >= room;
            sum += cost < room ? cost : room;
        }
        if (out > best_out || (out == best_out && sum > best_sum)) {
            best = line;
            best_out = out;
            best_sum = sum;
        }
    }
    return best;
}

static bool tried(const struct search *search,
                  const struct nw_halo_relaxed *problem, int p)
{
    for (int k = 0; k < p; k++)
        if (search->twin[problem->location[k]] ==
            search->twin[problem->location[p]])
            return true;
    return false;
}

static void branch(struct search *search, int depth)
{
    struct nw_halo_relaxed *here = &search->level[depth];
    int n = here->n, line;

    if (search->steps++ >= search->limit)
        return;
    if (n == 1) {
        search->at[here->facility[0]] = here->location[0];
        keep(search);
        return;
    }
    nw_halo_relaxed_ascend(here, enough(search), depth ? ROUNDS : ROOT_ROUNDS);
    line = choose_line(here, enough(search) - here->bound);
    for (int k = 0; k < n; k++) {
        int i = line < n ? line : k, p = line < n ? k : line - n;

        if (here->bound + here->linear[i * n + p] >= enough(search) ||
            (line < n && tried(search, here, p)))
            continue;
        search->at[here->facility[i]] = here->location[p];
        nw_halo_relaxed_fix(here, i, p, &search->level[depth + 1]);
        branch(search, depth + 1);
    }
}

static nw_status make_levels(struct search *search, int n)
{
    nw_status status =
        nw_alloc((size_t)n, sizeof *search->level, &search->level);

    for (int i = 0; !status && i < n; i++) {
        size_t left = (size_t)(n - i);

        status = nw_alloc(left * left * left * left, sizeof(double),
                          &search->level[i].pair);
    }
    return status;
}

nw_status nw_halo_assign_prove(const struct nw_halo_assignment *problem,
                               int32_t *out, struct nw_halo_assigned *report)
{
    struct search search = {
        .problem = problem,
        .best = out,
        .best_cost = nw_halo_assignment_cost(problem, out),
        .limit = problem->step_limit ? problem->step_limit : STEP_LIMIT,
    };
    nw_status status = make_levels(&search, problem->n);

    if (!status) {
        find_twins(&search);
        lay_out(problem, search.level);
        branch(&search, 0);
        report->steps = search.steps;
        report->exact = search.steps < search.limit;
    }
    for (int i = 0; search.level && i < problem->n; i++)
        free(search.level[i].pair);
    free(search.level);
    return status;
}
