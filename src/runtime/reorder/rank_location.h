/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the locations of ranks. The leader of a node reads those of its node,
 * rank 0 reads the network. No function here calls MPI. */
#ifndef NW_REORDER_RANK_LOCATION_H
#define NW_REORDER_RANK_LOCATION_H

#include "runtime/reorder/job_location.h"

#include <nodewise/status.h>

/* Finds the locations of `count` ranks of this node by hwloc, from the CPUs to
 * which they are bound: a set of `words` words (base/cpus.h) for each rank. The
 * location of an unbound rank is the whole node. If hwloc reads the description
 * of another machine (HWLOC_THISSYSTEM=0), local rank i is on core i, modulo
 * the number of cores. */
NW_MUST_CHECK nw_status
nw_rank_location_local(const unsigned long *bound, int words, int count,
                       struct nw_rank_location *location);

/* The names of a node, which its leader sends to rank 0. */
struct nw_node_words {
    char host[64];
    char slurm[192]; /* SLURM_TOPOLOGY_ADDR, or empty */
};
/* Fills job->above, or job->source and job->number, for job->node_count nodes.
 * The caller has set all of job->above to -1. The network comes from the
 * topology file `source` if it is neither NULL nor empty, else from Slurm's
 * addresses. Fails if the file lacks a node. A topology without links, such as
 * a distance matrix, leaves all of `job` as it is. */
NW_MUST_CHECK nw_status
nw_rank_location_network(const char *source, const struct nw_node_words *node,
                         struct nw_job_location *job);
/* Reads the locations of all ranks from a mapping file, and their network from
 * the topology `source`. */
NW_MUST_CHECK nw_status nw_rank_location_mapped(const char *source,
                                                const char *mapping,
                                                struct nw_job_location *job);

#endif
