/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads whole files into memory. All readers of topologies, patterns and
 * mappings open their files here. */
#include "base/file.h"
#include "base/array.h"
#include "base/chunked_file.h"
#include "base/c_locale.h"
#include "base/status.h"
#include "base/text.h"
#include "base/zstd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns an error if a device or pipe gives too many bytes: /dev/zero never
 * ends, and a pipe may never end. `used` is the number of bytes read so far. */
static nw_status file_check_end(int fd, const char *path, size_t used)
{
    struct stat info;

    if (used <= NW_FILE_MOST_OF_DEVICE || fstat(fd, &info))
        return NW_OK;
    if (S_ISCHR(info.st_mode))
        return nw_fail(NW_EIO, "%s: is a device that does not end; name a file",
                       path);
    if (S_ISREG(info.st_mode) || used <= nw_file_most_of_pipe())
        return NW_OK;
    return nw_fail(NW_EIO,
                   "%s: more than %zu MiB from a pipe; write them to a file, "
                   "and name the file",
                   path, nw_file_most_of_pipe() >> 20);
}

static nw_status file_read_all(int fd, const char *path, char **data,
                               size_t *length)
{
    char *buffer = NULL;
    size_t used = 0, capacity = 0;
    ssize_t got;
    nw_status status = NW_OK;

    do {
        status = nw_grow(&buffer, &capacity, used ? used + 2 : 4096, 1);
        if (status)
            goto out;
        got = read(fd, buffer + used, capacity - used - 1);
        if (got > 0)
            used += (size_t)got;
        status = file_check_end(fd, path, used);
        if (status)
            goto out;
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (got < 0) {
        status = nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
        goto out;
    }
    buffer[used] = '\0';
    *data = buffer;
    *length = used;
    buffer = NULL;
out:
    free(buffer);
    return status;
}

nw_status nw_file_read(const char *path, char **data, size_t *length)
{
    struct stat info;
    nw_status status;
    int fd;

    if (!strcmp(path, "-"))
        return file_read_all(STDIN_FILENO, "standard input", data, length);
    if (!*path)
        return nw_fail(NW_EINVAL, "the name of a file is empty");
    status = nw_file_check_pipe(path);
    if (status)
        return status;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
    if (!fstat(fd, &info) && S_ISDIR(info.st_mode))
        status = nw_fail(NW_EIO, "%s: is a directory", path);
    else
        status = file_read_all(fd, path, data, length);
    close(fd);
    if (!status && nw_text_ends_with(path, ".zst"))
        status = nw_zstd_unpack(path, data, length);
    return status;
}

nw_status nw_file_check_regular(const char *path)
{
    struct stat info;

    return !stat(path, &info) && !S_ISREG(info.st_mode) &&
                   !S_ISDIR(info.st_mode)
               ? nw_fail(NW_EIO, "%s: is not a regular file", path)
               : NW_OK;
}

bool nw_file_has_bytes(const char *path)
{
    struct stat info;

    return !stat(path, &info) && (!S_ISREG(info.st_mode) || info.st_size);
}

static int file_line_of(const char *data, size_t at)
{
    int line = 1;

    for (size_t i = 0; i < at; i++)
        line += data[i] == '\n';
    return line;
}

/* Describes the format of data that are not UTF-8 text, with the way out; NULL
 * if the format is unknown. */
static const char *other_kind(const char *data, size_t length)
{
    static const struct {
        const char *begins, *what;
    } kinds[] = {
        {"\x1f\x8b", "packed by gzip: unpack it (zstd is unpacked here)"},
        {"\xfd"
         "7zXZ",
         "packed by xz: unpack it (zstd is unpacked here)"},
        {"\x28\xb5\x2f\xfd", "packed by zstd: let its name end in .zst"},
        {"\xff\xfe", "UTF-16 text: make it UTF-8 (iconv -f UTF-16 -t UTF-8)"},
        {"\xfe\xff", "UTF-16 text: make it UTF-8 (iconv -f UTF-16 -t UTF-8)"},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t size = strlen(kinds[i].begins);

        if (length >= size && !memcmp(data, kinds[i].begins, size))
            return kinds[i].what;
    }
    return NULL;
}

static nw_status check_text(const char *path, const char *data, size_t length)
{
    const char *kind;
    size_t start = 0;

    if (!strcmp(path, "-"))
        path = "standard input";
    if (!length)
        return nw_fail(NW_EFORMAT, "%s:1: the file is empty", path);
    if (nw_text_is_utf8(data, length))
        return NW_OK;
    kind = other_kind(data, length);
    if (kind)
        return nw_fail(NW_EFORMAT, "%s:1: %s", path, kind);
    while (start < length) {
        const char *end = memchr(data + start, '\n', length - start);
        size_t stop = end ? (size_t)(end - data) : length;

        if (!nw_text_is_utf8(data + start, stop - start))
            break;
        start = stop + 1;
    }
    return nw_fail(NW_EFORMAT, "%s:%d: not UTF-8 text", path,
                   file_line_of(data, start));
}

/* Removes the byte order mark that some editors put before UTF-8 text. */
static void drop_mark(char *data, size_t *length)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t size = sizeof mark - 1;

    if (*length < size || memcmp(data, mark, size))
        return;
    *length -= size;
    memmove(data, data + size, *length + 1);
}

/* Converts the carriage returns that end lines in old files to line feeds. Does
 * nothing if the file has line feeds. */
static void file_end_lines(char *data, size_t length)
{
    if (memchr(data, '\n', length))
        return;
    for (char *at = data;
         (at = memchr(at, '\r', (size_t)(data + length - at)));)
        *at = '\n';
}

nw_status nw_file_read_text_by(const char *path, int32_t threads, char **data,
                               size_t *length)
{
    char *bytes = NULL;
    size_t count;
    nw_status status = nw_chunked_file_read(path, threads, &bytes, &count);

    if (!status && !bytes) {
        status = nw_file_read(path, &bytes, &count);
        if (!status) {
            drop_mark(bytes, &count);
            status = check_text(path, bytes, count);
        }
    }
    if (status) {
        free(bytes);
        return status;
    }
    file_end_lines(bytes, count);
    *data = bytes;
    *length = count;
    return NW_OK;
}

nw_status nw_file_read_text(const char *path, char **data, size_t *length)
{
    return nw_file_read_text_by(path, 1, data, length);
}

void nw_lines_init(struct nw_lines *lines, const char *file, char *data)
{
    *lines = (struct nw_lines){.file = file, .next = data};
}

char *nw_lines_next(struct nw_lines *lines)
{
    while (lines->next && *lines->next) {
        char *line = lines->next, *end = strchr(line, '\n'), *last;

        lines->next = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        lines->line++;
        last = strchr(line, '#');
        last = last ? last : line + strlen(line);
        while (nw_is_blank(*line))
            line++;
        while (last > line && nw_is_blank(last[-1]))
            last--;
        if (last <= line)
            continue;
        *last = '\0';
        return line;
    }
    return NULL;
}

char *nw_word_next(char **rest)
{
    char *word = *rest;

    while (nw_is_blank(*word))
        word++;
    if (!*word)
        return NULL;
    *rest = word;
    while (**rest && !nw_is_blank(**rest))
        ++*rest;
    if (**rest)
        *(*rest)++ = '\0';
    return word;
}

nw_status nw_lines_fail(const struct nw_lines *lines, const char *format, ...)
{
    nw_status status;
    va_list args;

    va_start(args, format);
    status =
        nw_fail_line(lines->file, lines->line ? lines->line : 1, format, args);
    va_end(args);
    return status;
}
