/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mapping gives each rank a node, a set of cores, an ordered list of GPUs,
 * and a NIC if one is known.
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

/* Flat arrays. The cores of rank r are core[core_row[r]] .. core[core_row[r +
 * 1] - 1]. If core_row is NULL, each rank has exactly one core, core[r]. GPUs
 * use gpu and gpu_row in the same way. A rank without GPU has the single value
 * -1 or, with gpu_row, no value. */
typedef struct nw_mapping {
    int32_t rank_count;
    int32_t *node; /* index into node_name; -1: open ("*") */
    int32_t *core; /* logical indexes inside the node; -1: open */
    size_t *core_row;
    int32_t *gpu; /* indexes inside the node, in the order in which the rank
                     sees them; -1: none, -2: open */
    size_t *gpu_row;
    int32_t *gpu_node; /* [rank_count] node of the rank's GPUs if remote GPUs
                          are allowed; NULL: always the rank's own node */
    int32_t *nic;      /* [rank_count] index of the rank's NIC inside the node,
                          -1 if unknown; NULL if no rank has a NIC */
    int32_t node_count;
    char **node_name; /* [node_count] */
} nw_mapping;

NW_API void nw_mapping_free(nw_mapping *mapping); /* NULL is fine */

/* Creates a mapping with one core and at most one GPU for each rank. All its
 * fields are open, and it has the node names of the topology. The caller frees
 * *out with nw_mapping_free. */
NW_API NW_MUST_CHECK nw_status nw_mapping_new(const nw_topology *topology,
                                              int32_t rank_count,
                                              nw_mapping **out);

/* Reads or writes the mapping format of nodewise-formats(5). `topology` may be
 * NULL. If it is given, nodes, cores and GPUs must exist in it, and node
 * indexes are those of the topology. NW_EFORMAT: the sentence names file and
 * line. The caller frees *out with nw_mapping_free. */
NW_API NW_MUST_CHECK nw_status nw_mapping_read(const char *path,
                                               const nw_topology *topology,
                                               nw_mapping **out);
NW_API NW_MUST_CHECK nw_status nw_mapping_write(const nw_mapping *mapping,
                                                const char *path);
/* Writes the same file as nw_mapping_write with several threads. 0 means all
 * available cores, or one thread inside an MPI process. */
NW_API NW_MUST_CHECK nw_status nw_mapping_write_by(const nw_mapping *mapping,
                                                   const char *path,
                                                   int32_t threads);
/* Writes one number per line: line i holds the number in the topology of the
 * first core (or hardware thread) of rank i. NW_EINVAL: a rank's core is open.
 */
NW_API NW_MUST_CHECK nw_status nw_mapping_write_elements(
    const nw_mapping *mapping, const nw_topology *topology, const char *path);

/* The cores or GPUs of a rank, with or without core_row and gpu_row: an array
 * of the mapping, borrowed, and its length. The length is 0 if the cores are
 * open or the rank has no GPU; for open GPUs it is 1, and the value is -2. */
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
