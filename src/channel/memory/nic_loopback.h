/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies GPU memory into host memory by the adapter (NIC), through an endpoint
 * that writes to itself. It serves callers that do not send through the
 * channel, for example through an MPI. */
#ifndef NW_CHANNEL_MEMORY_NIC_LOOPBACK_H
#define NW_CHANNEL_MEMORY_NIC_LOOPBACK_H

#include "channel/memory/memory.h"

enum { NW_LOOPBACK_BYTES = 65536 }; /* maximum bytes of one copy */

struct nw_loopback;

/* Opens a loopback endpoint; loads libfabric if needed. NW_ENODEV if the node
 * has no GPU or if no adapter reaches GPU memory. Close *out by
 * nw_loopback_close. */
NW_MUST_CHECK nw_status nw_loopback_open(struct nw_loopback **out);
/* Copies `bytes` bytes at `gpu`, which lie in the allocation `range`, to host
 * memory at `to`. The copy is complete on return. After an error, copies from
 * other allocations may still work. Not thread-safe. */
NW_MUST_CHECK nw_status nw_loopback_out(struct nw_loopback *loopback, void *to,
                                        void *gpu, size_t bytes,
                                        const struct nw_memory_range *range);
/* Returns true if an earlier write did not end. Then no later copy is possible.
 */
bool nw_loopback_hangs(const struct nw_loopback *loopback);
void nw_loopback_close(struct nw_loopback *loopback); /* NULL is ignored */

#endif
