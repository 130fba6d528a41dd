/* SPDX-License-Identifier: BSD-3-Clause */
/* Touches message buffers as programs do, for code that times messages. A core
 * that has just written a message has the bytes in its cache. Buffers that are
 * never touched favour protocols that copy late; freshly written buffers favour
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

/* Reads a byte of each cache line, so that all lines are loaded. */
static inline void nw_cache_touch_read(const void *memory, size_t bytes,
                                       unsigned *word)
{
    const unsigned char *line = memory;

    for (size_t i = 0; i < bytes; i += 64)
        *word += line[i];
}

#endif
