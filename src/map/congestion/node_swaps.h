/* SPDX-License-Identifier: BSD-3-Clause */
/* Swaps of whole nodes with all ranks on them. On networks that are not trees
 * the position of a group of ranks matters more than which ranks are in it. */
#ifndef NW_MAP_CONGESTION_NODE_SWAPS_H
#define NW_MAP_CONGESTION_NODE_SWAPS_H

#include "map/congestion/objectives.h"

/* With fewer hosts, moves of single ranks find the same assignments as node
 * swaps. */
#define NW_NODE_SWAPS_HOSTS_MIN 3

/* Lowers the objectives by swapping all ranks of two nodes. The nodes must be
 * of the same kind (nw_node_swaps_is_same_kind) and hold no fixed ranks. The
 * assignment never becomes worse. Does nothing with fewer than
 * NW_NODE_SWAPS_HOSTS_MIN hosts, or if a node has more than NW_MOVE_MOST / 2
 * NICs. Counts its trials as steps in the problem's budget. */
NW_MUST_CHECK nw_status nw_node_swaps(struct nw_slots *slots,
                                      const struct nw_objectives *objectives,
                                      enum nw_search_depth depth);

/* Returns true if two hosts have the same node type, take the same numbers of
 * ranks and of ranks with GPUs, and have the same units of cores and, if ranks
 * use GPUs, of GPUs. */
bool nw_node_swaps_is_same_kind(const struct nw_problem *problem, int32_t a,
                                int32_t b);

#endif
