/* SPDX-License-Identifier: BSD-3-Clause */
/* Our own small JSON writer: keys in the order given, plain integers. */
#ifndef NW_BASE_JSON_H
#define NW_BASE_JSON_H

#include "base/text.h"

__extension__ typedef unsigned __int128 nw_uint128;

/* Start from {.text = &text}. In an object every value has a key; in an array
 * and at the top the key is NULL. */
struct nw_json {
    struct nw_text *text;
    int depth;
    bool used[32]; /* a value was written at this depth */
    bool flat[32]; /* written on one line */
};

void nw_json_object(struct nw_json *json, const char *key);
void nw_json_array(struct nw_json *json, const char *key);
/* An array, or object, whose values all stand on one line. */
void nw_json_flat_object(struct nw_json *json, const char *key);
void nw_json_flat_array(struct nw_json *json, const char *key);
void nw_json_end_object(struct nw_json *json);
void nw_json_end_array(struct nw_json *json);
void nw_json_string(struct nw_json *json, const char *key, const char *value);
void nw_json_integer(struct nw_json *json, const char *key, int64_t value);
void nw_json_unsigned(struct nw_json *json, const char *key, uint64_t value);
/* 128-bit sums, as a plain integer however long. */
void nw_json_wide(struct nw_json *json, const char *key, nw_uint128 value);
/* The shortest form that reads back the same; null where not finite. */
void nw_json_number(struct nw_json *json, const char *key, double value);
void nw_json_bool(struct nw_json *json, const char *key, bool value);
void nw_json_null(struct nw_json *json, const char *key);

/* Decimal digits of a 128-bit number; `out` holds 40 bytes. Returns out. */
const char *nw_format_wide(nw_uint128 value, char out[40]);

#endif
