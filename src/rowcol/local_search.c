/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for the best arrangement. If the lowest sum of a shape (rows x
 * columns) can be proven, the search takes the order with this sum. For other
 * shapes it starts from several orders, filled in by rows and by columns: the
 * given one, or every order of the groups if they are few, and the result of
 * the paper's heuristic. It also starts from random orders. From each it takes
 * steps until none lowers the cost: swaps of two processes, reversals of a run
 * of places, and exchanges of two adjacent runs. If a shape has few orders,
 * exhaustive.c then tries all of them. */
#include "rowcol/rowcol.h"
#include "base/array.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

enum { RANDOM_STARTS = 12 };

/* State of the search. */
struct local_search_search {
    const struct nw_rowcol_problem *problem;
    struct nw_random random;
    int32_t p;
    struct nw_rowcol a, best;
    int32_t *order, *groups;
    double now; /* cost of `a` by the problem's objective */
};

/* Returns true and updates s->now if the present arrangement costs less than
 * before the last step, by more than rounding errors. */
static bool local_search_better(struct local_search_search *s)
{
    double figure = nw_rowcol_figure_of(s->problem, &s->a);

    if (!(figure < s->now * (1 - 1e-12)))
        return false;
    s->now = figure;
    return true;
}

static bool local_search_same_group(const struct local_search_search *s,
                                    int32_t x, int32_t y)
{
    const int32_t *group = s->problem->bandwidths->group;

    return group[s->a.process[x]] == group[s->a.process[y]];
}

static bool local_search_try_swaps(struct local_search_search *s)
{
    bool fell = false;

    for (int32_t x = 0; x < s->p; x++)
        for (int32_t y = x + 1; y < s->p; y++) {
            nw_rowcol_swap(&s->a.process[x], &s->a.process[y]);
            if (local_search_better(s))
                fell = true;
            else
                nw_rowcol_swap(&s->a.process[x], &s->a.process[y]);
        }
    return fell;
}

static void local_search_reverse(int32_t *values, int32_t low, int32_t high)
{
    for (; low < high; low++, high--)
        nw_rowcol_swap(&values[low], &values[high]);
}

static bool local_search_try_reversals(struct local_search_search *s)
{
    bool fell = false;

    for (int32_t x = 0; x < s->p; x++)
        for (int32_t y = x + 2; y < s->p; y++) {
            local_search_reverse(s->a.process, x, y);
            if (local_search_better(s))
                fell = true;
            else
                local_search_reverse(s->a.process, x, y);
        }
    return fell;
}

/* Exchanges two adjacent runs of places: x .. y - 1 and y .. z. */
static void local_search_rotate(int32_t *values, int32_t x, int32_t y,
                                int32_t z)
{
    local_search_reverse(values, x, y - 1);
    local_search_reverse(values, y, z);
    local_search_reverse(values, x, z);
}

/* Tries to exchange each two adjacent runs of places and keeps the exchanges
 * that lower the cost. With more than 16 processes, the two runs must meet at a
 * boundary between two groups. Returns true if the cost fell. */
static bool local_search_try_moves(struct local_search_search *s)
{
    bool fell = false, all = s->p <= 16;

    for (int32_t x = 0; x < s->p; x++)
        for (int32_t y = x + 1; y < s->p; y++) {
            if (!all && local_search_same_group(s, y - 1, y))
                continue;
            for (int32_t z = y; z < s->p; z++) {
                local_search_rotate(s->a.process, x, y, z);
                if (local_search_better(s))
                    fell = true;
                else
                    local_search_rotate(s->a.process, x, x + z + 1 - y, z);
            }
        }
    return fell;
}

/* Takes steps from s->a until none lowers the cost, and keeps the result if it
 * is the best. */
static void local_search_descend(struct local_search_search *s)
{
    s->now = nw_rowcol_figure_of(s->problem, &s->a);
    while (local_search_try_swaps(s) || local_search_try_reversals(s) ||
           local_search_try_moves(s))
        continue;
    nw_rowcol_keep(s->problem, &s->a, &s->best);
}

