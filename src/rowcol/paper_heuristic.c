/* SPDX-License-Identifier: BSD-3-Clause */
/* The heuristic of Malik and Lastovetsky (2016), see nodewise/rowcol.h. Step 1
 * chooses the best shape for the given order of processes, filled in by rows or
 * by columns. Step 2 finds a cheap order of the groups inside each column, from
 * the first column to the last, and then one of the columns. The result, read
 * column by column, is the order for the next iteration. The heuristic ends
 * when the cost no longer falls. */
#include "rowcol/rowcol.h"
#include "base/array.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 8 }; /* all orders of up to this many items are tried */

struct paper_heuristic_state {
    const struct nw_rowcol_problem *problem; /* with the objective "sum" */
    struct nw_rowcol a, tried, best;         /* `best`: result of step 1 in this
                                                iteration */
    int32_t *order; /* [count] order of the processes at the beginning of this
                       iteration */
};

static void paper_heuristic_step_1(struct paper_heuristic_state *s)
{
    int32_t p = s->problem->bandwidths->count;

    s->best.rows = 0;
    for (int32_t rows = 1; rows <= p; rows++)
        for (int by_columns = 1; by_columns >= 0; by_columns--) {
            if (!nw_rowcol_allows(s->problem, rows))
                continue;
            s->tried.rows = rows;
            s->tried.columns = p / rows;
            nw_rowcol_fill(&s->tried, s->order, by_columns);
            nw_rowcol_keep(s->problem, &s->tried, &s->best);
        }
    s->a.rows = 0;
    nw_rowcol_keep(s->problem, &s->best, &s->a);
}

/* The runs in a column: consecutive processes of the same group. Each run has a
 * first row and a length. */
struct paper_heuristic_runs {
    int32_t count;
    int32_t *first, *length, *order; /* first row and number of rows of each
                                        run; order in which the runs are
                                        arranged */
    int32_t *column;                 /* copy of the column's processes */
};

/* Finds the runs of processes in column j of the present arrangement. */
static void paper_heuristic_find_runs(const struct paper_heuristic_state *s,
                                      int32_t j,
                                      struct paper_heuristic_runs *out)
{
    const int32_t *group = s->problem->bandwidths->group;

    out->count = 0;
    for (int32_t i = 0; i < s->a.rows; i++) {
        int32_t process = s->a.process[i * s->a.columns + j];
        out->column[i] = process;
        if (i == 0 || group[process] != group[out->column[i - 1]])
            out->first[out->count++] = i;
        out->length[out->count - 1] = i - out->first[out->count - 1] + 1;
    }
    for (int32_t i = 0; i < out->count; i++)
        out->order[i] = i;
}

/* Writes the runs to column j in the order runs->order. */
static void paper_heuristic_put_runs(struct nw_rowcol *a, int32_t j,
                                     const struct paper_heuristic_runs *runs)
{
    int32_t row = 0;

    for (int32_t r = 0; r < runs->count; r++)
        for (int32_t i = 0; i < runs->length[runs->order[r]]; i++)
            a->process[row++ * a->columns + j] =
                runs->column[runs->first[runs->order[r]] + i];
}

/* Changes order[n] to the next permutation in lexicographic order. Returns
 * false if it was the last one. */
static bool paper_heuristic_next_order(int32_t *order, int32_t n)
{
    int32_t i = n - 2, k = n - 1;

    while (i >= 0 && order[i] > order[i + 1])
        i--;
    if (i < 0)
        return false;
    while (order[k] < order[i])
        k--;
    nw_rowcol_swap(&order[i], &order[k]);
    for (int32_t low = i + 1, high = n - 1; low < high; low++, high--)
        nw_rowcol_swap(&order[low], &order[high]);
    return true;
}

/* Items whose cheapest order is searched: the runs of one column, or all
 * columns. cost() applies the present order to the arrangement and returns its
 * cost. */
struct paper_heuristic_ordering {
    struct paper_heuristic_state *s;
    int32_t n, *order, *kept;
    double (*cost)(struct paper_heuristic_ordering *o);
    struct paper_heuristic_runs *runs;
    int32_t column;
};

/* Swaps pairs of items as long as the cost falls. Used if there are too many
 * items to try all orders. */
