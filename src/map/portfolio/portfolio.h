/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings with at most one rank per element (core unit). */
#ifndef NW_MAP_PORTFOLIO_PORTFOLIO_H
#define NW_MAP_PORTFOLIO_PORTFOLIO_H

#include "map/problem/problem.h"

/* Implements nw_map_priced for one rank per element (core unit). Fills
 * out->standard, the cost of the default mapping, only if `priced` is set. */
NW_MUST_CHECK nw_status nw_portfolio_map(const struct nw_map_call *call,
                                         bool priced,
                                         struct nw_map_answer *out);

#endif
