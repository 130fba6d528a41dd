/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies GPU memory into host memory by the adapter of the same process, which
 * writes to itself. For callers that send by other means, such as an MPI. */
#ifndef NW_CHANNEL_MEMORY_NIC_LOOPBACK_H
#define NW_CHANNEL_MEMORY_NIC_LOOPBACK_H

#include "channel/memory/memory.h"

enum { NW_LOOPBACK_BYTES = 65536 }; /* the most per call */

struct nw_loopback;

/* Loads libfabric. NW_ENODEV if no adapter here reaches GPU memory. */
NW_MUST_CHECK nw_status nw_loopback_open(struct nw_loopback **out);
/* Copies out of the existing allocation `range`; complete on return. An error
 * concerns only this allocation. Not thread-safe. */
NW_MUST_CHECK nw_status nw_loopback_out(struct nw_loopback *pull, void *to,
                                        void *gpu, size_t bytes,
                                        const struct nw_memory_range *range);
/* Whether a write did not end, so that later copies are impossible. */
bool nw_loopback_hangs(const struct nw_loopback *pull);
void nw_loopback_close(struct nw_loopback *pull); /* NULL is fine */

#endif
