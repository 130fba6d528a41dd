/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds a topology with one element for each rank of a communicator, at the
 * rank's location. */
#ifndef NW_REORDER_MACHINE_H
#define NW_REORDER_MACHINE_H

#include "runtime/reorder/job_location.h"

#include <nodewise/topology.h>

/* Builds a machine whose elements are the locations of `count` distinct ranks
 * of MPI_COMM_WORLD. Element e is the location of rank world[(*member)[e]]. The
 * distance between elements of two nodes is the sum of both depths plus the
 * number of links between the nodes. Inside a node, it is the number of links
 * through the lowest common vertex, which is always less. The caller frees both
 * results. Local. */
NW_MUST_CHECK nw_status nw_machine_of(const struct nw_job_location *job,
                                      const int *world, int count,
                                      nw_topology **out, int32_t **member);

#endif
