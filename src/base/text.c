/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing strings and the conversion of words to numbers, which all readers and
 * writers of text use. */
#include "base/text.h"
#include "base/array.h"
#include "base/c_locale.h"
#include "base/status.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nw_text_add_bytes(struct nw_text *text, const char *bytes, size_t count)
{
    if (text->failed)
        return;
    if (text->capacity <= text->length + count &&
        nw_grow(&text->data, &text->capacity, text->length + count + 1, 1)) {
        text->failed = true;
        return;
    }
    memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void nw_text_add(struct nw_text *text, const char *words)
{
    nw_text_add_bytes(text, words, strlen(words));
}

void nw_text_add_shown(struct nw_text *text, const char *words)
{
    while (*words) {
        size_t length = nw_text_control(words);

        nw_text_add_bytes(text, length ? "?" : words, 1);
        words += length ? length : 1;
    }
}

void nw_text_add_quoted(struct nw_text *text, const char *word)
{
    nw_text_add(text, "'");
    for (; *word; word++)
        if (*word == '\'')
            nw_text_add(text, "'\\''");
        else
            nw_text_add_bytes(text, word, 1);
    nw_text_add(text, "'");
}

void nw_text_add_glob(struct nw_text *text, const char *words)
{
    for (; *words; words++) {
        if (strchr("*?[]\\", *words))
            nw_text_add(text, "\\");
        nw_text_add_bytes(text, words, 1);
    }
}

const char *nw_by_count(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

const char *nw_plural(uint64_t count)
{
    return nw_by_count(count, "", "s");
}

void nw_text_add_word(struct nw_text *text, const char *word)
{
    size_t plain = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                                "UVWXYZ0123456789_-+=./:,@%^");

    if (*word && !word[plain])
        nw_text_add(text, word);
    else
        nw_text_add_quoted(text, word);
}

void nw_text_add_variable(struct nw_text *text, const char *variable)
{
    size_t name = strcspn(variable, "=");

    nw_text_add_bytes(text, variable, name);
    nw_text_add(text, "=");
    nw_text_add_word(text, variable + name + 1);
}

char *nw_put_u64(char *out, uint64_t value)
{
    char digits[20];
    int count = 0;

    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count)
        *out++ = digits[--count];
    return out;
}

void nw_text_add_number(struct nw_text *text, int64_t number)
{
    char digits[24], *at = digits;

    if (number < 0)
        *at++ = '-';
    at = nw_put_u64(at, number < 0 ? -(uint64_t)number : (uint64_t)number);
    nw_text_add_bytes(text, digits, (size_t)(at - digits));
}

void nw_text_format(struct nw_text *text, const char *format, ...)
{
    char near[256], *far = NULL;
    va_list args;
    int length;

    va_start(args, format);
    length = nw_vsnprintf(near, sizeof near, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof near) {
        nw_text_add_bytes(text, near, (size_t)length);
        return;
    }
    va_start(args, format);
    length = nw_vasprintf(&far, format, args);
    va_end(args);
    if (length < 0) {
        text->failed = true;
        return;
    }
    nw_text_add_bytes(text, far, (size_t)length);
    free(far);
}

nw_status nw_text_take(struct nw_text *text, char **out)
{
    char *data = text->data;

    if (text->failed) {
        nw_text_fini(text);
        return nw_fail(NW_ENOMEM, "out of memory");
    }
    *text = (struct nw_text){0};
    if (!data)
        return nw_strdup("", out);
    *out = data;
    return NW_OK;
}

nw_status nw_text_take_if(nw_status status, struct nw_text *text, char **out)
{
    if (!status)
        return nw_text_take(text, out);
    nw_text_fini(text);
    return status;
}

void nw_text_fini(struct nw_text *text)
{
    free(text->data);
    *text = (struct nw_text){0};
}

/* Checks that a word has only the characters of a plain number: strtod and
 * strtol also accept blanks, signs, hexadecimal numbers and names. */
static bool is_plain_number(const char *word, bool sign, bool fraction)
{
    const char *allowed = fraction ? "0123456789.eE+-" : "0123456789";

    if (sign && *word == '-')
        word++;
    if (!isdigit((unsigned char)*word) && !(fraction && *word == '.'))
        return false;
    return word[strspn(word, allowed)] == '\0';
}

bool nw_parse_u64(const char *word, uint64_t *out)
{
    unsigned long long value;

    if (!is_plain_number(word, false, false))
        return false;
    errno = 0;
    value = strtoull(word, NULL, 10);
    if (errno)
        return false;
    *out = value;
    return true;
}

bool nw_parse_i64(const char *word, int64_t *out)
{
    long long value;

    if (!is_plain_number(word, true, false))
        return false;
    errno = 0;
    value = strtoll(word, NULL, 10);
    if (errno)
        return false;
    *out = value;
    return true;
}

bool nw_parse_i32(const char *word, int32_t *out)
{
    int64_t value;

    if (!nw_parse_i64(word, &value) || value < INT32_MIN || value > INT32_MAX)
        return false;
    *out = (int32_t)value;
    return true;
}

