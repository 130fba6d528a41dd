/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts that belong together: leaf switches of a tree, groups of a dragonfly.
 */
#ifndef NW_MAP_GROUPS_SWITCH_GROUPS_H
#define NW_MAP_GROUPS_SWITCH_GROUPS_H

#include "map/congestion/slots.h"
#include "base/random.h"

#define NW_PENS_MOST 32
#define NW_PENS_HOSTS_MOST 512

struct nw_pens {
    int32_t *pen; /* [hosts] the part that a host belongs to */
    int32_t parts;
    int32_t first[NW_PENS_MOST + 1]; /* seats of part p: first[p] .. */
};

/* Hosts as near to each other as any. False where that makes no groups, one,
 * or too many. */
bool nw_pens_nearest(const struct nw_seats *seats, struct nw_pens *pens);

/* The groups of a dragonfly, likewise; false on other machines. */
bool nw_pens_dragonfly(const struct nw_seats *seats, struct nw_pens *pens);

/* How far hosts of two parts are from each other; parts of nw_pens_nearest.
 * far: [parts^2] */
void nw_pens_measure(const struct nw_seats *seats, const struct nw_pens *pens,
                     double *far);

/* assign_groups.c: parts that exchange much get pens near to each other, where
 * pens are *unlike far from each other. part: [ranks], pens of nw_pens_nearest
 * before and after. */
NW_MUST_CHECK nw_status nw_pens_arrange(const struct nw_seats *seats,
                                        const struct nw_pens *pens,
                                        struct nw_random *random, int32_t *part,
                                        bool *unlike);

/* Seats each rank in its part, in order, on the first seats there. part:
 * [ranks], all ranks on cores alone */
void nw_pens_sit(struct nw_seats *seats, const struct nw_pens *pens,
                 const int32_t *part);

#endif
