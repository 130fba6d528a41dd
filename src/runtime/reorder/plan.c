/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/reorder/plan.h"

static struct nw_end reorder_plan_end_of(const struct nw_members *members,
                                         const struct nw_boxes *boxes,
                                         int vertex)
{
    int32_t element =
        boxes ? nw_boxes_element(boxes, vertex) : members->element[vertex];

    return nw_topology_element_end(members->machine, element);
}

/* Returns the sum of bytes x distance over all messages that a vertex sends, in
 * the order of `boxes`; or, if `boxes` is NULL, with vertex v on member v. */
static uint64_t cost_of(const struct nw_members *members,
                        const struct nw_cart *cart, const double *weight,
                        const struct nw_boxes *boxes, int vertex)
{
    struct nw_end from = reorder_plan_end_of(members, boxes, vertex);
    uint64_t sum = 0;
    int stride = 1;

    for (int d = cart->count - 1; d >= 0; stride *= cart->dims[d--])
        for (int step = -1; step <= 1; step += 2) {
            int to = nw_cart_neighbour(cart, d, stride, vertex, step);

            if (to >= 0 && to != vertex)
                sum += (uint64_t)(weight[d] *
                                  nw_topology_distance(
                                      members->machine, from,
                                      reorder_plan_end_of(members, boxes, to)));
        }
    return sum;
}

bool nw_cart_plan(const struct nw_members *members, const struct nw_cart *cart,
                  const double *weight, int member, struct nw_cart_plan *out)
{
    int vertices = nw_cart_vertices(cart, members->count);

    out->vertex = -1;
    out->cost[0] = out->cost[1] = 0;
    if (!members->even ||
        !nw_boxes_find(&members->levels, cart, weight, &out->boxes))
        return false;
    out->vertex = nw_boxes_vertex(&out->boxes, members->element[member]);
    if (member < vertices)
        out->cost[0] = cost_of(members, cart, weight, NULL, member);
    if (out->vertex >= 0)
        out->cost[1] = cost_of(members, cart, weight, &out->boxes, out->vertex);
    return true;
}

void nw_cart_plan_total(const struct nw_members *members,
                        const struct nw_cart *cart, const double *weight,
                        struct nw_cart_plan *plan)
{
    int vertices = nw_cart_vertices(cart, members->count);

    plan->cost[0] = plan->cost[1] = 0;
    for (int v = 0; v < vertices; v++) {
        plan->cost[0] += cost_of(members, cart, weight, NULL, v);
        plan->cost[1] += cost_of(members, cart, weight, &plan->boxes, v);
    }
}
