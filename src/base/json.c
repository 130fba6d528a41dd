/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes JSON text, indented by two spaces, as the calls come. */
#include "base/json.h"
#include "base/c_locale.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* File names may hold any bytes, but JSON is UTF-8: invalid bytes become
 * U+FFFD. */
static void add_quoted(struct nw_text *text, const char *words)
{
    size_t length;

    nw_text_add(text, "\"");
    for (; *words; words += length) {
        unsigned char c = (unsigned char)*words;

        length = nw_text_character(words);
        if (c == '"' || c == '\\')
            nw_text_format(text, "\\%c", c);
        else if (c < ' ')
            nw_text_format(text, "\\u%04x", c);
        else if (length)
            nw_text_add_bytes(text, words, length);
        else
            nw_text_add(text, "\xef\xbf\xbd");
        length += !length;
    }
    nw_text_add(text, "\"");
}

static void json_new_line(struct nw_json *json)
{
    nw_text_add(json->text, "\n");
    for (int i = 0; i < json->depth; i++)
        nw_text_add(json->text, "  ");
}

static void begin_value(struct nw_json *json, const char *key)
{
    int depth = json->depth;

    if (json->used[depth])
        nw_text_add(json->text, json->flat[depth] ? ", " : ",");
    json->used[depth] = true;
    if (depth && !json->flat[depth])
        json_new_line(json);
    if (!key)
        return;
    add_quoted(json->text, key);
    nw_text_add(json->text, ": ");
}

static void open_level(struct nw_json *json, const char *key,
                       const char *bracket, bool flat)
{
    bool inherited = json->flat[json->depth];

    begin_value(json, key);
    nw_text_add(json->text, bracket);
    json->depth++;
    assert(json->depth < 32);
    json->used[json->depth] = false;
    json->flat[json->depth] = flat || inherited;
}

static void close_level(struct nw_json *json, const char *bracket)
{
    bool lines = json->used[json->depth] && !json->flat[json->depth];

    assert(json->depth > 0);
    json->depth--;
    if (lines)
        json_new_line(json);
    nw_text_add(json->text, bracket);
    if (!json->depth)
        nw_text_add(json->text, "\n");
}

void nw_json_object(struct nw_json *json, const char *key)
{
    open_level(json, key, "{", false);
}

void nw_json_array(struct nw_json *json, const char *key)
{
    open_level(json, key, "[", false);
}

void nw_json_flat_array(struct nw_json *json, const char *key)
{
    open_level(json, key, "[", true);
}

void nw_json_flat_object(struct nw_json *json, const char *key)
{
    open_level(json, key, "{", true);
}

void nw_json_end_object(struct nw_json *json)
{
    close_level(json, "}");
}

void nw_json_end_array(struct nw_json *json)
{
    close_level(json, "]");
}

void nw_json_string(struct nw_json *json, const char *key, const char *value)
{
    begin_value(json, key);
    add_quoted(json->text, value);
}

void nw_json_integer(struct nw_json *json, const char *key, int64_t value)
{
    begin_value(json, key);
    nw_text_format(json->text, "%" PRId64, value);
}

void nw_json_unsigned(struct nw_json *json, const char *key, uint64_t value)
{
    begin_value(json, key);
    nw_text_format(json->text, "%" PRIu64, value);
}

const char *nw_format_wide(nw_uint128 value, char out[40])
{
    char digits[40], *at = digits + sizeof digits - 1;

    *at = '\0';
    do
        *--at = (char)('0' + (int)(value % 10));
    while (value /= 10);
    memcpy(out, at, strlen(at) + 1);
    return out;
}

void nw_json_wide(struct nw_json *json, const char *key, nw_uint128 value)
{
    char digits[40];

    begin_value(json, key);
    nw_text_add(json->text, nw_format_wide(value, digits));
}

void nw_json_number(struct nw_json *json, const char *key, double value)
{
    char digits[32];

    if (!isfinite(value)) {
        nw_json_null(json, key);
        return;
    }
    begin_value(json, key);
    for (int precision = 15; precision <= 17; precision++) {
        nw_snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (nw_strtod(digits, NULL) == value)
            break;
    }
    nw_text_add(json->text, digits);
}

void nw_json_bool(struct nw_json *json, const char *key, bool value)
{
    begin_value(json, key);
    nw_text_add(json->text, value ? "true" : "false");
}

void nw_json_null(struct nw_json *json, const char *key)
{
    begin_value(json, key);
    nw_text_add(json->text, "null");
}
