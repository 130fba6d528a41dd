/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the order of processes with the lowest cost for a shape (rows x
 * columns) by trying all orders, at most TRIES partial ones; needed if the cost
 * is not a sum over links. Places are filled line by line along the shorter
 * side. A partial order is dropped as soon as one process in it costs at least
 * as much as the best order known. With speeds, the cost of a process depends
 * on the whole order, so that only complete orders are compared. */
#include "rowcol/rowcol.h"

#include "base/array.h"

#include <stdlib.h>

/* TRIES limits the number of partial orders: 10 processes have 9.9 million of
 * them. MAX and MAX_SPEEDS limit the number of processes, without and with
 * speeds: 8 processes have 40320 complete orders. */
enum { TRIES = 12 << 20, MAX = 16, MAX_SPEEDS = 8 };

/* The state of the search. */
struct exhaustive_every {
    const struct nw_rowcol_problem *problem;
    struct nw_rowcol *a, *best; /* a: the present order, where -1 is an empty
                                   place; best: the best complete order */
    int32_t p;
    double *row, *column; /* [processes x processes] cost, in microseconds, of a
                             link from process x to y: inside a row (row),
                             inside a column (column) */
    bool *taken;          /* [processes] the process has a place */
    double least;         /* cost of *best in microseconds */
    int64_t tries;        /* number of partial orders tried so far */
};

static double exhaustive_link_of(const struct exhaustive_every *e,
                                 const double *times, int32_t from, int32_t to)
{
    int32_t x = e->a->process[from], y = e->a->process[to];

    return x < 0 || y < 0 ? 0 : times[x * e->p + y];
}

/* Returns the cost, in microseconds, of the links between a place and those of
 * its neighbours that have a process. */
static double exhaustive_load_of(const struct exhaustive_every *e,
                                 int32_t place)
{
    int32_t c = e->a->columns, r = e->a->rows;
    int32_t i = place / c, j = place % c;
    bool ring = e->problem->periodic;
    double sum = 0;

    if (j + 1 < c || ring)
        sum += exhaustive_link_of(e, e->row, place, i * c + (j + 1) % c);
    if (j > 0 || ring)
        sum += exhaustive_link_of(e, e->row, i * c + (j + c - 1) % c, place);
    if (i + 1 < r || ring)
        sum += exhaustive_link_of(e, e->column, place, (i + 1) % r * c + j);
    if (i > 0 || ring)
        sum += exhaustive_link_of(e, e->column, (i + r - 1) % r * c + j, place);
    return sum;
}

/* Returns true if the present partial order may still become better than the
 * best order: the process at `place` and each of its neighbours cost less so
 * far, or speeds are given. */
static bool exhaustive_is_hopeful(const struct exhaustive_every *e,
                                  int32_t place)
{
    int32_t c = e->a->columns, r = e->a->rows;
    int32_t i = place / c, j = place % c;
    const int32_t touched[] = {
        place,
        i * c + (j + 1) % c,
        i * c + (j + c - 1) % c,
        (i + 1) % r * c + j,
        (i + r - 1) % r * c + j,
    };

    if (e->problem->speed)
        return true;
    for (size_t k = 0; k < sizeof touched / sizeof *touched; k++)
        if (!(exhaustive_load_of(e, touched[k]) < e->least))
            return false;
    return true;
}

/* Keeps the present complete order if it is the best so far. */
static void exhaustive_count_whole(struct exhaustive_every *e)
{
    double figure = nw_rowcol_figure_of(e->problem, e->a);

    if (figure < e->least && nw_rowcol_keep(e->problem, e->a, e->best))
        e->least = figure;
}

/* Returns true if the search is run: with speeds for at most MAX_SPEEDS
 * processes; without speeds for at most MAX, and only for the slowest rank,
 * since held_karp.c solves the sum over links. */
static bool exhaustive_are_few(const struct nw_rowcol_problem *problem)
{
    int32_t p = problem->bandwidths->count;

    if (problem->speed)
        return p <= MAX_SPEEDS;
    return problem->objective == NW_ROWCOL_SLOWEST && p <= MAX;
}

/* Tries every process without a place at position `at` of the filling order,
 * and continues with the next position. */
static void exhaustive_place_from(struct exhaustive_every *e, int32_t at)
{
    int32_t c = e->a->columns, r = e->a->rows;
    int32_t place = c <= r ? at : at % r * c + at / r;

    if (at == e->p) {
        exhaustive_count_whole(e);
        return;
    }
    for (int32_t x = 0; x < e->p && e->tries < TRIES; x++) {
        if (e->taken[x])
            continue;
        e->tries++;
        e->taken[x] = true;
        e->a->process[place] = x;
        if (exhaustive_is_hopeful(e, place))
            exhaustive_place_from(e, at + 1);
        e->taken[x] = false;
    }
    e->a->process[place] = -1;
}

void nw_rowcol_try_all(const struct nw_rowcol_problem *problem,
                       struct nw_rowcol *a, struct nw_rowcol *best)
{
    struct exhaustive_every e = {.problem = problem, .a = a, .best = best};
    size_t p = (size_t)problem->bandwidths->count;

    e.p = (int32_t)p;
    if (!exhaustive_are_few(problem))
        return;
    if (!nw_alloc(2 * p * p, sizeof *e.row, &e.row) &&
        !nw_alloc(p, sizeof *e.taken, &e.taken)) {
        e.column = e.row + p * p;
        nw_rowcol_time_links(problem, a, e.row, e.column);
        e.least = nw_rowcol_figure_of(problem, best);
        for (size_t i = 0; i < p; i++)
            a->process[i] = -1;
        exhaustive_place_from(&e, 0);
    }
    free(e.row);
    free(e.taken);
}
