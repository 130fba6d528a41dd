/* SPDX-License-Identifier: BSD-3-Clause */
/* Small copies into a GPU whose contexts take turns. */
#ifndef NW_CHANNEL_MEMORY_TURNS_H
#define NW_CHANNEL_MEMORY_TURNS_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether nw_turns_copy_in copies these bytes faster than the driver's own call
 * does: the GPU is shared with another process that copies into it, and no MPS
 * runs. The first call makes the caller one of those processes. The GPU is
 * current. */
bool nw_turns_serve(int32_t gpu, const void *to, size_t bytes);
/* Like the copy_in of nw_gpu: done on return. The GPU is current. */
NW_MUST_CHECK nw_status nw_turns_copy_in(int32_t gpu, void *to,
                                         const void *from, size_t bytes);

#endif
