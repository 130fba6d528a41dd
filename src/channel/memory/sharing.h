/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out whether several processes of this host use the same GPU. */
#ifndef NW_CHANNEL_MEMORY_SHARING_H
#define NW_CHANNEL_MEMORY_SHARING_H

#include <stdbool.h>
#include <stdint.h>

/* Registers this process as a user of the GPU until it ends, so that other
 * processes find it. */
void nw_sharing_join(int32_t gpu);
/* Returns true if several processes that called nw_sharing_join use the GPU and
 * run in turns, because no MPS lets them run at the same time. Also returns
 * true if this is unknown. Calls nw_sharing_join for this process. */
bool nw_sharing_takes_turns(int32_t gpu);

#endif
