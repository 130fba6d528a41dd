/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Min-max cut over leaf switches: divides the ranks among the hosts of the leaf
 * switches so that the busiest switch sends and receives as few bytes as
 * possible. Moves that evaluate every link find such divisions too rarely.
 */
#ifndef NW_MAP_GROUPS_MIN_MAX_CUT_H
#define NW_MAP_GROUPS_MIN_MAX_CUT_H

#include "map/congestion/objectives.h"

/* Assigns the ranks by a division whose busiest switch sends and receives less
 * than now, and places ranks with much traffic near each other within each
 * part. Sets *found to false and changes nothing if no such division is found,
 * if the hosts form no groups (nw_switch_groups_nearest), or if divisions are
 * not worth a search (nw_division_applies). */
NW_MUST_CHECK nw_status
nw_slots_min_max_cut(struct nw_slots *slots,
                     const struct nw_objectives *objectives, bool *found);

#endif
