/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing strings, and strict conversion of words to numbers. */
#ifndef NW_BASE_TEXT_H
#define NW_BASE_TEXT_H

#include "base/utf8.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing string. Initialise with {0}. After a failed allocation it stays
 * valid and `failed` is set; nw_text_take then returns NW_ENOMEM, so that
 * callers need not check each call. */
struct nw_text {
    char *data; /* NUL-terminated; NULL until something is added */
    size_t length, capacity;
    bool failed;
};

void nw_text_add(struct nw_text *text, const char *words);
/* Writes decimal digits to `out` (at least 20 bytes); returns the position
 * after the last digit. */
char *nw_put_u64(char *out, uint64_t value);
/* Appends a decimal number, faster than nw_text_format. */
void nw_text_add_number(struct nw_text *text, int64_t number);
void nw_text_add_bytes(struct nw_text *text, const char *bytes, size_t count);
void nw_text_format(struct nw_text *text, const char *format, ...)
    NW_PRINTF(2, 3);
/* Words of a sentence about a number: nw_by_count returns `one` if the count is
 * 1, else `many`; nw_plural returns the ending of a noun, "" or "s". */
const char *nw_by_count(uint64_t count, const char *one, const char *many);
const char *nw_plural(uint64_t count);
/* Appends words for a terminal: replaces control characters by '?'. */
void nw_text_add_shown(struct nw_text *text, const char *words);
/* nw_text_add_quoted appends one word for sh in single quotes. nw_text_add_word
 * does so only if the word needs quotes. nw_text_add_variable appends
 * "NAME=VALUE" with its value quoted if needed, for use before a command. */
void nw_text_add_quoted(struct nw_text *text, const char *word);
void nw_text_add_word(struct nw_text *text, const char *word);
void nw_text_add_variable(struct nw_text *text, const char *variable);
/* Appends words that glob(3) takes literally: quotes wildcards and
 * backslashes. */
void nw_text_add_glob(struct nw_text *text, const char *words);
/* Stores the string in *out, which the caller frees; *text is empty again. */
NW_MUST_CHECK nw_status nw_text_take(struct nw_text *text, char **out);
/* Like nw_text_take if `status` is NW_OK; otherwise empties *text and returns
 * `status`. */
NW_MUST_CHECK nw_status nw_text_take_if(nw_status status, struct nw_text *text,
                                        char **out);
void nw_text_fini(struct nw_text *text);

static inline bool nw_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Convert a whole word to a number. Signs of unsigned numbers, blanks, octal,
 * hexadecimal, NaN and infinity are errors, and so are numbers that do not fit.
 * Return false, with *out unchanged, on an error. */
bool nw_parse_u64(const char *word, uint64_t *out);
bool nw_parse_i64(const char *word, int64_t *out);
bool nw_parse_i32(const char *word, int32_t *out);
bool nw_parse_double(const char *word, double *out);
/* Converts a decimal or exponential number, rounded to a whole number of
 * bytes. */
bool nw_parse_bytes(const char *word, uint64_t *out);

/* Like nw_parse_bytes, also with a unit of nw_parse_quantity: "64k" (64000),
 * "1MiB" (1048576). */
bool nw_parse_size(const char *word, uint64_t *out);

enum nw_unit { NW_UNIT_BANDWIDTH, NW_UNIT_TIME, NW_UNIT_BYTES };

/* Converts a quantity with an optional unit to bytes/s ("12.5GB/s",
 * "100Gbit/s"), seconds ("1.2us") or bytes ("1MiB", "64k"). Without a unit, the
 * number is in bytes/s, seconds or bytes. The decimal prefixes are k M G T P,
 * the binary ones Ki Mi Gi Ti Pi. A negative number is an error. */
bool nw_parse_quantity(const char *word, enum nw_unit unit, double *out);

/* Converts a time to seconds, like nw_parse_quantity, also with the units m,
 * min and h. */
bool nw_parse_duration(const char *word, double *out);

/* Writes a value with a unit, such as "12.5 GB/s", "1.2 us" or "3.4 MB", with
 * three significant digits. Returns out. */
const char *nw_format_quantity(double value, enum nw_unit unit, char *out,
                               size_t size);

#endif
