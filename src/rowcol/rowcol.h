/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the heuristic and the search of arrangements share. */
#ifndef NW_ROWCOL_ROWCOL_H
#define NW_ROWCOL_ROWCOL_H

#include <nodewise/rowcol.h>

/* Returns the cost of an arrangement by the problem's objective, in
 * microseconds. */
double nw_rowcol_figure_of(const struct nw_rowcol_problem *problem,
                           const struct nw_rowcol *arrangement);

/* Returns the cost, in microseconds, of the links inside and between columns 0
 * .. j only; those from the last column back to the first one count if j is the
 * last column. Uses the heights and widths of the whole arrangement. */
double nw_rowcol_sum_up_to(const struct nw_rowcol_problem *problem,
                           const struct nw_rowcol *arrangement, int32_t j);

/* Fails with NW_EINVAL if no shape (rows x columns) is allowed, or if a cost
 * would exceed the range of numbers. */
NW_MUST_CHECK nw_status
nw_rowcol_check(const struct nw_rowcol_problem *problem);
/* Returns true if the problem allows a shape with this many rows. */
bool nw_rowcol_allows(const struct nw_rowcol_problem *problem, int32_t rows);

/* Copies `from` to `to` and returns true if `from` costs less or `to` is empty
 * (0 rows); otherwise returns false. */
bool nw_rowcol_keep(const struct nw_rowcol_problem *problem,
                    const struct nw_rowcol *from, struct nw_rowcol *to);

/* Fills the places of an arrangement with the processes in order[], by rows or
 * by columns. */
void nw_rowcol_fill(struct nw_rowcol *arrangement, const int32_t *order,
                    bool by_columns);

/* Fills row[] and column[], each [processes x processes], with the cost in
 * microseconds of a link from process x to y (entry x * processes + y) inside a
 * row or a column of the arrangement's shape, if rows and columns are equal. */
void nw_rowcol_time_links(const struct nw_rowcol_problem *problem,
                          const struct nw_rowcol *arrangement, double *row,
                          double *column);

static inline void nw_rowcol_swap(int32_t *a, int32_t *b)
{
    int32_t t = *a;

    *a = *b;
    *b = t;
}

/* Finds an order of processes with the lowest sum for the shape of `a`, stores
 * it in `a` and returns true. In these cases it returns false and leaves the
 * order in `a` as it was:
 * - memory is missing;
 * - the objective is not the sum;
 * - speeds are given;
 * - there is only one process;
 * - there would be too many states. 14 processes are few enough in any shape;
 * 16 processes are few enough in the shape 2 x 8, but too many in 4 x 4. */
bool nw_rowcol_prove_sum(const struct nw_rowcol_problem *problem,
                         struct nw_rowcol *a);

/* Tries the orders, for the shape of `a`, that may be better than `best`, and
 * stores the best one in `best`. Stops after a fixed number of partial orders
 * (orders of which only the first places are filled). Does nothing if there are
 * too many processes, if memory is missing, or if nw_rowcol_prove_sum serves
 * instead: the objective is the sum, without speeds. Overwrites the order in
 * `a`. */
void nw_rowcol_try_all(const struct nw_rowcol_problem *problem,
                       struct nw_rowcol *a, struct nw_rowcol *best);

#endif
