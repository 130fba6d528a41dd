/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which GPUs a rank sees and in which order. */
#ifndef NW_LAUNCH_GPUS_H
#define NW_LAUNCH_GPUS_H

#include <nodewise/launch.h>
#include <nodewise/status.h>

#include <stdint.h>

/* A rank and all ranks of its node. `mates` is in ascending order and contains
 * the rank itself. */
struct nw_launch_node_rank {
    const nw_mapping *mapping;
    int32_t rank;
    struct nw_ints mates;
};

/* Finds the ranks of the rank's node in the mapping. The caller frees
 * out->mates.values. */
NW_MUST_CHECK nw_status nw_launch_node_rank_find(
    const nw_mapping *mapping, int32_t rank, struct nw_launch_node_rank *out);
/* Returns the position of the rank among the ranks of its node, from 0. */
int32_t nw_launch_node_rank_index(const struct nw_launch_node_rank *place);
/* Finds the order of GPUs for NW_GPU_PERMUTED. Device l of the program is GPU
 * (*out)[l] of the node, which has `count` GPUs. The caller frees *out. */
NW_MUST_CHECK nw_status nw_launch_gpu_order(
    const struct nw_launch_node_rank *place, int32_t count, int32_t **out);
/* Does the same as nw_launch_gpus, for a caller that has already found the
 * ranks of the rank's node, *place. The mapping must have GPUs. */
NW_MUST_CHECK nw_status
nw_launch_node_rank_gpus(const nw_topology *topology, int32_t node,
                         const struct nw_launch_node_rank *place,
                         enum nw_gpu_visibility visibility, char **out);

#endif
