/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the writers of other programs' files, and the writers. */
#ifndef NW_TOPOLOGY_EXPORT_EXPORT_H
#define NW_TOPOLOGY_EXPORT_EXPORT_H

#include "base/text.h"
#include "topology/topology.h"

struct nw_export {
    const nw_topology *topology;
    const struct nw_topology_export_options *options;
    struct nw_text text; /* the file's content */
    struct nw_text lost; /* parts of the machine that the format cannot express,
                            joined by "; " */
};

/* Adds a part of the machine to export->lost. */
void nw_export_lose(struct nw_export *export, const char *format, ...)
    NW_PRINTF(2, 3);

/* For formats that describe only networks: adds the inside of nodes and the
 * bandwidths of links to export->lost, if the machine has more inside than one
 * core, or bandwidths that are not assumed. */
void nw_export_lose_inside(struct nw_export *export);

/* Finds the node type that a format for a single node describes: that of the
 * host in the options, or the type of all nodes. Adds the network, if there is
 * one, to export->lost. Returns NW_EINVAL if the host is unknown, or if no host
 * is given and there are several types. */
NW_MUST_CHECK nw_status nw_export_one_node(struct nw_export *export,
                                           const struct nw_node_type **out);

typedef nw_status nw_export_writer(struct nw_export *export);

nw_export_writer nw_export_hwloc;            /* XML */
nw_export_writer nw_export_nccl;             /* NCCL_TOPO_FILE */
nw_export_writer nw_export_slurm;            /* topology.conf, a tree */
nw_export_writer nw_export_slurm_block;      /* topology.conf, blocks */
nw_export_writer nw_export_slurm_yaml;       /* topology.yaml, a tree */
nw_export_writer nw_export_slurm_yaml_block; /* topology.yaml, blocks */
nw_export_writer nw_export_kubernetes;       /* labels of nodes */

#endif
