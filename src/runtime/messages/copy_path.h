/* SPDX-License-Identifier: BSD-3-Clause */
/* Three paths of bytes between the host and a GPU:
 * - the driver's copy;
 * - the CPU's own loads and stores through a mapping of GPU memory
 *   (channel/memory/mapping.h), much faster than the driver for small messages;
 * - an adapter's read, out of a GPU only (channel/memory/nic_loopback.h). */
#ifndef NW_MESSAGES_COPY_PATH_H
#define NW_MESSAGES_COPY_PATH_H

#include "runtime/messages/pointer_cache.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes of one GPU's memory and of the host's. */
struct nw_path_copy {
    bool out; /* out of the GPU */
    char *device, *host;
    size_t bytes;
    const struct nw_pointer *owner; /* allocation of `device` */
};
/* Complete on return. The current GPU stays current. */
NW_MUST_CHECK nw_status nw_copy_path_move(const struct nw_path_copy *haul);
/* The address at which the CPU reaches the GPU memory of `span`, for calls of
 * nw_copy_path_piece until nw_copy_path_shut. NULL if the CPU cannot reach the
 * memory or should not copy that many bytes; nw_copy_path_shut must then not be
 * called. */
char *nw_copy_path_open(const struct nw_path_copy *span);
void nw_copy_path_piece(bool out, char *mapped, char *host, size_t bytes);
void nw_copy_path_shut(void);
bool nw_copy_path_are_forced(void); /* the user selected the CPU */
void nw_copy_path_close(void);

#endif
