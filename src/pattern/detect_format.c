/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the format of a file whose path has no prefix by its first line and
 * shape, then by its suffix. A file that matches several formats is an error
 * unless its suffix belongs to exactly one of them. */
#include "base/file.h"
#include "base/status.h"
#include "pattern/chunks.h"
#include "pattern/format.h"

#include <string.h>
#include <strings.h>

static void note_first(struct nw_shape *shape, struct nw_scan scan)
{
    uint64_t number;

    shape->first = scan.at;
    shape->first_length = (size_t)(scan.next - scan.at);
    while (shape->number_count < 4 && nw_scan_u64(&scan, &number))
        shape->number[shape->number_count++] = (size_t)number;
}

static size_t note_words(struct nw_shape *shape, struct nw_scan scan)
{
    const char *word;
    size_t words = 0;

    for (; nw_scan_word(&scan, &word); words++)
        shape->numeric &= strchr("0123456789.+-", *word) != NULL;
    if (!words)
        return 0;
    shape->lines++;
    shape->words += words;
    shape->most = words > shape->most ? words : shape->most;
    shape->fewest =
        words < shape->fewest || !shape->fewest ? words : shape->fewest;
    return words;
}

static void add_chunk(struct nw_shape *shape, const struct nw_chunk *chunk)
{
    shape->later_lines += chunk->lines;
    shape->later_filled += chunk->filled;
    shape->lines += chunk->filled;
    shape->words += chunk->words;
    if (!chunk->filled)
        return;
    shape->most = chunk->most > shape->most ? chunk->most : shape->most;
    shape->fewest =
        chunk->fewest < shape->fewest ? chunk->fewest : shape->fewest;
}

/* Describes the lines after the first one if all are plain (chunks.h), with
 * several threads. Returns false if they are not plain. */
static bool note_plain(struct nw_shape *shape, const struct nw_scan *scan,
                       int32_t threads)
{
    struct nw_chunks chunks;

    nw_chunks_cut(&chunks, scan->next, scan->end, threads);
    for (int32_t i = 0; i < chunks.count; i++)
        if (!chunks.chunk[i].plain)
            return false;
    for (int32_t i = 0; i < chunks.count; i++)
        add_chunk(shape, &chunks.chunk[i]);
    return true;
}

static void take_shape(const struct nw_pattern_text *text,
                       struct nw_shape *shape)
{
    struct nw_scan scan;

    *shape = (struct nw_shape){.numeric = true};
    nw_scan_init(&scan, text->file, text->data, text->length);
    /* the remaining lines are not needed if a word is not a number */
    while (shape->numeric && nw_scan_next_line(&scan)) {
        bool banner = !shape->first && !strncasecmp(scan.at, "%%M", 3);
        size_t words;

        if (*scan.at == '%' && !banner)
            continue;
        words = note_words(shape, scan);
        if (shape->first) {
            shape->later_lines++;
            shape->later_filled += words > 0;
        } else if (words) {
            shape->first_words = words;
            note_first(shape, scan);
            if (shape->numeric && note_plain(shape, &scan, text->threads))
                return;
        }
    }
}

/* Whether the file name ends with one of the suffixes, ignoring .zst. */
static bool has_suffix(const char *file, const char *suffixes)
{
    size_t length = strlen(file);

    if (nw_text_ends_with(file, ".zst"))
        length -= 4;
    while (suffixes && *suffixes) {
        size_t size = strcspn(suffixes, " ");

        if (length > size && !strncmp(file + length - size, suffixes, size))
            return true;
        suffixes += size + (suffixes[size] == ' ');
    }
    return false;
}

static nw_status fail_several(const struct nw_pattern_text *text,
                              const bool *fits)
{
    struct nw_text names = {0};
    nw_status status;

    for (size_t i = 0; i < nw_pattern_format_count; i++)
        if (fits[i])
            nw_text_format(&names, "%s%s:", names.length ? " or " : "",
                           nw_pattern_formats[i].name);
    status = nw_fail(NW_EFORMAT,
                     "%s:1: fits more than one format: name it by the prefix "
                     "%s",
                     text->file, names.data ? names.data : "");
    nw_text_fini(&names);
    return status;
}

/* Returns the format whose suffix the file name has. Returns NULL if no format
 * uses the suffix, and for .dat, which files of several formats have. */
static const struct nw_pattern_format *by_suffix(const char *file)
{
    for (size_t i = 0; i < nw_pattern_format_count; i++)
        if (has_suffix(file, nw_pattern_formats[i].suffixes))
            return has_suffix(file, ".dat") ? NULL : &nw_pattern_formats[i];
    return NULL;
}

/* Fails if the file's suffix belongs to another format than its contents. This
 * catches truncated files: for example, a few rows of a matrix may look like a
 * list. */
static nw_status check_suffix(const struct nw_pattern_text *text,
                              const struct nw_pattern_format *format)
{
    const struct nw_pattern_format *named = by_suffix(text->file);

    if (!named || named == format)
        return NW_OK;
    return nw_fail(
        NW_EFORMAT,
        "%s:1: the contents look like %s:, the name like %s: put one "
        "of these prefixes before the name",
        text->file, format->name, named->name);
}

static nw_status fail_unknown(const struct nw_pattern_text *text)
{
    static const char ours[] = "nodewise";
    int length = (int)strcspn(text->data, "\r\n");

    if (!strncmp(text->data, ours, strlen(ours)))
        return nw_fail(
            NW_EFORMAT,
            "%s:1: this file begins with '%.*s': it is not a pattern",
            text->file, length > 60 ? 60 : length, text->data);
    if (memchr(text->data, ',', (size_t)length))
        return nw_fail(NW_EFORMAT,
                       "%s:1: tables with commas (CSV) are written for "
                       "spreadsheets and not read; give lines 'src dst bytes' "
                       "with blanks, as list:",
                       text->file);
    return nw_fail(NW_EFORMAT,
                   "%s:1: not a pattern of a format that is known by its first "
                   "line; name the format by a prefix such as metis: or list:",
                   text->file);
}

nw_status nw_pattern_detect(const struct nw_pattern_text *text,
                            const struct nw_pattern_format **out)
{
    struct nw_shape shape;
    bool fits[32] = {false}, named[32] = {false};
    size_t fit_count = 0, named_count = 0;

    take_shape(text, &shape);
    for (size_t i = 0; i < nw_pattern_format_count; i++) {
        const struct nw_pattern_format *format = &nw_pattern_formats[i];

        fits[i] = format->fits && shape.first && format->fits(&shape);
        named[i] = fits[i] && has_suffix(text->file, format->suffixes);
        fit_count += fits[i];
        named_count += named[i];
    }
    for (size_t i = 0; i < nw_pattern_format_count; i++)
        if ((fit_count == 1 && fits[i]) || (named_count == 1 && named[i])) {
            *out = &nw_pattern_formats[i];
            return shape.numeric ? check_suffix(text, *out) : NW_OK;
        }
    if (fit_count)
        return fail_several(text, fits);
    /* the reader of the suffix's format reports the error */
    *out = by_suffix(text->file);
    return *out ? NW_OK : fail_unknown(text);
}
