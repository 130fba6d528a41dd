/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks divided over groups of hosts each two of which have links of their own,
 * as those of a dragonfly, so that the fullest of these links carries least.
 */
#ifndef NW_MAP_GROUPS_DRAGONFLY_H
#define NW_MAP_GROUPS_DRAGONFLY_H

#include "map/congestion/objectives.h"

enum nw_paired {
    NW_PAIRED_NOT,     /* another machine */
    NW_PAIRED_IN_VAIN, /* no division has less than `below` */
    NW_PAIRED
};

/* Where congestion is lowered on such a machine: seats the ranks by the best
 * divisions that a short search finds, each searched further within its
 * groups. The fullest of the groups' links has less than `below` s; else the
 * seats stay. */
NW_MUST_CHECK nw_status nw_seats_pair(struct nw_seats *seats,
                                      const struct nw_aim *aim, double below,
                                      enum nw_paired *out);

#endif
