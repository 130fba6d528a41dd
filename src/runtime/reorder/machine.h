/* SPDX-License-Identifier: BSD-3-Clause */
/* The seats of a communicator as one topology: an element for each member. */
#ifndef NW_REORDER_MACHINE_H
#define NW_REORDER_MACHINE_H

#include "runtime/reorder/node_seats.h"

#include <nodewise/topology.h>

/* A machine whose elements are the seats of `count` ranks of MPI_COMM_WORLD,
 * each once; element e is the seat of world[member[e]]. Between nodes, the
 * depth of both seats plus the links between them; inside a node, the links
 * through the deepest thing that holds both, so always nearer. The caller
 * frees both. Local. */
NW_MUST_CHECK nw_status nw_machine_of(const struct nw_site *site,
                                      const int *world, int count,
                                      nw_topology **out, int32_t **member);

#endif
