/* SPDX-License-Identifier: BSD-3-Clause */
/* The most loaded link of the network during an exchange, for a placement of
 * the partition's nodes. */
#ifndef NW_HALO_PLAN_BUSIEST_LINK_H
#define NW_HALO_PLAN_BUSIEST_LINK_H

#include "halo/plan/layout.h"

#include <nodewise/topology.h>

struct nw_halo_network {
    const nw_halo_layout *layout; /* pieces by node of the partition */
    const nw_topology *topology;  /* must have links */
    const struct nw_halo_transfers *transfers; /* all */
    int32_t slots;                             /* per node */
    const struct nw_end *end; /* [machine's node * slots + slot] */
};

/* *out: seconds that the most loaded direction of a link is busy if node i of
 * the partition is on machine_node[i], with its pieces in order. */
nw_status nw_halo_busiest(const struct nw_halo_network *network,
                          const int32_t *machine_node, double *out);

#endif
