/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a grid that one rank computes by itself: its own vertex, and its
 * own part of the costs. */
#ifndef NW_REORDER_PLAN_H
#define NW_REORDER_PLAN_H

#include "runtime/reorder/comm_cache.h"

struct nw_cart_plan {
    struct nw_boxes boxes;
    int vertex;       /* of the member, -1 for none */
    uint64_t cost[2]; /* bytes x distance that it sends: as vertex = member,
                         and as planned */
};

/* False if the machine or the grid is not even enough for boxes. `weight` as
 * nw_cart_scale gives. The machine is known already (nw_members_seat). No array
 * of all is looked through: the work depends on the shape alone. */
bool nw_cart_plan(const struct nw_members *members, const struct nw_cart *cart,
                  const double *weight, int member, struct nw_cart_plan *out);
/* The costs of all ranks, computed without messages. O(members). */
void nw_cart_plan_total(const struct nw_members *members,
                        const struct nw_cart *cart, const double *weight,
                        struct nw_cart_plan *plan);

#endif
