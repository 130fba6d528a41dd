/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which a rank sees GPUs, whatever they are called. */
#ifndef NW_LAUNCH_GPUS_H
#define NW_LAUNCH_GPUS_H

#include <nodewise/mapping.h>
#include <nodewise/status.h>

#include <stdint.h>

/* NW_GPU_PERMUTED: GPU (*out)[l] of the `count` of the rank's node is device l.
 * Free with free(). */
NW_MUST_CHECK nw_status nw_launch_gpu_order(const nw_mapping *mapping,
                                            int32_t rank, int32_t count,
                                            int32_t **out);

#endif
