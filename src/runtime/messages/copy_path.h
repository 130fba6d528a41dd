/* SPDX-License-Identifier: BSD-3-Clause */
/* Three ways to copy bytes between the host and a GPU:
 * - the driver's copy;
 * - loads and stores of the CPU through a mapping of GPU memory
 *   (channel/memory/mapping.h), much faster than the driver for small messages;
 * - a read by the NIC, from the GPU only (channel/memory/nic_loopback.h). */
#ifndef NW_MESSAGES_COPY_PATH_H
#define NW_MESSAGES_COPY_PATH_H

#include "runtime/messages/pointer_cache.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>

/* A copy between the memory of one GPU and host memory. */
struct nw_path_copy {
    bool out; /* true: from GPU to host; false: from host to GPU */
    char *device, *host;
    size_t bytes;
    const struct nw_pointer *owner; /* allocation that contains `device` */
};
/* Copies the bytes by the fastest path. The copy is complete when the function
 * returns. Leaves the current GPU unchanged. */
NW_MUST_CHECK nw_status
nw_copy_path_move(const struct nw_path_copy *descriptor);
/* Returns the address at which the CPU can access the GPU memory of `span`. It
 * can be used by nw_copy_path_piece until nw_copy_path_shut; meanwhile copies
 * of other threads wait. Returns NULL if the CPU cannot access the memory,
 * should not copy this many bytes, or in the first copies of an allocation
 * (copy_path.c); nw_copy_path_shut must not be called then. */
char *nw_copy_path_open(const struct nw_path_copy *span);
void nw_copy_path_piece(bool out, char *mapped, char *host, size_t bytes);
void nw_copy_path_shut(void);
bool nw_copy_path_are_forced(void); /* true: the user chose copies by the CPU */
void nw_copy_path_close(void);

#endif
