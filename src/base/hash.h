/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash functions, which give the same values on every machine. FNV-1a hashes
 * bytes, for keys of caches and for file names. nw_hash_word hashes words, for
 * tables in memory. Each call adds data to a hash and returns the new value;
 * the first hash of FNV-1a is NW_HASH_START. */
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

/* Every bit of the word changes about half of the result's bits. */
static inline uint64_t nw_hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    hash *= 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 32;
}

#endif
