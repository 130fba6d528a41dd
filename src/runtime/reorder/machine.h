/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds a topology with one element for each rank of a communicator, at the
 * rank's location. */
#ifndef NW_REORDER_MACHINE_H
#define NW_REORDER_MACHINE_H

#include "runtime/reorder/node_seats.h"

#include <nodewise/topology.h>

/* Builds a machine whose elements are the locations of `count` distinct ranks
 * of MPI_COMM_WORLD; element e is the location of rank world[(*member)[e]].
 * Between nodes, the distance is the depth of both locations plus the links
 * between the nodes. Inside a node, the distance is the number of links through
 * the lowest common vertex, so always less. The caller frees both results.
 * Local. */
NW_MUST_CHECK nw_status nw_machine_of(const struct nw_site *site,
                                      const int *world, int count,
                                      nw_topology **out, int32_t **member);

#endif
