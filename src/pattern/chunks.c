/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a text into chunks and counts its words, eight characters at a time. */
#include "pattern/chunks.h"
#include "base/parallel.h"

#include <endian.h>
#include <string.h>

#define CHUNK_LEAST ((size_t)1 << 20)

static const uint64_t ones = UINT64_C(0x0101010101010101);

/* Returns the sum of the eight bytes of `flags`, each of which is 0 or 1. */
static inline size_t count_ones(uint64_t flags)
{
    return (size_t)((flags * ones) >> 56);
}

/* Returns a word with 1 in each byte that is 0 in `word`. */
static inline uint64_t zero_bytes(uint64_t word)
{
    const uint64_t low = ones * 0x7f;

    return (~(((word & low) + low) | word | low)) >> 7;
}

/* Returns a word with 1 in each byte that is a digit in `word`, whose bytes
 * must be below 0x80. */
static inline uint64_t digit_bytes(uint64_t word)
{
    uint64_t from = (word + ones * (0x80 - '0')) >> 7;
    uint64_t past = (word + ones * (0x80 - '9' - 1)) >> 7;

    return from & ~past & ones;
}

/* The state while the words of a chunk are counted. */
struct counter {
    struct nw_chunk *chunk;
    size_t words; /* words of the current line */
    bool inside;  /* inside a word */
};

static void end_line(struct counter *counter)
{
    struct nw_chunk *chunk = counter->chunk;
    size_t words = counter->words;

    chunk->lines++;
    chunk->words += words;
    counter->words = 0;
    counter->inside = false;
    if (!words)
        return;
    if (!chunk->filled || words < chunk->fewest)
        chunk->fewest = words;
    if (words > chunk->most)
        chunk->most = words;
    chunk->filled++;
}

/* Counts words and lines character by character. Other characters than digits,
 * blanks and line ends mark the chunk as not plain. */
static void count_slowly(struct counter *counter, const char *at,
                         const char *end)
{
    for (; at < end; at++) {
        bool digit = *at >= '0' && *at <= '9';

        counter->words += digit && !counter->inside;
        counter->inside = digit;
        if (*at == '\n')
            end_line(counter);
        else if (!digit && *at != ' ')
            counter->chunk->plain = false;
    }
}

/* Counts the words in eight characters. Returns false, without counting, if one
 * of them is neither a digit nor a blank. */
static bool count_eight(struct counter *counter, uint64_t word)
{
    uint64_t digits, blanks = zero_bytes(word ^ (ones * ' ')), before;

    if (word & (ones * 0x80))
        return false;
    digits = digit_bytes(word);
    if ((digits | blanks) != ones)
        return false;
    before = digits << 8 | counter->inside;
    counter->words += count_ones(digits & ~before);
    counter->inside = digits >> 56;
    return true;
}

static void count_chunk(void *user, int32_t i)
{
    struct nw_chunk *chunk = &((struct nw_chunks *)user)->chunk[i];
    struct counter counter = {.chunk = chunk};
    const char *at = chunk->begin;

    chunk->plain = true;
    for (; chunk->end - at >= 8; at += 8) {
        uint64_t word;

        memcpy(&word, at, sizeof word);
        if (!count_eight(&counter, le64toh(word)))
            count_slowly(&counter, at, at + 8);
    }
    count_slowly(&counter, at, chunk->end);
    if (chunk->end > chunk->begin && chunk->end[-1] != '\n')
        end_line(&counter);
}

static void count_lines(void *user, int32_t i)
{
    struct nw_chunk *chunk = &((struct nw_chunks *)user)->chunk[i];
    const char *at = chunk->begin;

    for (; chunk->end - at >= 8; at += 8) {
        uint64_t word;

        memcpy(&word, at, sizeof word);
        chunk->lines += count_ones(zero_bytes(word ^ (ones * '\n')));
    }
    for (; at < chunk->end; at++)
        chunk->lines += *at == '\n';
    chunk->lines += chunk->end > chunk->begin && chunk->end[-1] != '\n';
}

/* Cuts the text at line ends into at most NW_CHUNKS_MOST chunks of at least
 * CHUNK_LEAST bytes. */
static void chunks_cut(struct nw_chunks *chunks, const char *begin,
                       const char *end)
{
    size_t size = (size_t)(end - begin) / NW_CHUNKS_MOST + 1;

    chunks->count = 0;
    if (size < CHUNK_LEAST)
        size = CHUNK_LEAST;
    while (begin < end) {
        const char *stop = NULL;

        if ((size_t)(end - begin) > size)
            stop = memchr(begin + size, '\n', (size_t)(end - begin) - size);
        stop = stop ? stop + 1 : end;
        chunks->chunk[chunks->count++] =
            (struct nw_chunk){.begin = begin, .end = stop};
        begin = stop;
    }
}

/* Sets the number of lines before each chunk. */
static void number_lines(struct nw_chunks *chunks)
{
    size_t lines = 0;

    for (int32_t i = 0; i < chunks->count; i++) {
        chunks->chunk[i].first_line = lines;
        lines += chunks->chunk[i].lines;
    }
}

void nw_chunks_cut(struct nw_chunks *chunks, const char *begin, const char *end,
                   int32_t threads)
{
    chunks_cut(chunks, begin, end);
    nw_parallel_run(count_chunk, chunks, chunks->count, threads);
    number_lines(chunks);
}

void nw_chunks_cut_lines(struct nw_chunks *chunks, const char *begin,
                         const char *end, int32_t threads)
{
    chunks_cut(chunks, begin, end);
    nw_parallel_run(count_lines, chunks, chunks->count, threads);
    number_lines(chunks);
}
