/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the cost of an arrangement: the two sums of the paper (see
 * paper_heuristic.c), and the time of the slowest rank. */
#include "rowcol/rowcol.h"

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The data from which the cost of a link between two neighbours is computed. */
struct rowcol_link_cost {
    const struct nw_rowcol_problem *problem;
    const struct nw_rowcol *a;
    double across, along;   /* across, along: bytes of a message to the next
                               process in the row (across) or column (along), if
                               all rows and columns are equal, times 1e6 for
                               costs in microseconds */
    double *height, *width; /* [rows], [columns] fraction of the grid that each
                               row (height) or column (width) gets; NULL: all
                               are equal */
};

static double rowcol_seconds(const double *bandwidth, int32_t count, int32_t x,
                             int32_t y)
{
    return x == y ? 0 : 1 / bandwidth[(size_t)x * (size_t)count + (size_t)y];
}

static int32_t rowcol_process_at(const struct nw_rowcol *a, int32_t i,
                                 int32_t j)
{
    return a->process[i * a->columns + j];
}

/* Returns the cost, in microseconds, of the link from place (i, j) to the next
 * place in column j (`down`) or in row i; 0 at the end of a row or column that
 * is not periodic. */
static inline double rowcol_link(const struct rowcol_link_cost *l, int32_t i,
                                 int32_t j, bool down)
{
    const struct nw_bandwidths *b = l->problem->bandwidths;
    int32_t next = (down ? i : j) + 1, from = rowcol_process_at(l->a, i, j);

    if (next == (down ? l->a->rows : l->a->columns)) {
        if (!l->problem->periodic)
            return 0;
        next = 0;
    }
    if (down)
        return (l->width ? 1e6 * l->problem->column_bytes * l->width[j]
                         : l->along) *
               rowcol_seconds(b->vertical, b->count, from,
                              rowcol_process_at(l->a, next, j));
    return (l->height ? 1e6 * l->problem->row_bytes * l->height[i]
                      : l->across) *
           rowcol_seconds(b->horizontal, b->count, from,
                          rowcol_process_at(l->a, i, next));
}

static double rowcol_right_of(const struct rowcol_link_cost *l, int32_t i,
                              int32_t j)
{
    return rowcol_link(l, i, j, false);
}

static double rowcol_below(const struct rowcol_link_cost *l, int32_t i,
                           int32_t j)
{
    return rowcol_link(l, i, j, true);
}

/* Returns the cost, in microseconds, of all links of the process at place (i,
 * j) to its neighbours in its row and in its column. */
static double rowcol_rank_of(const struct rowcol_link_cost *l, int32_t i,
                             int32_t j)
{
    int32_t r = l->a->rows, c = l->a->columns;
    double sum = rowcol_right_of(l, i, j) + rowcol_below(l, i, j);

    if (j > 0 || l->problem->periodic)
        sum += rowcol_right_of(l, i, (j + c - 1) % c);
    if (i > 0 || l->problem->periodic)
        sum += rowcol_below(l, (i + r - 1) % r, j);
    return sum;
}

/* Sets the fractions of the grid for the rows if `rows` is true, for the
 * columns if it is false. The fractions are such that the slowest process of
 * each row (or column) takes the same time. share[0] are the fractions of rows,
 * share[1] those of columns. The function sets one of the two and reads the
 * other. */
static void rowcol_balance(const struct nw_rowcol_problem *problem,
                           const struct nw_rowcol *a, bool rows,
                           double *share[2])
{
    int32_t count = rows ? a->rows : a->columns;
    int32_t others = rows ? a->columns : a->rows;
    const double *other = share[rows];
    double *own = share[!rows], sum = 0;

    for (int32_t i = 0; i < count; i++) {
        double slowest = 0;
        for (int32_t j = 0; j < others; j++) {
            int32_t process =
                rows ? rowcol_process_at(a, i, j) : rowcol_process_at(a, j, i);
            slowest = fmax(slowest, other[j] / problem->speed[process]);
        }
        own[i] = 1 / slowest;
        sum += own[i];
    }
    for (int32_t i = 0; i < count; i++)
        own[i] /= sum;
}

void nw_rowcol_shares(const struct nw_rowcol_problem *problem,
                      const struct nw_rowcol *a, double *height, double *width)
{
    double *share[2] = {height, width};

    for (int32_t i = 0; i < a->rows; i++)
        height[i] = 1.0 / a->rows;
    for (int32_t j = 0; j < a->columns; j++)
        width[j] = 1.0 / a->columns;
    for (int turn = 0; problem->speed && turn < 16; turn++)
        rowcol_balance(problem, a, turn % 2 == 0, share);
}

/* Computes from the speeds of the processes which fraction of the grid of cells
 * each row and column gets. Without speeds, or if memory runs out, rows and
 * columns stay equal. */
static void rowcol_set_shares(struct rowcol_link_cost *l)
{
    size_t count = (size_t)l->a->rows + (size_t)l->a->columns;

    if (!l->problem->speed || nw_alloc(count, sizeof(double), &l->height))
        return;
    l->width = l->height + l->a->rows;
    nw_rowcol_shares(l->problem, l->a, l->height, l->width);
}

static struct rowcol_link_cost
rowcol_links_of(const struct nw_rowcol_problem *problem,
                const struct nw_rowcol *a)
{
    struct rowcol_link_cost l = {problem,
                                 a,
                                 1e6 * problem->row_bytes / a->rows,
                                 1e6 * problem->column_bytes / a->columns,
                                 NULL,
                                 NULL};

    rowcol_set_shares(&l);
    return l;
}

