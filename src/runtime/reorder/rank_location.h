/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the machine on the few ranks that do: the node of a leader, the
 * network of the first rank. Nothing here calls MPI. */
#ifndef NW_REORDER_RANK_LOCATION_H
#define NW_REORDER_RANK_LOCATION_H

#include "runtime/reorder/node_seats.h"

#include <nodewise/status.h>
#include <sched.h>

/* The locations of `count` ranks of this node, found from their bindings with
 * hwloc. An unbound rank has the node as location; on a described machine that
 * is not this one (HWLOC_THISSYSTEM=0) local rank i has core i. */
NW_MUST_CHECK nw_status nw_rank_location_local(const cpu_set_t *bound,
                                               int count,
                                               struct nw_rank_location *seat);

/* The description that a node sends of itself. */
struct nw_node_words {
    char host[64];
    char slurm[192]; /* SLURM_TOPOLOGY_ADDR, or empty */
};
/* Fills site->above, source and number for node_count nodes: from
 * NODEWISE_TOPOLOGY where `source` is set, else from what Slurm says. */
NW_MUST_CHECK nw_status nw_rank_location_network(
    const char *source, const struct nw_node_words *node, struct nw_site *site);
/* Seats and network of all ranks from a mapping file onto `source`. */
NW_MUST_CHECK nw_status nw_rank_location_mapped(const char *source,
                                                const char *mapping,
                                                struct nw_site *site);

#endif
