/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and words out of a text in memory, without copies: patterns are the
 * largest files we read, a million ranks are half a gigabyte of lines. */
#ifndef NW_PATTERN_SCAN_H
#define NW_PATTERN_SCAN_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A cursor: `at` stands inside the current line. The text is borrowed and must
 * end in a NUL that is not counted. */
struct nw_scan {
    const char *file; /* for messages; borrowed */
    const char *at, *next, *end;
    int line; /* number of the current line, from 1; 0 before the first */
    char comment;
};

void nw_scan_init(struct nw_scan *scan, const char *file, const char *data,
                  size_t length);

/* To the next line; false at the end of the text. The first skips lines
 * without words, the second none. */
bool nw_scan_line(struct nw_scan *scan);
bool nw_scan_next_line(struct nw_scan *scan);
/* True where the current line holds no further word. */
bool nw_scan_is_done(struct nw_scan *scan);

/* The next word of the line, borrowed, not NUL-terminated; 0 at its end. */
size_t nw_scan_word(struct nw_scan *scan, const char **word);
bool nw_scan_is(const char *word, size_t length, const char *expected);

/* Reads the next word of the line as a number. If the word is not a number or
 * too large, returns false and leaves the cursor before the word. */
bool nw_scan_u64(struct nw_scan *scan, uint64_t *out);
bool nw_scan_i32(struct nw_scan *scan, int32_t *out);    /* not negative */
bool nw_scan_bytes(struct nw_scan *scan, uint64_t *out); /* 5.59e+05 too */
bool nw_scan_double(struct nw_scan *scan, double *out);

/* As the above, with lines that end passed over: numbers laid out freely. */
bool nw_scan_seek(struct nw_scan *scan);

/* NW_EFORMAT "file:line: ..." for the current line. */
nw_status nw_scan_fail(const struct nw_scan *scan, const char *format, ...)
    NW_PRINTF(2, 3);
/* "expected WHAT, not 'word'" for the word that stands next. */
nw_status nw_scan_expected(struct nw_scan *scan, const char *what);

#endif
