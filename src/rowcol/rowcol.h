/* SPDX-License-Identifier: BSD-3-Clause */
/* What the heuristic and the search of arrangements share. */
#ifndef NW_ROWCOL_ROWCOL_H
#define NW_ROWCOL_ROWCOL_H

#include <nodewise/rowcol.h>

/* The figure of rows x columns processes, row by row. */
double nw_rowcol_figure_of(const struct nw_rowcol_problem *problem,
                           const struct nw_rowcol *arrangement);

/* The two sums of columns 0 .. j alone, rows as high and columns as wide as in
 * the whole; of column 0 that is its vertical one. */
double nw_rowcol_sum_up_to(const struct nw_rowcol_problem *problem,
                           const struct nw_rowcol *arrangement, int32_t j);

/* NW_EINVAL where the problem allows no shape. */
NW_MUST_CHECK nw_status
nw_rowcol_check(const struct nw_rowcol_problem *problem);
/* Whether a shape is one of those that the problem allows. */
bool nw_rowcol_allows(const struct nw_rowcol_problem *problem, int32_t rows);

/* Copies `from` over `to` where it is better, or to is empty (rows 0). */
bool nw_rowcol_keep(const struct nw_rowcol_problem *problem,
                    const struct nw_rowcol *from, struct nw_rowcol *to);

/* Gives `a`, whose shape is set, an order of the least sum; false, and no
 * order, where that is not the figure, speeds differ, or the states are too
 * many: 14 processes in any shape are few enough, and 16 as 2 x 8. */
bool nw_rowcol_prove_sum(const struct nw_rowcol_problem *problem,
                         struct nw_rowcol *a);

/* Tries every order of the shape of `a` that may be better than `best`,
 * and keeps the least there; gives up where they are too many. */
void nw_rowcol_try_all(const struct nw_rowcol_problem *problem,
                       struct nw_rowcol *a, struct nw_rowcol *best);

#endif
