/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the heuristic and the search of arrangements share. */
#ifndef NW_ROWCOL_ROWCOL_H
#define NW_ROWCOL_ROWCOL_H

#include <nodewise/rowcol.h>

/* Cost of an arrangement by the problem's objective. */
double nw_rowcol_figure_of(const struct nw_rowcol_problem *problem,
                           const struct nw_rowcol *arrangement);

/* Cost of columns 0 .. j only, with the heights and widths of the whole
 * arrangement. For j = 0 this is the vertical sum of column 0. */
double nw_rowcol_sum_up_to(const struct nw_rowcol_problem *problem,
                           const struct nw_rowcol *arrangement, int32_t j);

/* NW_EINVAL if the problem allows no shape. */
NW_MUST_CHECK nw_status
nw_rowcol_check(const struct nw_rowcol_problem *problem);
/* Whether the problem allows a shape of this many rows. */
bool nw_rowcol_allows(const struct nw_rowcol_problem *problem, int32_t rows);

/* Copies `from` to `to` if `from` is better or `to` is empty (rows 0). */
bool nw_rowcol_keep(const struct nw_rowcol_problem *problem,
                    const struct nw_rowcol *from, struct nw_rowcol *to);

/* Gives `a`, whose shape is set, an order with the lowest sum. Returns false
 * and leaves the order open if the objective is another, if speeds are given,
 * or if there are too many states. 14 processes are few enough in any shape, 16
 * in the shape 2 x 8. */
bool nw_rowcol_prove_sum(const struct nw_rowcol_problem *problem,
                         struct nw_rowcol *a);

/* Tries every order of the shape of `a` that may be better than `best`, and
 * puts the best into `best`. Does nothing if there are too many. */
void nw_rowcol_try_all(const struct nw_rowcol_problem *problem,
                       struct nw_rowcol *a, struct nw_rowcol *best);

#endif
