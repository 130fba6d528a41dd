/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes of this host use the same GPU. */
#ifndef NW_CHANNEL_MEMORY_SHARING_H
#define NW_CHANNEL_MEMORY_SHARING_H

#include <stdbool.h>
#include <stdint.h>

/* Says to other processes that this one uses the GPU, until it ends. */
void nw_sharing_join(int32_t gpu);
/* Whether the work of several processes that have joined takes turns on the
 * GPU: it is shared, and no MPS lets it run side by side. The caller joins.
 * True if that cannot be found out. */
bool nw_sharing_takes_turns(int32_t gpu);

#endif