void nw_rowcol_evaluate(const struct nw_rowcol_problem *problem,
                        const struct nw_rowcol *a, struct nw_rowcol_cost *out)
{
    struct rowcol_link_cost l = rowcol_links_of(problem, a);

    *out = (struct nw_rowcol_cost){0};
    for (int32_t i = 0; i < a->rows; i++)
        for (int32_t j = 0; j < a->columns; j++) {
            out->horizontal += rowcol_right_of(&l, i, j);
            out->vertical += rowcol_below(&l, i, j);
            if (problem->objective == NW_ROWCOL_SLOWEST)
                out->slowest = fmax(out->slowest, rowcol_rank_of(&l, i, j));
        }
    free(l.height);
}

void nw_rowcol_fill(struct nw_rowcol *a, const int32_t *order, bool by_columns)
{
    int32_t r = a->rows, c = a->columns;

    for (int32_t i = 0; i < r; i++)
        for (int32_t j = 0; j < c; j++)
            a->process[i * c + j] = order[by_columns ? j * r + i : i * c + j];
}

void nw_rowcol_time_links(const struct nw_rowcol_problem *problem,
                          const struct nw_rowcol *a, double *row,
                          double *column)
{
    const struct nw_bandwidths *b = problem->bandwidths;
    double in_row = 1e6 * problem->row_bytes / a->rows;
    double in_column = 1e6 * problem->column_bytes / a->columns;

    for (int32_t x = 0; x < b->count; x++)
        for (int32_t y = 0; y < b->count; y++) {
            int32_t i = x * b->count + y;

            row[i] = x == y ? 0 : in_row / b->horizontal[i];
            column[i] = x == y ? 0 : in_column / b->vertical[i];
        }
}

double nw_rowcol_sum_up_to(const struct nw_rowcol_problem *problem,
                           const struct nw_rowcol *a, int32_t j)
{
    struct rowcol_link_cost l = rowcol_links_of(problem, a);
    double sum = 0;

    for (int32_t i = 0; i < a->rows; i++)
        for (int32_t k = 0; k <= j; k++) {
            /* the link back to the first process counts once the row is
             * complete */
            if (k < j || j + 1 == a->columns)
                sum += rowcol_right_of(&l, i, k);
            sum += rowcol_below(&l, i, k);
        }
    free(l.height);
    return sum;
}

double nw_rowcol_figure(const struct nw_rowcol_problem *problem,
                        const struct nw_rowcol_cost *cost)
{
    return problem->objective == NW_ROWCOL_SLOWEST
               ? cost->slowest
               : cost->horizontal + cost->vertical;
}

double nw_rowcol_figure_of(const struct nw_rowcol_problem *problem,
                           const struct nw_rowcol *a)
{
    struct nw_rowcol_cost cost;

    nw_rowcol_evaluate(problem, a, &cost);
    return nw_rowcol_figure(problem, &cost);
}

/* Returns true if the processes form a grid with this many rows, within the
 * limits of the problem on rows and columns. */
static bool rowcol_fits(const struct nw_rowcol_problem *problem, int32_t rows)
{
    int32_t p = problem->bandwidths->count, columns = p / rows;
    const int32_t *most = problem->most;

    return p % rows == 0 && (!most[0] || rows <= most[0]) &&
           (!most[1] || columns <= most[1]);
}

bool nw_rowcol_allows(const struct nw_rowcol_problem *problem, int32_t rows)
{
    int32_t p = problem->bandwidths->count;

    if (!rowcol_fits(problem, rows))
        return false;
    if (rows > 1 && rows < p)
        return true;
    if (problem->all_shapes)
        return true;
    /* Otherwise a single row or column needs that no other shape fits. */
    for (int32_t r = 2; r < p; r++)
        if (rowcol_fits(problem, r))
            return false;
    return true;
}

/* Returns true if the cost of every arrangement is a finite number, whatever
 * fraction of the grid rows and columns have. */
static bool rowcol_is_finite(const struct nw_rowcol_problem *problem)
{
    const struct nw_bandwidths *b = problem->bandwidths;
    size_t n = (size_t)b->count;
    double least = INFINITY;

    for (size_t i = 0; i < n * n; i++)
        if (i / n != i % n)
            least = fmin(least, fmin(b->horizontal[i], b->vertical[i]));
    return isfinite(2e6 * (double)n *
                    (problem->row_bytes + problem->column_bytes) / least);
}

nw_status nw_rowcol_check(const struct nw_rowcol_problem *problem)
{
    int32_t p = problem->bandwidths->count;

    if (!rowcol_is_finite(problem))
        return nw_fail(NW_EINVAL, "the time of an exchange over the slowest "
                                  "link exceeds the range of numbers");
    for (int32_t rows = 1; rows <= p; rows++)
        if (nw_rowcol_allows(problem, rows))
            return NW_OK;
    return nw_fail(NW_EINVAL, "%d process%s no shape of at most %d x %d", p,
                   nw_by_count((uint64_t)p, " has", "es have"),
                   problem->most[0], problem->most[1]);
}

bool nw_rowcol_keep(const struct nw_rowcol_problem *problem,
                    const struct nw_rowcol *from, struct nw_rowcol *to)
{
    double figure = nw_rowcol_figure_of(problem, from);
    size_t bytes = (size_t)problem->bandwidths->count * sizeof *from->process;

    if (to->rows && !(figure < nw_rowcol_figure_of(problem, to)))
        return false;
    to->rows = from->rows;
    to->columns = from->columns;
    memcpy(to->process, from->process, bytes);
    return true;
}
