/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a node type from hwloc's description of one node, for the sources
 * `live`, FILE.xml and hwloc:, and for the node types of cluster files. */
#ifndef NW_TOPOLOGY_HWLOC_NODE_H
#define NW_TOPOLOGY_HWLOC_NODE_H

#include "topology/topology.h"

/* Where hwloc reads a machine from. */
enum nw_hwloc_from {
    NW_HWLOC_XML,       /* an XML file of lstopo */
    NW_HWLOC_SYNTHETIC, /* "package:2 core:12 pu:1" */
    NW_HWLOC_LIVE,      /* this machine, restricted to the CPUs that this
                           process may use */
};

/* Adds the unfinished node type `name` to `topology`:
 *
 * - packages, cores, and the dies, NUMA nodes and caches that divide cores
 * - hardware threads, if topology->elements, which the caller sets before, asks
 *   for them
 * - GPUs and NICs in PCI bus order with their names, and the PCIe bridges above
 *   them
 * - NVLink, xGMI and Xe Links whose bandwidth hwloc reports. NW_HWLOC_LIVE also
 *   adds what NVML and ROCm SMI report, unless hwloc's variables give another
 *   machine
 * - the arrays core_os, core_pu and pu_os
 *
 * A caller may append further GPUs or NICs. Call it once for each node type.
 * `what` is the file or the string; NULL for NW_HWLOC_LIVE. NW_EFORMAT and
 * NW_EIO name file and line. */
NW_MUST_CHECK nw_status nw_hwloc_node_type(nw_topology *topology,
                                           const char *name,
                                           enum nw_hwloc_from from,
                                           const char *what,
                                           struct nw_node_type **out);

/* Checks an XML file and reads from it the host name of the machine; hwloc does
 * not load the machine. *out is NULL if the file does not have a host name. The
 * caller frees *out. */
NW_MUST_CHECK nw_status nw_hwloc_host_name(const char *file, char **out);

#endif
