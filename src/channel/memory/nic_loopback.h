/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU memory read by an adapter for the process that it belongs to: a write to
 * itself, out of the GPU and into host memory. For those who send by other
 * means. */
#ifndef NW_CHANNEL_MEMORY_NIC_LOOPBACK_H
#define NW_CHANNEL_MEMORY_NIC_LOOPBACK_H

#include "channel/memory/memory.h"

enum { NW_LOOPBACK_BYTES = 65536 }; /* at most, at a time */

struct nw_loopback;

/* Loads libfabric. NW_ENODEV where no adapter here reaches GPU memory. */
NW_MUST_CHECK nw_status nw_loopback_open(struct nw_loopback **out);
/* Out of the allocation `range`, which is there now. Done on return; an error
 * is of this allocation. Not for two threads at a time. */
NW_MUST_CHECK nw_status nw_loopback_out(struct nw_loopback *pull, void *to,
                                        void *gpu, size_t bytes,
                                        const struct nw_memory_range *range);
/* A write did not end: nothing comes any more. */
bool nw_loopback_hangs(const struct nw_loopback *pull);
void nw_loopback_close(struct nw_loopback *pull); /* NULL is fine */

#endif
