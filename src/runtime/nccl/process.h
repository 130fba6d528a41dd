/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank, host and GPU of this process. */
#ifndef NW_NCCL_PROCESS_H
#define NW_NCCL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

struct nw_nccl_self {
    const char *record; /* NODEWISE_RECORD */
    char host[65];
    char rank[12], world[12]; /* "-" if unknown */
};

/* Fills the fields of `self`. Returns false if NODEWISE_RECORD is unset or
 * empty. */
bool nw_nccl_self(struct nw_nccl_self *self);
/* Writes the PCI bus id of the calling thread's current GPU to `out`, or "-" if
 * it is unknown. `size`: length of `out` in bytes. */
void nw_nccl_device(char *out, size_t size);

#endif
