/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which a rank sees GPUs, whatever they are called. */
#ifndef NW_LAUNCH_GPUS_H
#define NW_LAUNCH_GPUS_H

#include <nodewise/launch.h>
#include <nodewise/status.h>

#include <stdint.h>

/* A rank among the ranks of its node, itself included, which ascend. */
struct nw_launch_seat {
    const nw_mapping *mapping;
    int32_t rank;
    struct nw_ints mates;
};

/* Looks through the mapping; free mates.values. */
NW_MUST_CHECK nw_status nw_launch_seat_find(const nw_mapping *mapping,
                                            int32_t rank,
                                            struct nw_launch_seat *out);
/* Its number among the ranks of its node. */
int32_t nw_launch_seat_local(const struct nw_launch_seat *seat);
/* NW_GPU_PERMUTED: GPU (*out)[l] of the `count` of the rank's node is device l.
 * Free with free(). */
NW_MUST_CHECK nw_status nw_launch_gpu_order(const struct nw_launch_seat *seat,
                                            int32_t count, int32_t **out);
/* As nw_launch_gpus, of a mapping that names GPUs. */
NW_MUST_CHECK nw_status nw_launch_seat_gpus(const nw_topology *topology,
                                            int32_t node,
                                            const struct nw_launch_seat *seat,
                                            enum nw_gpu_visibility visibility,
                                            char **out);

#endif
