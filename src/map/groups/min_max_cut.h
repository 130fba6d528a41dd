/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What leaves the switches of a tree: ranks divided over the hosts of each
 * leaf switch so that the one that sends most sends least. Exchanges that look
 * at every link find such divisions too seldom to wait for.
 */
#ifndef NW_MAP_GROUPS_MIN_MAX_CUT_H
#define NW_MAP_GROUPS_MIN_MAX_CUT_H

#include "map/congestion/objectives.h"

/* Seats the ranks by a division in which the fullest switch sends less, and
 * within it near each other. *found is false, and the seats stay, where none
 * is found, or hosts are not in groups, full of ranks that may move. */
NW_MUST_CHECK nw_status
nw_slots_min_max_cut(struct nw_slots *slots,
                     const struct nw_objectives *objectives, bool *found);

#endif
