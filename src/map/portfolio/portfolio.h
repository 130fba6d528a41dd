/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings with at most one rank per element (core unit): the calls of the
 * library that this folder implements. */
#ifndef NW_MAP_PORTFOLIO_PORTFOLIO_H
#define NW_MAP_PORTFOLIO_PORTFOLIO_H

#include "map/problem/problem.h"

/* Implements nw_map_priced for one rank per element (core unit). Fills
 * out->standard, the cost of the default mapping, only if `priced` is set. */
NW_MUST_CHECK nw_status nw_portfolio_map(const struct nw_map_call *call,
                                         bool priced,
                                         struct nw_map_answer *out);
/* Implements nw_map_priced if the option `lost` names lost nodes: a mapping for
 * a restart. Fills all of *out. Defined in lost_nodes.c. */
NW_MUST_CHECK nw_status nw_lost_nodes_map(const struct nw_map_call *call,
                                          struct nw_map_answer *out);
/* Implements nw_map_priced with the option whole_nodes: every node has a block
 * of consecutive ranks, as required by launchers that number the ranks node by
 * node. Defined in whole_nodes.c. */
NW_MUST_CHECK nw_status nw_whole_nodes_map(const struct nw_map_call *call,
                                           struct nw_map_answer *out);

#endif
