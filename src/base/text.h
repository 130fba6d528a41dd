/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing strings, and words turned into numbers without surprises. */
#ifndef NW_BASE_TEXT_H
#define NW_BASE_TEXT_H

#include "base/utf8.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing string. Start from {0}; after a failed allocation it stays valid,
 * keeps `failed`, and nw_text_take answers NW_ENOMEM: writers need not check
 * each call. */
struct nw_text {
    char *data; /* NUL-terminated once anything was added, else NULL */
    size_t length, capacity;
    bool failed;
};

void nw_text_add(struct nw_text *text, const char *words);
/* Writes decimal digits to `out` (at least 20 bytes); returns the end of
 * them. */
char *nw_put_u64(char *out, uint64_t value);
/* In decimal; for files of many numbers, where formats take long. */
void nw_text_add_number(struct nw_text *text, int64_t number);
void nw_text_add_bytes(struct nw_text *text, const char *bytes, size_t count);
void nw_text_format(struct nw_text *text, const char *format, ...)
    NW_PRINTF(2, 3);
/* Words from anywhere, for a terminal: control characters become '?'. */
void nw_text_add_shown(struct nw_text *text, const char *words);
/* One word for sh in single quotes, whatever is in it; the same, quoted only
 * where it must be; and "NAME=VALUE" ahead of a command, its value so. */
void nw_text_add_quoted(struct nw_text *text, const char *word);
void nw_text_add_word(struct nw_text *text, const char *word);
void nw_text_add_variable(struct nw_text *text, const char *variable);
/* Words that glob(3) takes literally: wildcards and backslashes are quoted. */
void nw_text_add_glob(struct nw_text *text, const char *words);
/* The whole string to the caller, who frees it; *text is empty again. */
NW_MUST_CHECK nw_status nw_text_take(struct nw_text *text, char **out);
void nw_text_fini(struct nw_text *text);

/* The whole word must be the number: no sign where unsigned, no blanks, no
 * octal, no hexadecimal, no NaN, no infinity. False without touching *out
 * where it is not, or does not fit. */
bool nw_parse_u64(const char *word, uint64_t *out);
bool nw_parse_i64(const char *word, int64_t *out);
bool nw_parse_i32(const char *word, int32_t *out);
bool nw_parse_double(const char *word, double *out);
/* Decimal or exponent form, rounded to the nearest whole byte count. */
bool nw_parse_bytes(const char *word, uint64_t *out);

/* The same, or with a unit: "64k", "1MiB". */
bool nw_parse_size(const char *word, uint64_t *out);

enum nw_unit { NW_UNIT_BANDWIDTH, NW_UNIT_TIME, NW_UNIT_BYTES };

/* A figure with an optional unit, in bytes/s ("12.5GB/s", "100Gbit/s"),
 * seconds ("1.2us") or bytes ("1MiB", "64k"); a bare number is in the base
 * unit. Decimal prefixes k M G T, binary Ki Mi Gi Ti. Not negative. */
bool nw_parse_quantity(const char *word, enum nw_unit unit, double *out);

/* A time in seconds: as nw_parse_quantity has it, or with m, min or h. */
bool nw_parse_duration(const char *word, double *out);

/* "12.5 GB/s", "1.2 us", "3.4 MB": three significant digits. Returns out. */
const char *nw_format_quantity(double value, enum nw_unit unit, char *out,
                               size_t size);

#endif
