/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles NVLink between nodes, and PXN. The nodes of an NVLink domain share
 * one GPU switch, so a message between GPUs of two nodes takes the links from
 * both GPUs to the switch. Domains may be joined in an upper domain: each has
 * an uplink from its GPU switch to a second level of switches. With PXN, a GPU
 * passes a message for another node to a GPU of its own node, whose NIC has the
 * number of the destination's NIC. */
#include "base/status.h"
#include "topology/topology.h"

/* Returns whether the end is a GPU with a link to the GPU switch of its node.
 */
static bool nvlink_domain_reaches(const nw_topology *topology,
                                  struct nw_end end)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, end.node);

    return type->kind[end.vertex] == NW_VERTEX_GPU &&
           nw_node_type_next(type, end.vertex, type->gpu_switch) >= 0;
}

int nw_domain_joins(const nw_topology *topology, struct nw_end a,
                    struct nw_end b)
{
    int32_t from, to;
    bool same;

    if (!topology->domain)
        return 0;
    from = topology->domain[a.node];
    to = topology->domain[b.node];
    same = from == to;
    if (from < 0 || to < 0 ||
        (!same && (!topology->upper || topology->upper[from] < 0 ||
                   topology->upper[from] != topology->upper[to])) ||
        !nvlink_domain_reaches(topology, a) ||
        !nvlink_domain_reaches(topology, b))
        return 0;
    return same ? 1 : 2;
}

nw_status nw_domain_check(const nw_topology *topology)
{
    for (int32_t n = 0; topology->domain && n < topology->node_count; n++)
        if (topology->domain[n] >= 0 &&
            nw_topology_type_of(topology, n)->gpu_count &&
            nw_topology_type_of(topology, n)->gpu_switch < 0)
            return nw_fail(NW_EFORMAT,
                           "node '%s' is in domain '%s', so its type '%s' "
                           "needs one GPU switch",
                           topology->node_name[n],
                           topology->domain_name[topology->domain[n]],
                           nw_topology_type_of(topology, n)->name);
    return NW_OK;
}

int32_t nw_pxn_sender(const nw_topology *topology, struct nw_end a,
                      struct nw_end b)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, a.node);
    const struct nw_node_type *to = nw_topology_type_of(topology, b.node);
    int32_t own = nw_end_card(topology, a), card = nw_end_card(topology, b);

    if (!type->pxn || a.nic >= 0 || own < 0 || card < 0 || own == card ||
        type->kind[a.vertex] != NW_VERTEX_GPU ||
        to->kind[b.vertex] != NW_VERTEX_GPU ||
        nw_topology_switch_of(topology, a.node, own) ==
            nw_topology_switch_of(topology, b.node, card))
        return a.vertex;
    for (int32_t g = 0; g < type->gpu_count; g++)
        if (nw_end_card(topology,
                        (struct nw_end){a.node, type->gpu[g], a.nic}) == card &&
            nw_node_type_next(type, a.vertex, type->gpu[g]) >= 0)
            return type->gpu[g];
    return a.vertex;
}
