/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU memory read by an adapter for the process that it belongs to: a write to
 * itself, out of the GPU and into host memory. For those who send by other
 * means. */
#ifndef NW_CHANNEL_MEMORY_NIC_LOOPBACK_H
#define NW_CHANNEL_MEMORY_NIC_LOOPBACK_H

#include "channel/memory/memory.h"

enum { NW_PULL_BYTES = 65536 }; /* at most, at a time */

struct nw_pull;

/* Loads libfabric. NW_ENODEV where no adapter here reaches GPU memory. */
NW_MUST_CHECK nw_status nw_pull_open(struct nw_pull **out);
/* Out of the allocation `range`, which is there now. Done on return; an error
 * is of this allocation. Not for two threads at a time. */
NW_MUST_CHECK nw_status nw_pull_out(struct nw_pull *pull, void *to, void *gpu,
                                    size_t bytes,
                                    const struct nw_memory_range *range);
/* A write did not end: nothing comes any more. */
bool nw_pull_hangs(const struct nw_pull *pull);
void nw_pull_close(struct nw_pull *pull); /* NULL is fine */

#endif
