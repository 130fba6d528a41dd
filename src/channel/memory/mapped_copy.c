/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies into and out of mapped GPU memory by non-temporal vector stores and
 * loads, so that whole lines cross the bus. */
#include "channel/memory/mapping.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>

#define STREAM(name, isa, vector, load, store)                                 \
    __attribute__((target(isa))) static size_t name(                           \
        char *to, const char *from, size_t bytes)                              \
    {                                                                          \
        size_t done = 0;                                                       \
        for (; done + sizeof(vector) <= bytes; done += sizeof(vector))         \
            store((vector *)(to + done), load((const vector *)(from + done))); \
        return done;                                                           \
    }
STREAM(by_sse2, "sse2", __m128i, _mm_loadu_si128, _mm_stream_si128)
STREAM(by_avx2, "avx2", __m256i, _mm256_loadu_si256, _mm256_stream_si256)
STREAM(by_avx512, "avx512f", __m512i, _mm512_loadu_si512, _mm512_stream_si512)

static size_t stores_stream(char *to, const char *from, size_t bytes)
{
    if (__builtin_cpu_supports("avx512f"))
        return by_avx512(to, from, bytes);
    if (__builtin_cpu_supports("avx2"))
        return by_avx2(to, from, bytes);
    return by_sse2(to, from, bytes);
}

/* Loads from whole lines; `from` must be the start of a line. Four of these
 * loads fetch one 64-byte line by a single read across the bus, and reads of
 * the next lines overlap. */
__attribute__((target("sse4.1"))) static void
load_lines(char *to, const char *from, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += sizeof(__m128i))
        _mm_storeu_si128((__m128i *)(to + done),
                         _mm_stream_load_si128((__m128i *)(from + done)));
}

static bool can_load_lines(void)
{
    /* without this fence, the loads could return bytes that were read
     * earlier */
    _mm_mfence();
    return __builtin_cpu_supports("sse4.1");
}

void nw_stores_fence(void)
{
    _mm_sfence();
}
#else
static void load_lines(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static bool can_load_lines(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return false;
}

static size_t stores_stream(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return bytes;
}

void nw_stores_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#endif

enum { LINE = 64 };

void nw_stores(void *to, const void *from, size_t bytes)
{
    char *out = to;
    const char *in = from;
    size_t head = -(uintptr_t)out % LINE;

    if (head > bytes)
        head = bytes;
    memcpy(out, in, head);
    head += stores_stream(out + head, in + head, bytes - head);
    memcpy(out + head, in + head, bytes - head);
    nw_stores_fence();
}

/* Loads a part of one line by reading the whole line, which lies in the
 * mapping. */
static void stores_load_part(char *to, const char *from, size_t bytes)
{
    size_t at = (uintptr_t)from % LINE;
    char line[LINE];

    if (!bytes)
        return;
    load_lines(line, from - at, LINE);
    memcpy(to, line + at, bytes);
}

void nw_loads(void *to, const void *from, size_t bytes)
{
    char *out = to;
    const char *in = from;
    size_t head = -(uintptr_t)in % LINE, lines;

    if (!can_load_lines()) {
        memcpy(to, from, bytes);
        return;
    }
    if (head > bytes)
        head = bytes;
    lines = (bytes - head) / LINE * LINE;
    stores_load_part(out, in, head);
    load_lines(out + head, in + head, lines);
    stores_load_part(out + head + lines, in + head + lines,
                     bytes - head - lines);
}
