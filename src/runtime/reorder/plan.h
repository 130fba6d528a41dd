/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of a grid, as one rank computes it without messages: the vertex of
 * this rank, and this rank's part of the costs. */
#ifndef NW_REORDER_PLAN_H
#define NW_REORDER_PLAN_H

#include "runtime/reorder/comm_cache.h"

struct nw_cart_plan {
    struct nw_boxes boxes;
    int vertex; /* vertex of this member; -1: none */
    /* sum of bytes x distance of the messages that this member sends: with
     * vertex i on member i, and with the plan */
    uint64_t cost[2];
};

/* Computes the plan of `member`. `weight` must come from nw_cart_scale, and
 * nw_members_locate must have been called. Returns false if machine or grid are
 * too irregular for boxes. The work depends only on the shapes of grid and
 * machine, not on the number of members. */
bool nw_cart_plan(const struct nw_members *members, const struct nw_cart *cart,
                  const double *weight, int member, struct nw_cart_plan *out);
/* Sets plan->cost to the sums over all members. Computes them on this rank
 * without messages, in time O(members). */
void nw_cart_plan_total(const struct nw_members *members,
                        const struct nw_cart *cart, const double *weight,
                        struct nw_cart_plan *plan);

#endif
