/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs do with a message besides passing it on, for those who time
 * messages: a core that wrote one has it nearer than others. What lies
 * untouched in the caches of both ends flatters ways that copy it late, what
 * was just written those that copy it early. */
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
