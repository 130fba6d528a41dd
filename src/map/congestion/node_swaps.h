/* SPDX-License-Identifier: BSD-3-Clause */
/* All that a node holds, moved as one: where networks are no trees, what is
 * together matters less than where it is. */
#ifndef NW_MAP_CONGESTION_NODE_SWAPS_H
#define NW_MAP_CONGESTION_NODE_SWAPS_H

#include "map/congestion/objectives.h"

/* Fewer hosts are not exchanged: ranks find as much. */
#define NW_BUNDLES_HOSTS 3

/* Lowers the aim by exchanging whole nodes of one kind on which nobody is
 * fixed. The seating is never left worse. Counts its trials in the problem's
 * budget. */
NW_MUST_CHECK nw_status nw_bundles_search(struct nw_seats *seats,
                                          const struct nw_aim *aim,
                                          enum nw_search_depth depth);

#endif
