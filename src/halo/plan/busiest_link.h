/* SPDX-License-Identifier: BSD-3-Clause */
/* The most loaded link of the network during an exchange, for a placement of
 * the partition's nodes. */
#ifndef NW_HALO_PLAN_BUSIEST_LINK_H
#define NW_HALO_PLAN_BUSIEST_LINK_H

#include "halo/plan/layout.h"

#include <nodewise/topology.h>

struct nw_halo_network {
    const nw_halo_layout *layout; /* divided, with its pieces sorted by node */
    const nw_topology *topology;  /* must have links */
    const struct nw_halo_transfers *transfers; /* all transfers of the layout */
    int32_t slots;                             /* slots of each node */
    const struct nw_end *end; /* core or GPU at [machine node * slots + slot] */
};

/* Sets *out to the seconds that the most loaded direction of a link is busy in
 * one exchange. Node i of the partition is on machine_node[i], with its pieces
 * in order on the slots. */
nw_status nw_halo_busiest(const struct nw_halo_network *network,
                          const int32_t *machine_node, double *out);

#endif
