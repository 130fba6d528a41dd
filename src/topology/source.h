/* SPDX-License-Identifier: BSD-3-Clause */
/* Where topologies come from: one reader per kind of SOURCE. */
#ifndef NW_TOPOLOGY_SOURCE_H
#define NW_TOPOLOGY_SOURCE_H

#include <nodewise/topology.h>

/* Each reads what stands after its prefix (or the file) and gives a finished
 * topology. */
typedef nw_status nw_source_reader(const char *what, enum nw_elements elements,
                                   nw_topology **out);

nw_source_reader nw_source_hierarchy;  /* "4:8:16@1:10:100" */
nw_source_reader nw_source_matrix;     /* a file of distances */
nw_source_reader nw_source_cluster;    /* FILE.yaml */
nw_source_reader nw_source_bundled;    /* NAME or NAME:N, known to be one */
nw_source_reader nw_source_live;       /* this machine; nothing after it */
nw_source_reader nw_source_xml;        /* a file of hwloc's */
nw_source_reader nw_source_synthetic;  /* "package:2 core:12 pu:1" */
nw_source_reader nw_source_hwloc;      /* a file's name or such a string */
nw_source_reader nw_source_nccl;       /* a file of NCCL's or RCCL's */
nw_source_reader nw_source_smi;        /* what nvidia-smi topo -m writes */
nw_source_reader nw_source_ibnet;      /* FILE[,map=FILE] */
nw_source_reader nw_source_slurm;      /* FILE[,topology=NAME] */
nw_source_reader nw_source_kubernetes; /* nodes with labels */

/* A topology of n elements from n x n distances, row by row; takes `values`
 * (freed also on failure). */
NW_MUST_CHECK nw_status nw_topology_from_matrix(const char *name,
                                                double *values, size_t n,
                                                enum nw_elements elements,
                                                nw_topology **out);

#endif
