/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast small copies into a GPU that several processes use in turns, without a
 * switch between their contexts. */
#ifndef NW_CHANNEL_MEMORY_SHARED_GPU_COPY_H
#define NW_CHANNEL_MEMORY_SHARED_GPU_COPY_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if nw_turns_copy_in is faster than the driver's own call for
 * these bytes: the copy has 2 bytes to 32 KiB, `to` belongs to the context in
 * use, and another process also uses this GPU without MPS. Also registers this
 * process as a user of the GPU if the size is in this range. The GPU must be
 * current. */
bool nw_turns_serve(int32_t gpu, const void *to, size_t bytes);
/* Copies from host memory into GPU memory; complete on return. The GPU must be
 * current. */
NW_MUST_CHECK nw_status nw_turns_copy_in(int32_t gpu, void *to,
                                         const void *from, size_t bytes);

#endif
