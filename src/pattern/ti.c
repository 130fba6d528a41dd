/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads SimGrid's time-independent traces: one action per line, "rank name
 * words". The input is a folder of such files, a file of all ranks, or a file
 * that lists the files. Ranks in point-to-point actions are those of
 * MPI_COMM_WORLD. */
#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "pattern/ti.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The texts of all trace files. */
struct traces {
    char **path;
    const char **text;
    size_t *length;
    size_t count, capacity;
    const char *name; /* input name for errors that concern all files */
    bool lent;        /* the caller owns the first text */
    uint64_t bytes;
    int32_t ranks;
};

/* Grows the arrays for one more trace, so that ti_add() cannot fail. */
static nw_status ti_grow(struct traces *traces)
{
    size_t capacity[3] = {traces->capacity, traces->capacity, traces->capacity};
    size_t n = traces->count;
    nw_status status;

    status = nw_grow(&traces->path, &capacity[0], n + 1, sizeof(char *));
    if (!status)
        status = nw_grow(&traces->text, &capacity[1], n + 1, sizeof(char *));
    if (!status)
        status = nw_grow(&traces->length, &capacity[2], n + 1, sizeof(size_t));
    if (!status)
        traces->capacity = capacity[0];
    return status;
}

/* Appends a trace. Call ti_grow() first. The traces own `path` from now on, and
 * `text` unless it is the first one and traces->lent is set. */
static void ti_add(struct traces *traces, char *path, const char *text,
                   size_t length)
{
    size_t n = traces->count++;

    traces->path[n] = path;
    traces->text[n] = text;
    traces->length[n] = length;
    traces->bytes += length;
}

static nw_status add_file(struct traces *traces, const char *folder,
                          const char *name)
{
    struct nw_text words = {0};
    char *path, *text;
    size_t length;
    nw_status status = ti_grow(traces);

    if (status)
        return status;
    nw_text_format(&words, "%s%s%s", folder, *folder ? "/" : "", name);
    status = nw_text_take(&words, &path);
    if (status)
        return status;
    status = nw_file_check_regular(path);
    if (!status)
        status = nw_file_read_text(path, &text, &length);
    if (status)
        free(path);
    else
        ti_add(traces, path, text, length);
    return status;
}

static void free_traces(struct traces *traces)
{
    for (size_t i = 0; i < traces->count; i++) {
        free(traces->path[i]);
        if (i || !traces->lent)
            free((void *)traces->text[i]);
    }
    free(traces->path);
    free(traces->text);
    free(traces->length);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static nw_status add_folder(struct traces *traces, const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_visible, alphasort);
    nw_status status = NW_OK;

    if (count < 0)
        return nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (!status)
            status = add_file(traces, path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (!status && !traces->count)
        status = nw_fail(NW_EIO, "%s: the folder is empty", path);
    return status;
}

/* Adds the files that a list names. A relative name is looked up in the working
 * folder first, then in the folder of the list. */
static nw_status add_listed(struct traces *traces, const char *list, char *text)
{
    const char *slash = strrchr(list, '/');
    char *folder = strndup(list, slash ? (size_t)(slash - list) : 0);
    struct nw_lines lines;
    nw_status status = NW_OK;
    char *line;

    if (!folder)
        return nw_fail(NW_ENOMEM, "out of memory");
    nw_lines_init(&lines, list, text);
    while (!status && (line = nw_lines_next(&lines))) {
        struct stat info;
        bool plain = *line == '/' || !stat(line, &info);

        status = add_file(traces, plain ? "" : folder, line);
        if (status == NW_EIO || status == NW_EFORMAT)
            status = nw_lines_fail(&lines,
                                   "'%s' is neither a trace's line, which "
                                   "begins with a rank, nor a file of one: %s",
                                   line, nw_error_text());
    }
    free(folder);
    return status;
}

static bool begins_with_rank(const char *text, size_t length)
{
    struct nw_scan scan;
    int32_t rank;

    nw_scan_init(&scan, "", text, length);
    return nw_scan_line(&scan) && nw_scan_i32(&scan, &rank) &&
           !nw_scan_is_done(&scan);
}

/* Adds the text if it is a trace, or the files that it lists. */
static nw_status ti_collect(struct traces *traces,
                            const struct nw_pattern_text *text)
{
    char *copy = NULL;
    nw_status status = ti_grow(traces);

    traces->lent = begins_with_rank(text->data, text->length);
    if (!status)
        status = nw_strdup(traces->lent ? text->file : text->data, &copy);
    if (status)
        return status;
    if (traces->lent) {
        ti_add(traces, copy, text->data, text->length);
        return NW_OK;
    }
    status = add_listed(traces, text->file, copy);
    free(copy);
    return status;
}

static nw_status ti_count_ranks(struct traces *traces)
{
    struct nw_scan scan;
    nw_status status = NW_OK;

    for (size_t i = 0; i < traces->count; i++) {
        int32_t rank;

        nw_scan_init(&scan, traces->path[i], traces->text[i],
                     traces->length[i]);
        while (!status && nw_scan_line(&scan)) {
            if (!nw_scan_i32(&scan, &rank))
                return nw_scan_expected(&scan, "a rank");
            if (rank >= traces->ranks)
                traces->ranks = rank + 1;
            status =
                nw_check_rank_count(&scan, traces->bytes, (uint64_t)rank + 1);
        }
    }
    if (!status && !traces->ranks)
        status = nw_fail(NW_EFORMAT, "%s:1: the trace is empty", traces->name);
    return status;
}

/* Reads the traces again after a sum of an edge exceeded 64 bits, and fails
 * with the file and line at which that happens. */
static nw_status blame_line(const struct traces *traces, struct nw_ti *ti)
{
    memset(ti->is_double, 0, (size_t)ti->member.ranks);
    for (size_t i = 0; i < traces->count; i++) {
        nw_scan_init(&ti->scan, traces->path[i], traces->text[i],
                     traces->length[i]);
        while (nw_scan_line(&ti->scan)) {
            nw_status status = nw_ti_action(ti);

            if (status)
                return status;
            if (nw_builder_passes(ti->member.builder))
                return nw_scan_fail(&ti->scan, "%s", nw_error_text());
        }
    }
    return NW_EFORMAT;
}

static nw_status read_all(const struct traces *traces, struct nw_ti *ti,
                          nw_pattern **out)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < traces->count; i++) {
        nw_scan_init(&ti->scan, traces->path[i], traces->text[i],
                     traces->length[i]);
        while (!status && nw_scan_line(&ti->scan)) {
            status = nw_ti_action(ti);
            if (status)
                return status;
            ti->seen[ti->member.me] = 1;
            status = nw_builder_fold(ti->member.builder);
        }
    }
    if (!status)
        status = nw_pattern_builder_build(ti->member.builder, out);
    return status == NW_EFORMAT ? blame_line(traces, ti) : status;
}

