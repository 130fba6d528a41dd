/* SPDX-License-Identifier: BSD-3-Clause */
/* Mapping for a restart after nodes were lost. */
#ifndef NW_MAP_PORTFOLIO_LOST_NODES_H
#define NW_MAP_PORTFOLIO_LOST_NODES_H

#include "map/problem/problem.h"

/* Implements nw_map_priced if the option `lost` names lost nodes; fills all of
 * *out. */
NW_MUST_CHECK nw_status nw_lost_nodes_map(const struct nw_map_call *call,
                                          struct nw_map_answer *out);

#endif
