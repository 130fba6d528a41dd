/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of another program while it is written, and its writers. */
#ifndef NW_TOPOLOGY_EXPORT_EXPORT_H
#define NW_TOPOLOGY_EXPORT_EXPORT_H

#include "base/text.h"
#include "topology/topology.h"

struct nw_export {
    const nw_topology *topology;
    const struct nw_topology_export_options *options;
    struct nw_text text; /* the file */
    struct nw_text lost; /* what the format cannot express, joined by "; " */
};

/* Adds a part of the machine that the format cannot express. */
void nw_export_lose(struct nw_export *export, const char *format, ...)
    NW_PRINTF(2, 3);

/* The network formats lose the inside of nodes and the figures of links, unless
 * there are none. */
void nw_export_lose_inside(struct nw_export *export);

/* The type of the node that a format of one node describes: of the host in the
 * options, else of all nodes. NW_EINVAL if the host is unknown, or missing
 * beside several types. */
NW_MUST_CHECK nw_status nw_export_one_node(struct nw_export *export,
                                           const struct nw_node_type **out);
/* The first vertex above `vertex`, or itself, of one of two kinds; else 0. */
int32_t nw_export_above(const struct nw_node_type *type, int32_t vertex,
                        enum nw_vertex_kind kind, enum nw_vertex_kind other);

typedef nw_status nw_export_writer(struct nw_export *export);

nw_export_writer nw_export_hwloc;            /* XML */
nw_export_writer nw_export_nccl;             /* NCCL_TOPO_FILE */
nw_export_writer nw_export_slurm;            /* topology.conf, a tree */
nw_export_writer nw_export_slurm_block;      /* topology.conf, blocks */
nw_export_writer nw_export_slurm_yaml;       /* topology.yaml, a tree */
nw_export_writer nw_export_slurm_yaml_block; /* topology.yaml, blocks */
nw_export_writer nw_export_kubernetes;       /* labels of nodes */

#endif
