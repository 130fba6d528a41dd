/* SPDX-License-Identifier: BSD-3-Clause */
/* Touches message buffers as programs do, for code that times messages. A
 * program writes a message just before it sends it, so the bytes are in the
 * core's cache, and reads it just after it was received. A benchmark without
 * these accesses favours protocols that copy late; one with writes only favours
 * protocols that copy early. */
#ifndef NW_BASE_CACHE_TOUCH_H
#define NW_BASE_CACHE_TOUCH_H

#include <stddef.h>
#include <string.h>

/* Fills the message with a new byte value at each call. *word may have any
 * value at first. */
static inline void nw_cache_touch_write(void *memory, size_t bytes,
                                        unsigned *word)
{
    memset(memory, (int)(++*word & 0xff), bytes);
}

/* Reads one of every 64 bytes, the size of a cache line, so that all lines are
 * loaded. The sum of these bytes is added to *word, so that the compiler keeps
 * the reads. */
static inline void nw_cache_touch_read(const void *memory, size_t bytes,
                                       unsigned *word)
{
    const unsigned char *line = memory;

    for (size_t i = 0; i < bytes; i += 64)
        *word += line[i];
}

#endif
