/* SPDX-License-Identifier: BSD-3-Clause */
/* A small JSON writer: keys in the order of the calls, integers without
 * exponents. */
#ifndef NW_BASE_JSON_H
#define NW_BASE_JSON_H

#include "base/text.h"

__extension__ typedef unsigned __int128 nw_uint128;

/* Initialise with {.text = &text}. A value in an object has a key; in an array
 * and at the top level, the key is NULL. */
struct nw_json {
    struct nw_text *text;
    int depth;
    bool used[32]; /* whether a value was already written at each depth */
    bool flat[32]; /* whether the object or array at each depth is on one
                      line */
};

void nw_json_object(struct nw_json *json, const char *key);
void nw_json_array(struct nw_json *json, const char *key);
/* Begin an array or object whose values are all on one line. */
void nw_json_flat_object(struct nw_json *json, const char *key);
void nw_json_flat_array(struct nw_json *json, const char *key);
void nw_json_end_object(struct nw_json *json);
void nw_json_end_array(struct nw_json *json);
void nw_json_string(struct nw_json *json, const char *key, const char *value);
void nw_json_integer(struct nw_json *json, const char *key, int64_t value);
void nw_json_unsigned(struct nw_json *json, const char *key, uint64_t value);
/* Writes a 128-bit integer in full. */
void nw_json_wide(struct nw_json *json, const char *key, nw_uint128 value);
/* Writes the shortest number that reads back the same; null if it is not
 * finite. */
void nw_json_number(struct nw_json *json, const char *key, double value);
void nw_json_bool(struct nw_json *json, const char *key, bool value);
void nw_json_null(struct nw_json *json, const char *key);

/* Writes a 128-bit number in decimal; returns out. */
const char *nw_format_wide(nw_uint128 value, char out[40]);

#endif
