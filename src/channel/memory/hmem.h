/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out whether and how an adapter (NIC) reads and writes GPU memory
 * itself, and registers GPU memory for it. */
#ifndef NW_CHANNEL_MEMORY_HMEM_H
#define NW_CHANNEL_MEMORY_HMEM_H

#include "channel/fabric/endpoint.h"
#include "channel/memory/memory.h"

/* Returns true if the provider serves adapters that may reach GPU memory, so
 * that nw_hmem_find is worth a trial. */
bool nw_hmem_is_offered(const char *provider);
/* Finds a method of registration by which the adapter of an endpoint reaches
 * GPU memory. The endpoint must have been opened for GPU memory and be unused.
 * Each method is tried by writing bytes into GPU memory and back. Returns true
 * and keeps the first method that moves the right bytes; returns false if none
 * does. fabric->why gets the reasons for failures. */
bool nw_hmem_find(struct nw_endpoint *fabric);
/* Registers GPU memory by the method that nw_hmem_find found; NW_EIO if the
 * driver or the provider refuses the memory. */
NW_MUST_CHECK nw_status nw_hmem_register(struct nw_endpoint *fabric,
                                         void *memory, size_t bytes,
                                         struct fid_mr **out);

#endif