/* Runs the search from the order s->order of processes, filled into the shape
 * by rows or by columns. */
static void local_search_from_order(struct local_search_search *s,
                                    bool by_columns)
{
    nw_rowcol_fill(&s->a, s->order, by_columns);
    local_search_descend(s);
}

/* Sets s->order to all processes, sorted by the position of their groups in
 * s->groups. */
static void local_search_order_of_groups(struct local_search_search *s,
                                         int32_t count)
{
    const int32_t *group = s->problem->bandwidths->group;
    int32_t at = 0;

    for (int32_t g = 0; g < count; g++)
        for (int32_t x = 0; x < s->p; x++)
            if (group[x] == s->groups[g])
                s->order[at++] = x;
}

/* Runs the search from every order of the groups in which the first `fixed`
 * groups keep their positions. */
static void local_search_from_groups(struct local_search_search *s,
                                     int32_t count, int32_t fixed)
{
    if (fixed == count) {
        local_search_order_of_groups(s, count);
        local_search_from_order(s, false);
        local_search_from_order(s, true);
        return;
    }
    for (int32_t g = fixed; g < count; g++) {
        nw_rowcol_swap(&s->groups[fixed], &s->groups[g]);
        local_search_from_groups(s, count, fixed + 1);
        nw_rowcol_swap(&s->groups[fixed], &s->groups[g]);
    }
}

static void local_search_search_shape(struct local_search_search *s,
                                      const struct nw_rowcol *heuristic)
{
    int32_t count = s->problem->bandwidths->group[s->p - 1] + 1;
    int32_t few = s->p <= 16 ? 5 : 3;

    for (int32_t g = 0; g < count; g++)
        s->groups[g] = g;
    local_search_from_groups(s, count, count <= few ? 0 : count);
    memcpy(s->order, heuristic->process, (size_t)s->p * sizeof *s->order);
    local_search_from_order(s, false);
    local_search_from_order(s, true);
    for (int i = 0; i < RANDOM_STARTS; i++) {
        nw_random_shuffle(&s->random, s->order, (size_t)s->p);
        local_search_from_order(s, false);
    }
}

static void local_search_search_or_prove(struct local_search_search *s,
                                         const struct nw_rowcol *heuristic)
{
    if (nw_rowcol_prove_sum(s->problem, &s->a)) {
        nw_rowcol_keep(s->problem, &s->a, &s->best);
        return;
    }
    local_search_search_shape(s, heuristic);
    nw_rowcol_try_all(s->problem, &s->a, &s->best);
}

static void local_search_search_all(struct local_search_search *s,
                                    const struct nw_rowcol *heuristic)
{
    nw_random_init(&s->random, s->problem->seed);
    nw_rowcol_keep(s->problem, heuristic, &s->best);
    for (int32_t rows = 1; rows <= s->p; rows++) {
        if (!nw_rowcol_allows(s->problem, rows))
            continue;
        s->a.rows = rows;
        s->a.columns = s->p / rows;
        local_search_search_or_prove(s, heuristic);
    }
}

nw_status nw_rowcol_best(const struct nw_rowcol_problem *problem,
                         struct nw_rowcol *out)
{
    size_t p = (size_t)problem->bandwidths->count;
    struct nw_rowcol_problem all = *problem;
    struct local_search_search s = {.problem = problem, .p = (int32_t)p};
    struct nw_rowcol heuristic = {0};
    int32_t *memory = NULL;
    nw_status status = nw_rowcol_paper(problem, &heuristic);

    if (!status)
        status =
            NW_ALLOC_ALL(NW_ARRAY(3 * p, memory), NW_ARRAY(p, s.best.process));
    if (!status) {
        s.order = memory;
        s.groups = memory + p;
        s.a.process = memory + 2 * p;
        local_search_search_all(&s, &heuristic);
        all.objective = NW_ROWCOL_SLOWEST;
        nw_rowcol_evaluate(&all, &s.best, &s.best.cost);
        *out = s.best;
    }
    free(heuristic.process);
    free(memory);
    return status;
}