/* Fails if a rank has no action: the file of that rank may be missing. */
static nw_status check_seen(const struct traces *traces, const struct nw_ti *ti)
{
    for (int32_t r = 0; r < traces->ranks; r++)
        if (!ti->seen[r])
            return nw_fail(NW_EFORMAT,
                           "%s:1: there are %d rank%s and no action of rank %d",
                           traces->name, traces->ranks,
                           nw_plural((uint64_t)traces->ranks), r);
    return NW_OK;
}

static nw_status ti_say_note(const struct nw_ti *ti, nw_pattern *pattern)
{
    struct nw_text note = {0};

    nw_text_add(&note, "SimGrid time-independent trace");
    if (ti->collectives)
        nw_text_format(&note,
                       "; %llu collective call%s of ranks, taken as of all "
                       "ranks, %s modelled",
                       (unsigned long long)ti->collectives,
                       nw_plural(ti->collectives),
                       nw_by_count(ti->collectives, "is", "are"));
    if (ti->unsized)
        nw_text_format(&note,
                       "; %llu call%s with types of unknown size count%s a "
                       "byte an item",
                       (unsigned long long)ti->unsized, nw_plural(ti->unsized),
                       nw_by_count(ti->unsized, "s", ""));
    return nw_text_take(&note, &pattern->note);
}

static nw_status read_traces(struct traces *traces, nw_pattern **out)
{
    struct nw_ti ti = {0};
    nw_pattern *pattern = NULL;
    nw_status status = ti_count_ranks(traces);

    if (!status)
        status = nw_pattern_builder_new(traces->ranks, &ti.member.builder);
    ti.member.ranks = traces->ranks;
    if (!status)
        status = nw_alloc((size_t)traces->ranks, 1, &ti.is_double);
    if (!status)
        status = nw_alloc((size_t)traces->ranks, 1, &ti.seen);
    if (!status)
        status = nw_alloc((size_t)traces->ranks, sizeof *ti.counts, &ti.counts);
    if (!status)
        status = read_all(traces, &ti, &pattern);
    if (!status)
        status = check_seen(traces, &ti);
    if (!status)
        status = ti_say_note(&ti, pattern);
    nw_pattern_builder_free(ti.member.builder);
    free(ti.is_double);
    free(ti.seen);
    free(ti.counts);
    if (status)
        nw_pattern_free(pattern);
    else
        *out = pattern;
    return status;
}

nw_status nw_ti_open(const char *folder, nw_pattern **out)
{
    struct traces traces = {.name = folder};
    nw_status status = add_folder(&traces, folder);

    if (traces.count)
        traces.name = traces.path[0];
    if (!status)
        status = read_traces(&traces, out);
    free_traces(&traces);
    return status;
}

nw_status nw_ti_read(const struct nw_pattern_text *text, nw_pattern **out)
{
    struct traces traces = {.name = text->file};
    nw_status status = ti_collect(&traces, text);

    if (!status)
        status = read_traces(&traces, out);
    free_traces(&traces);
    return status;
}

bool nw_fits_ti(const struct nw_shape *shape)
{
    struct nw_scan scan;
    const char *word;
    size_t length;
    int32_t rank;

    nw_scan_init(&scan, "", shape->first, shape->first_length);
    if (!nw_scan_line(&scan) || !nw_scan_i32(&scan, &rank))
        return false;
    length = nw_scan_word(&scan, &word);
    return nw_scan_is(word, length, "init");
}