bool nw_parse_double(const char *word, double *out)
{
    char *end;
    double value;

    if (!is_plain_number(word, true, true))
        return false;
    value = nw_strtod(word, &end);
    if (*end || !isfinite(value))
        return false;
    *out = value;
    return true;
}

bool nw_parse_bytes(const char *word, uint64_t *out)
{
    double value;

    if (nw_parse_u64(word, out))
        return true;
    /* a plain integer that failed is too large, not a fraction */
    if (!strpbrk(word, ".eE") || !nw_parse_double(word, &value))
        return false;
    if (value < 0 || nearbyint(value) >= 0x1p64)
        return false;
    *out = (uint64_t)nearbyint(value);
    return true;
}

static bool take_prefix(const char **at, double *factor)
{
    static const char letters[] = "kMGTP";
    const char *found;

    if (**at == 'K') { /* "K" for "k" is common, so it is allowed */
        *factor = (*at)[1] == 'i' ? 1024.0 : 1000.0;
        *at += (*at)[1] == 'i' ? 2 : 1;
        return true;
    }
    found = **at ? strchr(letters, **at) : NULL;
    if (!found)
        return false;
    *factor =
        pow((*at)[1] == 'i' ? 1024.0 : 1000.0, (double)(found - letters + 1));
    *at += (*at)[1] == 'i' ? 2 : 1;
    return true;
}

static bool take_time_prefix(const char **at, double *factor)
{
    static const struct {
        const char *text;
        double factor;
    } prefixes[] = {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strcmp(*at, prefixes[i].text)) {
            *factor = prefixes[i].factor;
            *at += strlen(*at) - 1;
            return true;
        }
    return false;
}

static bool unit_factor(const char *at, enum nw_unit unit, double *factor)
{
    *factor = 1.0;
    if (!*at)
        return true;
    if (unit == NW_UNIT_TIME) {
        take_time_prefix(&at, factor);
        return !strcmp(at, "s");
    }
    take_prefix(&at, factor);
    if (unit == NW_UNIT_BYTES)
        return !*at || !strcmp(at, "B");
    if (!strcmp(at, "bit/s") || !strcmp(at, "b/s")) {
        *factor /= 8;
        return true;
    }
    return !strcmp(at, "B/s");
}

bool nw_parse_quantity(const char *word, enum nw_unit unit, double *out)
{
    char number[64];
    size_t length = strspn(word, "0123456789.");
    double value, factor;

    /* an exponent, but not the E of a unit */
    if (length && (word[length] == 'e' || word[length] == 'E')) {
        size_t sign = length + 1 + (strspn(word + length + 1, "+-") == 1);
        size_t digits = strspn(word + sign, "0123456789");

        if (digits)
            length = sign + digits;
    }
    if (!length || length >= sizeof number)
        return false;
    memcpy(number, word, length);
    number[length] = '\0';
    word += length;
    while (*word == ' ')
        word++;
    if (!nw_parse_double(number, &value) || !unit_factor(word, unit, &factor))
        return false;
    value *= factor;
    if (!isfinite(value))
        return false;
    *out = value;
    return true;
}

bool nw_parse_size(const char *word, uint64_t *out)
{
    double value;

    if (nw_parse_bytes(word, out))
        return true;
    if (!nw_parse_quantity(word, NW_UNIT_BYTES, &value) || value >= 0x1p63)
        return false;
    *out = (uint64_t)(value + 0.5);
    return true;
}

bool nw_parse_duration(const char *word, double *out)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"m", 60}, {"min", 60}, {"h", 3600}};
    char number[64];
    size_t length = strspn(word, "0123456789.");
    double value;

    for (size_t i = 0; i < 3 && length && length < sizeof number; i++)
        if (!strcmp(word + length, units[i].name)) {
            memcpy(number, word, length);
            number[length] = '\0';
            if (!nw_parse_double(number, &value))
                return false;
            *out = value * units[i].seconds;
            return isfinite(*out);
        }
    return nw_parse_quantity(word, NW_UNIT_TIME, out);
}

static const char *format_time(double value, char *out, size_t size)
{
    static const char *const names[] = {"s", "ms", "us", "ns"};
    size_t i = 0;

    while (i < 3 && value > 0 && value < 0.9995) {
        value *= 1e3;
        i++;
    }
    nw_snprintf(out, size, "%.3g %s", value, names[i]);
    return out;
}

const char *nw_format_quantity(double value, enum nw_unit unit, char *out,
                               size_t size)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;

    if (unit == NW_UNIT_TIME && value < 999.5)
        return format_time(value, out, size);
    if (unit == NW_UNIT_TIME) {
        nw_snprintf(out, size, "%.0f s", value);
        return out;
    }
    while (i < 6 && value >= 999.5) {
        value /= 1e3;
        i++;
    }
    nw_snprintf(out, size, "%.3g %s%s", value, prefixes[i],
                unit == NW_UNIT_BYTES ? "B" : "B/s");
    return out;
}

bool nw_text_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length >= tail && !strcmp(text + length - tail, end);
}
