/* SPDX-License-Identifier: BSD-3-Clause */
/* The scanner of all pattern readers: lines, words, numbers, errors. */
#include "pattern/scan.h"

#include "base/c_locale.h"
#include "base/status.h"
#include "base/text.h"

#include <stdarg.h>
#include <string.h>

#define MAX_NUMBER 64 /* longer words are not numbers */

void nw_scan_init(struct nw_scan *scan, const char *file, const char *data,
                  size_t length)
{
    *scan = (struct nw_scan){.file = file,
                             .at = data,
                             .next = data,
                             .end = data + length,
                             .comment = '#'};
}

static bool ends_line(const struct nw_scan *scan)
{
    return *scan->at == '\n' || *scan->at == scan->comment ||
           scan->at == scan->end;
}

bool nw_scan_is_done(struct nw_scan *scan)
{
    while (nw_is_blank(*scan->at))
        scan->at++;
    return ends_line(scan);
}

bool nw_scan_next_line(struct nw_scan *scan)
{
    const char *stop;

    if (scan->next == scan->end)
        return false;
    scan->at = scan->next;
    stop = memchr(scan->at, '\n', (size_t)(scan->end - scan->at));
    scan->next = stop ? stop + 1 : scan->end;
    scan->line++;
    return true;
}

bool nw_scan_line(struct nw_scan *scan)
{
    while (nw_scan_next_line(scan))
        if (!nw_scan_is_done(scan))
            return true;
    return false;
}

bool nw_scan_seek(struct nw_scan *scan)
{
    return (scan->line && !nw_scan_is_done(scan)) || nw_scan_line(scan);
}

size_t nw_scan_word(struct nw_scan *scan, const char **word)
{
    nw_scan_is_done(scan);
    *word = scan->at;
    while (!ends_line(scan) && !nw_is_blank(*scan->at))
        scan->at++;
    return (size_t)(scan->at - *word);
}

bool nw_scan_is(const char *word, size_t length, const char *expected)
{
    return strlen(expected) == length && !memcmp(word, expected, length);
}

bool nw_scan_u64(struct nw_scan *scan, uint64_t *out)
{
    uint64_t value = 0;
    const char *start, *digit;

    nw_scan_is_done(scan);
    start = digit = scan->at;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        uint64_t unit = (uint64_t)(*digit - '0');

        if (value > (UINT64_MAX - unit) / 10)
            return false;
        value = value * 10 + unit;
    }
    scan->at = digit;
    if (digit == start || !(nw_is_blank(*digit) || ends_line(scan))) {
        scan->at = start;
        return false;
    }
    *out = value;
    return true;
}

bool nw_scan_i32(struct nw_scan *scan, int32_t *out)
{
    const char *start = scan->at;
    uint64_t value;

    if (!nw_scan_u64(scan, &value))
        return false;
    if (value >= INT32_MAX) {
        scan->at = start;
        return false;
    }
    *out = (int32_t)value;
    return true;
}

/* Copies the next word, with a NUL for strtod and similar functions, and moves
 * the cursor behind it. Returns false if the word is too long for a number. */
static bool copy_word(struct nw_scan *scan, char out[MAX_NUMBER])
{
    const char *word;
    size_t length = nw_scan_word(scan, &word);

    if (!length || length >= MAX_NUMBER)
        return false;
    memcpy(out, word, length);
    out[length] = '\0';
    return true;
}

bool nw_scan_bytes(struct nw_scan *scan, uint64_t *out)
{
    const char *start = scan->at;
    char word[MAX_NUMBER];

    if (nw_scan_u64(scan, out))
        return true;
    if (copy_word(scan, word) && nw_parse_bytes(word, out))
        return true;
    scan->at = start;
    return false;
}

bool nw_scan_double(struct nw_scan *scan, double *out)
{
    const char *start = scan->at;
    char word[MAX_NUMBER];

    if (copy_word(scan, word) && nw_parse_double(word, out))
        return true;
    scan->at = start;
    return false;
}

nw_status nw_scan_fail(const struct nw_scan *scan, const char *format, ...)
{
    nw_status status;
    va_list args;

    va_start(args, format);
    status =
        nw_fail_line(scan->file, scan->line ? scan->line : 1, format, args);
    va_end(args);
    return status;
}

nw_status nw_scan_expected(struct nw_scan *scan, const char *what)
{
    const char *word;
    size_t length = nw_scan_word(scan, &word);

    if (!length)
        return nw_scan_fail(scan, "expected %s, the line ends", what);
    if (length > 40)
        length = nw_text_cut(word, 40);
    return nw_scan_fail(scan, "expected %s, not '%.*s'", what, (int)length,
                        word);
}
