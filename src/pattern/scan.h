/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads numbers and words from a text in memory without copying it. Patterns
 * are the largest files that Nodewise reads: one of a million ranks has half a
 * gigabyte. */
#ifndef NW_PATTERN_SCAN_H
#define NW_PATTERN_SCAN_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A cursor over a text. `at` points into the current line, `next` to the next
 * line. A comment goes from the character `comment` to the end of the line. The
 * text is borrowed. The byte at `end` must be a NUL. */
struct nw_scan {
    const char *file; /* for messages; borrowed */
    const char *at, *next, *end;
    int line; /* number of the current line, from 1; 0 before the first */
    char comment;
};

void nw_scan_init(struct nw_scan *scan, const char *file, const char *data,
                  size_t length);

/* Both functions advance to the next line and return false at the end of the
 * text. nw_scan_line skips lines without words; nw_scan_next_line skips none.
 */
bool nw_scan_line(struct nw_scan *scan);
bool nw_scan_next_line(struct nw_scan *scan);
/* Skips blanks and returns true if the current line has no further word. */
bool nw_scan_is_done(struct nw_scan *scan);

/* Returns the length of the line's next word, or 0 at the end of the line.
 * *word points into the text and is not NUL-terminated. */
size_t nw_scan_word(struct nw_scan *scan, const char **word);
bool nw_scan_is(const char *word, size_t length, const char *expected);

/* Reads the next word of the line as a number. If the word is not a number or
 * too large, returns false and leaves the cursor before the word. */
bool nw_scan_u64(struct nw_scan *scan, uint64_t *out);
/* Accepts ranks: numbers from 0 to INT32_MAX - 1. */
bool nw_scan_i32(struct nw_scan *scan, int32_t *out);
/* nw_scan_bytes and nw_scan_double also accept numbers such as 5.59e+05.
 * nw_scan_bytes rounds them to the nearest whole number. */
bool nw_scan_bytes(struct nw_scan *scan, uint64_t *out);
bool nw_scan_double(struct nw_scan *scan, double *out);

/* Advances to the next word of the text, across line ends. Returns false if the
 * text has no further word. */
bool nw_scan_seek(struct nw_scan *scan);

/* Fails with NW_EFORMAT; the message begins with "file:line: " of the current
 * line. */
nw_status nw_scan_fail(const struct nw_scan *scan, const char *format, ...)
    NW_PRINTF(2, 3);
/* Fails with the message "expected WHAT, not 'word'", where word is the next
 * word of the line. */
nw_status nw_scan_expected(struct nw_scan *scan, const char *what);

#endif
