/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks in ascending order on nodes that are sorted by switch and NVLink
 * domain. */
#ifndef NW_MAP_PORTFOLIO_SORTED_NODES_H
#define NW_MAP_PORTFOLIO_SORTED_NODES_H

#include "map/problem/problem.h"

/* Exchanges the ranks of whole nodes of the same kind, in an answer without
 * fixed ranks. The hosts are sorted so that near hosts follow each other. Among
 * the hosts of one kind, the i-th host of the problem gives its ranks to the
 * i-th one in this order. */
NW_MUST_CHECK nw_status nw_sorted_nodes(const struct nw_problem *problem,
                                        struct nw_answer *answer);

#endif