static void paper_heuristic_swap_down(struct paper_heuristic_ordering *o)
{
    double now = o->cost(o);
    bool fell = true;

    while (fell) {
        fell = false;
        for (int32_t i = 0; i < o->n; i++)
            for (int32_t k = i + 1; k < o->n; k++) {
                double then;

                nw_rowcol_swap(&o->order[i], &o->order[k]);
                then = o->cost(o);
                if (then < now) {
                    now = then;
                    fell = true;
                } else {
                    nw_rowcol_swap(&o->order[i], &o->order[k]);
                }
            }
    }
    o->cost(o);
}

/* Applies the cheapest order found: of all orders if there are few, else by
 * swaps. */
static void paper_heuristic_best_order(struct paper_heuristic_ordering *o)
{
    double least = DBL_MAX;

    for (int32_t i = 0; i < o->n; i++)
        o->order[i] = i;
    if (o->n > MAX) {
        paper_heuristic_swap_down(o);
        return;
    }
    do {
        double cost = o->cost(o);
        if (cost < least) {
            least = cost;
            memcpy(o->kept, o->order, (size_t)o->n * sizeof *o->kept);
        }
    } while (paper_heuristic_next_order(o->order, o->n));
    memcpy(o->order, o->kept, (size_t)o->n * sizeof *o->kept);
    o->cost(o);
}

static double paper_heuristic_cost_of_groups(struct paper_heuristic_ordering *o)
{
    paper_heuristic_put_runs(&o->s->a, o->column, o->runs);
    return nw_rowcol_sum_up_to(o->s->problem, &o->s->a, o->column);
}

static double
paper_heuristic_cost_of_columns(struct paper_heuristic_ordering *o)
{
    struct nw_rowcol *a = &o->s->a;
    const int32_t *from = o->s->tried.process;

    for (int32_t i = 0; i < a->rows; i++)
        for (int32_t j = 0; j < a->columns; j++)
            a->process[i * a->columns + j] = from[i * a->columns + o->order[j]];
    return nw_rowcol_figure_of(o->s->problem, a);
}

static void paper_heuristic_step_2(struct paper_heuristic_state *s,
                                   int32_t *memory)
{
    size_t p = (size_t)s->problem->bandwidths->count;
    struct paper_heuristic_runs runs = {0, memory, memory + p, memory + 2 * p,
                                        memory + 3 * p};
    struct paper_heuristic_ordering o = {
        s,     0, runs.order, memory + 4 * p, paper_heuristic_cost_of_groups,
        &runs, 0};

    for (o.column = 0; o.column < s->a.columns; o.column++) {
        paper_heuristic_find_runs(s, o.column, &runs);
        o.n = runs.count;
        paper_heuristic_best_order(&o);
    }
    memcpy(s->tried.process, s->a.process, p * sizeof *s->a.process);
    o.n = s->a.columns;
    o.cost = paper_heuristic_cost_of_columns;
    paper_heuristic_best_order(&o);
}

static void paper_heuristic_iterate(struct paper_heuristic_state *s,
                                    int32_t *memory, struct nw_rowcol *out)
{
    for (;;) {
        paper_heuristic_step_1(s);
        paper_heuristic_step_2(s, memory);
        if (!nw_rowcol_keep(s->problem, &s->a, out))
            return;
        out->iterations++;
        for (int32_t i = 0; i < s->a.rows; i++)
            for (int32_t j = 0; j < s->a.columns; j++)
                s->order[j * s->a.rows + i] =
                    s->a.process[i * s->a.columns + j];
    }
}

nw_status nw_rowcol_paper(const struct nw_rowcol_problem *problem,
                          struct nw_rowcol *out)
{
    size_t p = (size_t)problem->bandwidths->count;
    struct nw_rowcol_problem by_sum = *problem;
    struct nw_rowcol result = {0};
    struct paper_heuristic_state s = {.problem = &by_sum};
    int32_t *memory = NULL;
    nw_status status = nw_rowcol_check(problem);

    by_sum.objective = NW_ROWCOL_SUM;
    if (!status)
        status =
            NW_ALLOC_ALL(NW_ARRAY(9 * p, memory), NW_ARRAY(p, result.process));
    if (!status) {
        s.order = memory + 5 * p;
        s.a.process = memory + 6 * p;
        s.tried.process = memory + 7 * p;
        s.best.process = memory + 8 * p;
        for (size_t i = 0; i < p; i++)
            s.order[i] = (int32_t)i;
        paper_heuristic_iterate(&s, memory, &result);
        /* with this objective, the cost of the slowest rank is computed, too */
        by_sum.objective = NW_ROWCOL_SLOWEST;
        nw_rowcol_evaluate(&by_sum, &result, &result.cost);
        *out = result;
    }
    free(memory);
    return status;
}
