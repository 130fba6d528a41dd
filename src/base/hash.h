/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash function FNV-1a, for keys of caches and for file names. It gives the
 * same values on every machine. A hash begins with NW_HASH_START; each call
 * adds bytes to it and returns the new value. */
#ifndef NW_BASE_HASH_H
#define NW_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NW_HASH_START 0xcbf29ce484222325u

static inline uint64_t nw_hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

static inline uint64_t nw_hash_text(uint64_t hash, const char *text)
{
    return nw_hash(hash, text, strlen(text));
}

#endif
