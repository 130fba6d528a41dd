/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose memory an address is. The driver is asked for all of it once for each
 * allocation, then, each time, only whether that one is still there: several
 * questions for every buffer cost more than a small message. */
#ifndef NW_MESSAGES_POINTER_CACHE_H
#define NW_MESSAGES_POINTER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An allocation of a GPU's. Where the driver says no more than that, id and
 * bytes are 0. */
struct nw_pointer {
    uint64_t id;
    uintptr_t start;
    size_t bytes;
    int32_t gpu;
};

/* False where it is no GPU's memory; *out is written only where it is. */
bool nw_pointer_find(const void *memory, struct nw_pointer *out);
bool nw_pointer_holds(const struct nw_pointer *owner, const void *memory,
                      size_t bytes);

#endif
