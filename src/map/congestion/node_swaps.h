/* SPDX-License-Identifier: BSD-3-Clause */
/* All that a node holds, moved as one: where networks are no trees, what is
 * together matters less than where it is. */
#ifndef NW_MAP_CONGESTION_NODE_SWAPS_H
#define NW_MAP_CONGESTION_NODE_SWAPS_H

#include "map/congestion/objectives.h"

/* Fewer hosts are not exchanged: ranks find as much. */
#define NW_NODE_SWAPS_HOSTS_MIN 3

/* Lowers the aim by exchanging whole nodes of one kind on which nobody is
 * fixed. The seating is never left worse. Counts its trials in the problem's
 * budget. */
NW_MUST_CHECK nw_status nw_node_swaps(struct nw_slots *slots,
                                      const struct nw_objectives *objectives,
                                      enum nw_search_depth depth);

#endif
