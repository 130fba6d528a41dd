/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the most loaded link of the network during an exchange, for a given
 * placement of the partition's nodes on machine nodes. */
#ifndef NW_HALO_PLAN_BUSIEST_LINK_H
#define NW_HALO_PLAN_BUSIEST_LINK_H

#include "halo/plan/layout.h"

#include <nodewise/topology.h>

struct nw_halo_network {
    /* the layout before the placement; its pieces are sorted by node */
    const nw_halo_layout *layout;
    const nw_topology *topology; /* the machine; must have links */
    const struct nw_halo_transfers *transfers; /* all transfers of the layout */
    /* number of slots of each node, equal for all nodes */
    int32_t slots;
    const struct nw_end *end; /* [machine node * slots + slot] core or GPU */
};

/* Sets *out to the seconds for which the most loaded direction of a link is
 * busy in one exchange with the cells that nodes send each other. Node i of the
 * partition is on machine node machine_node[i], and its pieces are in order on
 * the slots of this machine node. */
nw_status nw_halo_busiest(const struct nw_halo_network *network,
                          const int32_t *machine_node, double *out);

#endif
