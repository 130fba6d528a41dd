/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithm `auto`. */
#ifndef NW_MAP_PORTFOLIO_AUTO_H
#define NW_MAP_PORTFOLIO_AUTO_H

#include "map/portfolio/candidate.h"

/* Runs the cheap algorithms, then improves the best of their results by the
 * search that suits the problem. *out is the best mapping found. */
NW_MUST_CHECK nw_status nw_choose_best(const struct nw_problem *problem,
                                       struct nw_map_report *report,
                                       struct nw_candidate *out);

#endif
