/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the format of an input and calls its reader, or calls the writer of a
 * format. */
#include "pattern/format.h"

#include "base/file.h"
#include "base/nearest.h"
#include "base/parallel.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fits_native(const struct nw_shape *shape)
{
    static const char head[] = "nodewise pattern";

    return shape->first_length >= sizeof head - 1 &&
           !memcmp(shape->first, head, sizeof head - 1);
}

const struct nw_pattern_format nw_pattern_formats[] = {
    {"native", nw_native_read, NULL, nw_native_render, fits_native, NULL},
    {"metis", nw_metis_read, NULL, nw_metis_render, nw_fits_metis,
     ".graph .metis"},
    {"mm", nw_market_read, NULL, nw_market_render, nw_fits_market, ".mtx .mm"},
    {"matrix", nw_matrix_read, NULL, nw_matrix_render, nw_fits_matrix,
     ".mat .matrix"},
    {"list", nw_list_read, NULL, nw_list_render, nw_fits_list, ".list .edges"},
    {"csv", NULL, NULL, nw_csv_render, NULL, NULL},
    {"qaplib", nw_qaplib_pattern, NULL, NULL, nw_fits_qaplib, ".dat .qap"},
    {"monitoring", NULL, nw_monitoring_open, NULL, NULL, NULL},
    {"nccl", NULL, nw_nccl_calls_open, NULL, NULL, NULL},
    {"nccl-inspector", NULL, nw_nccl_inspector_open, NULL, NULL, NULL},
    {"nccl-log", NULL, nw_nccl_log_open, NULL, NULL, NULL},
    {"otf2", NULL, nw_otf2_open, NULL, NULL, NULL},
    {"ti", nw_ti_read, nw_ti_open, NULL, nw_fits_ti, ".ti"},
    {"generate", NULL, nw_pattern_generate, NULL, NULL, NULL},
};
const size_t nw_pattern_format_count =
    sizeof nw_pattern_formats / sizeof *nw_pattern_formats;

/* Returns the format whose prefix the input has, or NULL; sets *path to the
 * input's path, after the prefix. */
static const struct nw_pattern_format *find_prefix(const char *input,
                                                   const char **path)
{
    const char *colon = strchr(input, ':');

    for (size_t i = 0; colon && i < nw_pattern_format_count; i++) {
        const char *name = nw_pattern_formats[i].name;

        if ((nw_pattern_formats[i].read || nw_pattern_formats[i].open) &&
            nw_scan_is(input, (size_t)(colon - input), name)) {
            *path = colon + 1;
            return &nw_pattern_formats[i];
        }
    }
    *path = input;
    return NULL;
}

/* Returns the format of a file that is recognised by its name only, because the
 * format is binary or has several files; NULL for other names. */
static const struct nw_pattern_format *find_name(const char *path)
{
    const char *name = nw_text_ends_with(path, ".prof")   ? "monitoring"
                       : nw_text_ends_with(path, ".otf2") ? "otf2"
                                                          : NULL;

    for (size_t i = 0; name && i < nw_pattern_format_count; i++)
        if (!strcmp(nw_pattern_formats[i].name, name))
            return &nw_pattern_formats[i];
    return NULL;
}

/* Fails because the file cannot be read. If its name begins with an unknown
 * prefix that is similar to a known one, names the known one. */
static nw_status fail_file(const char *path, nw_status status)
{
    const char *colon = strchr(path, ':');
    struct nw_nearest nearest;

    if (!colon || !access(path, F_OK))
        return status;
    nw_nearest_start(&nearest, path, (size_t)(colon - path));
    for (size_t i = 0; i < nw_pattern_format_count; i++)
        if (nw_pattern_formats[i].read || nw_pattern_formats[i].open)
            nw_nearest_try(&nearest, nw_pattern_formats[i].name);
    if (!nearest.best)
        return status;
    return nw_fail(status,
                   "%s: No such file or directory, and '%.*s:' is not a "
                   "format; %s",
                   path, (int)(colon - path), path,
                   nw_nearest_say(&nearest, ""));
}

static bool is_folder(const char *path)
{
    struct stat info;

    return !stat(path, &info) && S_ISDIR(info.st_mode);
}

static nw_status read_text(const struct nw_pattern_format *format,
                           const char *path,
                           const struct nw_pattern_read_options *options,
                           nw_pattern **out)
{
    struct nw_pattern_text text = {.file = path,
                                   .compact = options->compact,
                                   .threads =
                                       nw_parallel_size(options->threads)};
    char *data;
    nw_status status;

    if (!format && is_folder(path))
        return nw_fail(NW_EIO,
                       "%s: is a directory; ti:FOLDER reads traces of SimGrid, "
                       "monitoring:FOLDER/PREFIX those of Open MPI",
                       path);
    status = nw_file_read_text_by(path, text.threads, &data, &text.length);
    if (status)
        return format ? status : fail_file(path, status);
    text.data = data;
    if (!strcmp(path, "-"))
        text.file = "standard input";
    if (!format)
        status = nw_pattern_detect(&text, &format);
    if (!status)
        status = format->read(&text, out);
    free(data);
    return status;
}

nw_status nw_pattern_read(const char *input,
                          const struct nw_pattern_read_options *options,
                          nw_pattern **out)
{
    struct nw_pattern_read_options mine = NW_PATTERN_READ_OPTIONS_INIT;
    const char *path;
    const struct nw_pattern_format *format = find_prefix(input, &path);

    if (options)
        memcpy(&mine, options,
               options->size < sizeof mine ? options->size : sizeof mine);
    if (!*path)
        return nw_fail(NW_EINVAL, "'%s' names no pattern", input);
    if (!format)
        format = find_name(path);
    if (format && format->open && (!format->read || is_folder(path)))
        return format->open(path, out);
    return read_text(format, path, &mine, out);
}

nw_status nw_pattern_write_as(const nw_pattern *pattern, const char *format,
                              const char *path)
{
    struct nw_text text = {0};
    nw_pattern_renderer *render = NULL;
    nw_status status;

    for (size_t i = 0; i < nw_pattern_format_count; i++)
        if (!strcmp(format, nw_pattern_formats[i].name))
            render = nw_pattern_formats[i].render;
    if (!render)
        return nw_fail(NW_EINVAL,
                       "a pattern is written as native, metis, mm, matrix, "
                       "list or csv, not as '%s'",
                       format);
    status = render(pattern, &text);
    if (!status)
        status = nw_file_write_text(path, &text);
    nw_text_fini(&text);
    return status;
}

nw_status nw_pattern_write(const nw_pattern *pattern, const char *path)
{
    return nw_pattern_write_as(pattern, "native", path);
}
