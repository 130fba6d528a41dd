/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies GPU memory into host memory by the adapter (NIC) of this process,
 * which writes to itself. For callers that send by other means than the
 * channel, for example by an MPI. */
#ifndef NW_CHANNEL_MEMORY_NIC_LOOPBACK_H
#define NW_CHANNEL_MEMORY_NIC_LOOPBACK_H

#include "channel/memory/memory.h"

enum { NW_LOOPBACK_BYTES = 65536 }; /* maximum bytes of one copy */

struct nw_loopback;

/* Opens a loopback and loads libfabric. NW_ENODEV if no adapter of this node
 * reaches GPU memory. nw_loopback_close frees *out. */
NW_MUST_CHECK nw_status nw_loopback_open(struct nw_loopback **out);
/* Copies `bytes` bytes at `gpu`, which lie in the allocation `range`, to host
 * memory; complete on return. An error concerns only this allocation. Not
 * thread-safe. */
NW_MUST_CHECK nw_status nw_loopback_out(struct nw_loopback *pull, void *to,
                                        void *gpu, size_t bytes,
                                        const struct nw_memory_range *range);
/* Returns true if a write has not ended, so that later copies are impossible.
 */
bool nw_loopback_hangs(const struct nw_loopback *pull);
void nw_loopback_close(struct nw_loopback *pull); /* NULL is ignored */

#endif
