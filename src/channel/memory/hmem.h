/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether, and how, an adapter reads and writes GPU memory by itself. */
#ifndef NW_CHANNEL_MEMORY_HMEM_H
#define NW_CHANNEL_MEMORY_HMEM_H

#include "channel/fabric/endpoint.h"
#include "channel/memory/memory.h"

/* Whether the provider is one of adapters, which is asked for GPU memory. */
bool nw_hmem_is_offered(const char *provider);
/* Finds a method of registration by which the adapter reaches GPU memory, on an
 * endpoint that was opened for GPU memory and is still unused. Each method is
 * tried by writes through the adapter into GPU memory and out of it. The first
 * that moves the right bytes is kept, with the reasons why those before it
 * failed. */
bool nw_hmem_find(struct nw_endpoint *fabric);
/* GPU memory, by the way that was found; NW_EIO where it is refused. */
NW_MUST_CHECK nw_status nw_hmem_register(struct nw_endpoint *fabric,
                                         void *memory, size_t bytes,
                                         struct fid_mr **out);

#endif
