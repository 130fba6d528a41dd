/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mapping is the answer: for each rank a node, a set of cores, an ordered
 * set of GPUs, a network card where known.
 */
#ifndef NODEWISE_MAPPING_H
#define NODEWISE_MAPPING_H

#include <nodewise/status.h>
#include <nodewise/topology.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flat arrays. Cores of rank r are core[core_row[r]] .. up to core_row[r + 1];
 * where core_row is NULL each rank has exactly one, core[r]. GPUs likewise,
 * and where gpu_row is NULL gpu[r] is -1 for none. */
typedef struct nw_mapping {
    int32_t rank_count;
    int32_t *node; /* [rank_count] index into node_name; -1 open ("*") */
    int32_t *core; /* logical indexes inside the node, -1 open */
    size_t *core_row;
    int32_t *gpu; /* per-node indexes, in the order the rank sees them;
                     -1 none, -2 open */
    size_t *gpu_row;
    int32_t *gpu_node; /* [rank_count] node of the rank's GPUs where remote GPUs
                          are allowed; NULL: always the rank's own node */
    int32_t *nic;      /* [rank_count] or NULL; -1 not known */
    int32_t node_count;
    char **node_name; /* [node_count] */
} nw_mapping;

NW_API void nw_mapping_free(nw_mapping *mapping); /* NULL is fine */

/* One core and at most one GPU a rank, everything open, nodes named as in the
 * topology. */
NW_API NW_MUST_CHECK nw_status nw_mapping_new(const nw_topology *topology,
                                              int32_t rank_count,
                                              nw_mapping **out);

/* The mapping format of nodewise-formats(5). `topology` may be NULL; where
 * given, nodes, cores and GPUs must exist in it (NW_EFORMAT with file and
 * line), and node indexes are the topology's. */
NW_API NW_MUST_CHECK nw_status nw_mapping_read(const char *path,
                                               const nw_topology *topology,
                                               nw_mapping **out);
NW_API NW_MUST_CHECK nw_status nw_mapping_write(const nw_mapping *mapping,
                                                const char *path);
/* The same, the text made by several threads (0: the cores that are here, but
 * one inside an MPI process). */
NW_API NW_MUST_CHECK nw_status nw_mapping_write_by(const nw_mapping *mapping,
                                                   const char *path,
                                                   int32_t threads);
/* One element number per line, line i for rank i (a rank's first core). */
NW_API NW_MUST_CHECK nw_status nw_mapping_write_elements(
    const nw_mapping *mapping, const nw_topology *topology, const char *path);

/* Views, whatever the layout. Borrowed. */
struct nw_ints {
    const int32_t *values;
    size_t count;
};
NW_API struct nw_ints nw_mapping_cores(const nw_mapping *mapping, int32_t rank);
NW_API struct nw_ints nw_mapping_gpus(const nw_mapping *mapping, int32_t rank);

#ifdef __cplusplus
}
#endif
#endif
