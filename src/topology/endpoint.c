/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the NIC of an endpoint, and the switch to which a NIC is connected. */
#include "topology/topology.h"

int32_t nw_end_card(const nw_topology *topology, struct nw_end end)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, end.node);

    if (!type->nic_count)
        return -1;
    if (end.nic >= 0)
        return end.nic;
    if (type->stripe_count == 1) /* avoids the division */
        return type->nearest_nic[end.vertex];
    return type->nearest_nic[end.vertex * type->stripe_count +
                             (-1 - end.nic) % type->stripe_count];
}

int32_t nw_topology_switch_of(const nw_topology *topology, int32_t node,
                              int32_t card)
{
    return topology->port[topology->port_first[node] + (card < 0 ? 0 : card)];
}
