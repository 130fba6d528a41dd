/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways of bytes between the host and a GPU: the driver's copy, the CPU's
 * own loads and stores through a mapping of GPU memory
 * (channel/memory/mapping.h), which for small messages take a fraction of it,
 * and out of a GPU an adapter's read (channel/memory/nic_loopback.h). */
#ifndef NW_MESSAGES_WAYS_H
#define NW_MESSAGES_WAYS_H

#include "runtime/messages/owner.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes of one GPU's memory and of the host's. */
struct nw_haul {
    bool out; /* of the GPU */
    char *device, *host;
    size_t bytes;
    const struct nw_owner *owner; /* of the device's */
};
/* Done on return; whatever GPU is current stays so. */
NW_MUST_CHECK nw_status nw_ways_move(const struct nw_haul *haul);
/* Where the CPU finds GPU memory for pieces of its own choice, up to
 * nw_ways_shut; NULL, with nothing to be shut, where it does not reach it, or
 * so many bytes are not worth it. */
char *nw_ways_open(const struct nw_haul *span);
void nw_ways_piece(bool out, char *mapped, char *host, size_t bytes);
void nw_ways_shut(void);
bool nw_ways_are_forced(void); /* to be the CPU's */
void nw_ways_close(void);

#endif
