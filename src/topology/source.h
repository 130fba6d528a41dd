/* SPDX-License-Identifier: BSD-3-Clause */
/* The readers of topologies, one for each kind of SOURCE. */
#ifndef NW_TOPOLOGY_SOURCE_H
#define NW_TOPOLOGY_SOURCE_H

#include <nodewise/topology.h>

/* Reads a topology from `what`, which is the part of SOURCE after its prefix,
 * or all of SOURCE if it has no prefix. Makes a finished topology, which the
 * caller frees. */
typedef nw_status nw_source_reader(const char *what, enum nw_elements elements,
                                   nw_topology **out);

nw_source_reader nw_source_hierarchy;  /* "4:8:16@1:10:100" */
nw_source_reader nw_source_matrix;     /* a file of distances */
nw_source_reader nw_source_cluster;    /* FILE.yaml */
nw_source_reader nw_source_bundled;    /* NAME or NAME:N of a bundled cluster */
nw_source_reader nw_source_live;       /* this machine; `what` is not used */
nw_source_reader nw_source_xml;        /* XML file of hwloc */
nw_source_reader nw_source_synthetic;  /* "package:2 core:12 pu:1" */
nw_source_reader nw_source_hwloc;      /* name of an XML file, or a synthetic
                                          string */
nw_source_reader nw_source_nccl;       /* file of NCCL or RCCL */
nw_source_reader nw_source_smi;        /* output of nvidia-smi topo -m */
nw_source_reader nw_source_ibnet;      /* FILE[,map=FILE][,lft=FILE] or "live"
                                        */
nw_source_reader nw_source_slurm;      /* FILE[,topology=NAME] */
nw_source_reader nw_source_kubernetes; /* nodes with labels */

#endif
