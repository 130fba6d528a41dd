/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings of whole nodes: every node has a block of consecutive ranks, as
 * required by launchers that number the ranks node by node. */
#ifndef NW_MAP_PORTFOLIO_WHOLE_NODES_H
#define NW_MAP_PORTFOLIO_WHOLE_NODES_H

#include "map/problem/problem.h"

/* Implements nw_map_priced with the option whole_nodes. */
NW_MUST_CHECK nw_status nw_whole_nodes_map(const struct nw_map_call *call,
                                           struct nw_map_answer *out);

#endif
