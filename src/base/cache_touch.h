/* SPDX-License-Identifier: BSD-3-Clause */
/* Touches message buffers as programs do, for code that times messages: the
 * core that wrote a message has the bytes in its own cache. Untouched buffers
 * favour protocols that copy late, freshly written buffers those that copy
 * early. */
#ifndef NW_BASE_CACHE_TOUCH_H
#define NW_BASE_CACHE_TOUCH_H

#include <stddef.h>
#include <string.h>

/* Another word in each message; `word` begins with any. */
static inline void nw_cache_touch_write(void *memory, size_t bytes,
                                        unsigned *word)
{
    memset(memory, (int)(++*word & 0xff), bytes);
}

/* A byte of each cache line, so that all of them come. */
static inline void nw_cache_touch_read(const void *memory, size_t bytes,
                                       unsigned *word)
{
    const unsigned char *line = memory;

    for (size_t i = 0; i < bytes; i += 64)
        *word += line[i];
}

#endif
