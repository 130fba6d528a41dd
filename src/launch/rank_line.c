/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the line of one rank of a mapping file. With 100,000 ranks, reading the
 * whole file would take too long. `nodewise map` writes the lines in the order
 * of ranks, so binary search finds a line. If it does not, the whole file is
 * read. */
#include <nodewise/launch.h>

#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "cost/mapping_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* files of up to this many bytes are read and checked as a whole */
#define SMALL ((size_t)64 << 10)

struct rank_line_text {
    const char *start;
    size_t length;
};

static struct rank_line_text line_at(const char *start, const char *end)
{
    const char *stop = memchr(start, '\n', (size_t)(end - start));

    return (struct rank_line_text){start,
                                   (size_t)((stop ? stop : end) - start)};
}

/* Returns the number at the start of a line; -1 if the line does not start with
 * a number, for example a comment, or if the number exceeds INT32_MAX. */
static int64_t rank_line_number_of(struct rank_line_text line)
{
    size_t i = 0;
    int64_t number = 0;

    while (i < line.length && (line.start[i] == ' ' || line.start[i] == '\t'))
        i++;
    if (i == line.length || line.start[i] < '0' || line.start[i] > '9')
        return -1;
    for (; i < line.length && line.start[i] >= '0' && line.start[i] <= '9'; i++)
        if ((number = 10 * number + line.start[i] - '0') > INT32_MAX)
            return -1;
    return number;
}

/* Returns the first line, from `at` on, that starts with a number. Returns an
 * empty line if no line starts with a number. */
static struct rank_line_text next_numbered(const char *at, const char *end)
{
    while (at < end) {
        struct rank_line_text line = line_at(at, end);

        if (rank_line_number_of(line) >= 0)
            return line;
        at = line.start + line.length + 1;
    }
    return (struct rank_line_text){end, 0};
}

/* Finds the line of a rank by binary search between `from`, the start of a
 * line, and `end`, the end of the file. Returns false if the search fails: no
 * line has this rank, or the lines are not in the order of ranks. */
static bool find_line(const char *from, const char *end, int32_t rank,
                      struct rank_line_text *out)
{
    const char *to = end;

    while (from < to) {
        const char *middle = from + (to - from) / 2;
        struct rank_line_text line;

        while (middle > from && middle[-1] != '\n')
            middle--;
        line = next_numbered(middle, end);
        if (line.length && rank_line_number_of(line) == rank) {
            *out = line;
            return true;
        }
        if (line.length && rank_line_number_of(line) < rank)
            from = line.start + line.length + 1;
        else
            to = middle;
    }
    return false;
}

/* Returns true if the fourth word of the line is a GPU. */
static bool names_gpu(struct rank_line_text line)
{
    const char *at = line.start, *end = at + line.length;

    for (int word = 0; at < end; word++) {
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        if (word == 3)
            return at < end && *at != '-' && *at != '*' && *at != '#';
        while (at < end && *at != ' ' && *at != '\t')
            at++;
    }
    return false;
}

static bool find_gpu(const char *from, const char *end,
                     struct rank_line_text *out)
{
    for (; from < end; from = out->start + out->length + 1) {
        *out = line_at(from, end);
        if (rank_line_number_of(*out) >= 0 && names_gpu(*out))
            return true;
    }
    return false;
}

/* Appends a line of a mapping file to `text`, but with `number` instead of the
 * rank at its start. */
static void rank_line_add_line(struct nw_text *text, int number,
                               struct rank_line_text line)
{
    size_t skip = 0;

    while (skip < line.length &&
           (line.start[skip] == ' ' || line.start[skip] == '\t'))
        skip++;
    while (skip < line.length && line.start[skip] >= '0' &&
           line.start[skip] <= '9')
        skip++;
    nw_text_format(text, "%d", number);
    nw_text_add_bytes(text, line.start + skip, line.length - skip);
    nw_text_add(text, "\n");
}

/* Makes a mapping that contains only the rank's line, as rank 0. If this rank
 * has no GPU but another rank has, the mapping also contains one such rank as
 * rank 1, because nodewise exec must know whether the mapping uses GPUs. */
static nw_status parse_line(const char *path, const char *body, const char *end,
                            struct rank_line_text own, nw_mapping **out)
{
    struct nw_text text = {0};
    struct rank_line_text other;
    bool two = !names_gpu(own) && find_gpu(body, end, &other);
    char *data = NULL;
    size_t length;
    nw_status status;

    nw_text_format(&text, "nodewise mapping 1\nranks %d\n", two ? 2 : 1);
    rank_line_add_line(&text, 0, own);
    if (two)
        rank_line_add_line(&text, 1, other);
    length = text.length;
    status = nw_text_take(&text, &data);
    if (!status && !nw_text_is_utf8(data, length))
        status = nw_fail(NW_EFORMAT, "%s: not UTF-8", path);
    if (!status)
        status = nw_mapping_parse(path, data, length, NULL, out);
    free(data);
    nw_text_fini(&text);
    return status;
}

/* Reads the head of the file in the form that `nodewise map` writes. Returns
 * the start of the first line after it; NULL if the head has another form. */
static const char *rank_line_read_head(const char *data, const char *end,
                                       int32_t *ranks)
{
    static const char head[] = "nodewise mapping 1\nranks ";
    size_t length = sizeof head - 1;
    char word[12] = "";
    struct rank_line_text line;

    if ((size_t)(end - data) <= length || memcmp(data, head, length))
        return NULL;
    line = line_at(data + length, end);
    if (line.length >= sizeof word)
        return NULL;
    memcpy(word, line.start, line.length);
    if (!nw_parse_i32(word, ranks) || *ranks < 1)
        return NULL;
    return line.start + line.length + 1;
}

static nw_status read_whole(const char *path, int32_t rank,
                            struct nw_launch_place *out)
{
    nw_mapping *mapping;
    nw_status status = nw_mapping_read(path, NULL, &mapping);

    if (status)
        return status;
    out->mapping = mapping;
    out->rank_count = mapping->rank_count;
    out->index = rank < mapping->rank_count ? rank : -1;
    return NW_OK;
}

/* Finds rank out->index without reading the whole file. Returns false if the
 * rank is not found or the file has an unexpected form; the caller then reads
 * the whole file, to find the rank or the error. */
static bool rank_line_look_up(const char *path, const char *data,
                              const char *end, struct nw_launch_place *out)
{
    int32_t ranks, rank = out->index;
    const char *body = rank_line_read_head(data, end, &ranks);
    struct rank_line_text own;

    if (!body || rank >= ranks || !find_line(body, end, rank, &own) ||
        parse_line(path, body, end, own, &out->mapping))
        return false;
    out->index = 0;
    out->rank_count = ranks;
    return true;
}

nw_status nw_launch_place_read(const char *path, int32_t rank, bool whole,
                               struct nw_launch_place *out)
{
    struct nw_launch_place place = {.index = rank};
    int file = whole ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    bool found = false;
    char *data;

    if (file >= 0 && !fstat(file, &info) && S_ISREG(info.st_mode) &&
        (size_t)info.st_size > SMALL) {
        size_t size = (size_t)info.st_size;

        data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (data != MAP_FAILED) {
            found = rank_line_look_up(path, data, data + size, &place);
            munmap(data, size);
        }
    }
    if (file >= 0)
        close(file);
    if (!found)
        return read_whole(path, rank, out);
    *out = place;
    return NW_OK;
}
