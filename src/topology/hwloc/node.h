/* SPDX-License-Identifier: BSD-3-Clause */
/* One node seen by hwloc becomes one node type, whoever asks: the sources
 * `live`, FILE.xml and hwloc:, and the node types of a cluster file. */
#ifndef NW_TOPOLOGY_HWLOC_NODE_H
#define NW_TOPOLOGY_HWLOC_NODE_H

#include "topology/topology.h"

enum nw_hwloc_from {
    NW_HWLOC_XML,       /* a file of lstopo's, version 1 or 2 */
    NW_HWLOC_SYNTHETIC, /* "package:2 core:12 pu:1" */
    NW_HWLOC_LIVE,      /* this machine, as far as the process may use it */
};

/* Adds the unfinished node type `name` to `topology`: packages, dies, NUMA
 * nodes, caches that divide cores, and cores. Adds hardware threads if
 * topology->elements, set before, asks for them. Adds the PCIe tree above GPUs
 * and network cards, and NVLink and xGMI links that hwloc measured. GPUs and
 * cards are in PCI bus order with their devices; core_os, core_pu and pu_os are
 * filled. May be called once per node type. A caller appends further GPUs or
 * cards after these. `what` is the file or the string; NULL for LIVE.
 * NW_EFORMAT and NW_EIO name file and line. */
NW_MUST_CHECK nw_status nw_hwloc_node_type(nw_topology *topology,
                                           const char *name,
                                           enum nw_hwloc_from from,
                                           const char *what,
                                           struct nw_node_type **out);

/* The host name an XML file was made on: read without hwloc, NULL in *out
 * where the file does not tell. The caller frees *out. */
NW_MUST_CHECK nw_status nw_hwloc_host_name(const char *file, char **out);

#endif
