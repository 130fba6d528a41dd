/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cuts large texts of whole numbers at line ends into chunks that several
 * threads read in parallel. The threads read only plain text: digits, single
 * blanks, line ends. The line-by-line readers handle all other texts, and
 * report comments and errors.
 */
#ifndef NW_PATTERN_CHUNKS_H
#define NW_PATTERN_CHUNKS_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NW_CHUNKS_MOST 256

/* A part of a text that consists of whole lines. */
struct nw_chunk {
    const char *begin, *end;
    size_t lines, words;         /* a last line without '\n' counts */
    size_t filled, fewest, most; /* lines with words; smallest and largest
                                    number of words in such a line */
    size_t first_line;           /* number of lines before this chunk */
    bool plain;                  /* only digits, blanks and line ends */
};

struct nw_chunks {
    int32_t count;
    struct nw_chunk chunk[NW_CHUNKS_MOST];
};

/* Both functions cut the text from `begin`, which must be the start of a line,
 * into chunks. The first function counts lines and words of each chunk, the
 * second only lines. */
void nw_chunks_cut(struct nw_chunks *chunks, const char *begin, const char *end,
                   int32_t threads);
void nw_chunks_cut_lines(struct nw_chunks *chunks, const char *begin,
                         const char *end, int32_t threads);

/* Reads 1 to 19 digits at *at as a number and moves *at behind them. Returns
 * false and does not move *at if the text there has more digits or does not
 * begin with a digit. It must end in a NUL. */
static inline bool nw_take_number(const char **at, uint64_t *out)
{
    const char *digit = *at;
    uint64_t value = 0;

    for (; (unsigned char)(*digit - '0') < 10; digit++)
        value = value * 10 + (uint64_t)(*digit - '0');
    if (digit == *at || digit - *at > 19)
        return false;
    *at = digit;
    *out = value;
    return true;
}

#endif
