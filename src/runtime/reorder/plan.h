/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of a grid as one rank computes it without messages: the vertex of
 * this rank, and this rank's share of the costs. */
#ifndef NW_REORDER_PLAN_H
#define NW_REORDER_PLAN_H

#include "runtime/reorder/comm_cache.h"

struct nw_cart_plan {
    struct nw_boxes boxes;
    int vertex;       /* of this member; -1: none */
    uint64_t cost[2]; /* bytes x distance that this member sends: with vertex i
                         on member i, and with the plan */
};

/* Computes the plan of `member`. `weight` comes from nw_cart_scale, and
 * nw_members_seat has been called. Returns false if machine or grid are too
 * irregular for boxes. The work depends only on the shape of grid and machine,
 * not on the number of members. */
bool nw_cart_plan(const struct nw_members *members, const struct nw_cart *cart,
                  const double *weight, int member, struct nw_cart_plan *out);
/* Sets plan->cost to the sums over all members, computed on this rank without
 * messages. O(members). */
void nw_cart_plan_total(const struct nw_members *members,
                        const struct nw_cart *cart, const double *weight,
                        struct nw_cart_plan *plan);

#endif
