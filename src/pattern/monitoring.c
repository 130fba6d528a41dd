/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files of Open MPI's monitoring: PREFIX.RANK.prof, one per rank, with
 * the program's own point-to-point messages in E lines; or a matrix of sizes
 * (.mat) with the matrix of message counts beside it. */
#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "pattern/format.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_RANKS (1 << 24)
#define BUCKETS 65

/* The state of the reader. */
struct monitoring {
    const char *prefix;
    int32_t ranks;
    nw_pattern_builder *builder;
    int32_t *told;     /* [destination] 1 + the last rank whose file has an edge
                          to this destination */
    uint64_t left_out; /* bytes of the lines I (internal), S and R
                          (one-sided) */
    /* edges whose size counts include messages of collectives */
    uint64_t mixed;
};

/* Returns the rank in the file name "NAME.RANK.prof", or -1 for other file
 * names. */
static int32_t rank_of_file(const char *file, const char *name)
{
    size_t length = strlen(name), digits;
    char word[16];
    int32_t rank;

    if (strncmp(file, name, length) || file[length] != '.')
        return -1;
    file += length + 1;
    digits = strspn(file, "0123456789");
    if (!digits || digits >= sizeof word || strcmp(file + digits, ".prof"))
        return -1;
    memcpy(word, file, digits);
    word[digits] = '\0';
    return nw_parse_i32(word, &rank) && rank < MOST_RANKS ? rank : -1;
}

/* Sets the number of ranks: the largest rank in a file name, plus 1. NW_EIO: no
 * file has the prefix. */
static nw_status monitoring_count_ranks(struct monitoring *in)
{
    const char *slash = strrchr(in->prefix, '/');
    const char *name = slash ? slash + 1 : in->prefix;
    char *folder = strndup(in->prefix, (size_t)(name - in->prefix));
    DIR *stream = folder ? opendir(*folder ? folder : ".") : NULL;
    struct dirent *entry;

    free(folder);
    if (!stream)
        return nw_fail(NW_EIO, "%s: %s", in->prefix, strerror(errno));
    while ((entry = readdir(stream))) {
        int32_t rank = rank_of_file(entry->d_name, name);

        if (rank >= in->ranks)
            in->ranks = rank + 1;
    }
    closedir(stream);
    if (!in->ranks)
        return nw_fail(NW_EIO, "%s: file %s.0.prof is missing", in->prefix,
                       in->prefix);
    return NW_OK;
}

static bool skip_word(struct nw_scan *scan, const char *expected)
{
    const char *word;
    size_t length = nw_scan_word(scan, &word);

    return nw_scan_is(word, length, expected);
}

struct monitoring_line {
    int32_t src, dst;
    uint64_t bytes, messages;
};

/* Reads a line after its first letter: "src dst N bytes M msgs sent". */
static nw_status monitoring_read_line(struct nw_scan *scan, int32_t ranks,
                                      struct monitoring_line *line)
{
    if (!nw_scan_i32(scan, &line->src) || !nw_scan_i32(scan, &line->dst))
        return nw_scan_expected(scan, "a rank");
    if (line->src >= ranks || line->dst >= ranks)
        return nw_scan_fail(scan, "rank %d is outside 0 to %d",
                            line->src > line->dst ? line->src : line->dst,
                            ranks - 1);
    if (!nw_scan_u64(scan, &line->bytes) || !skip_word(scan, "bytes") ||
        !nw_scan_u64(scan, &line->messages) || !skip_word(scan, "msgs") ||
        !skip_word(scan, "sent"))
        return nw_scan_fail(scan, "expected 'N bytes M msgs sent'");
    return NW_OK;
}

/* Reads a list such as "0,0,416", the number of messages in each size bucket.
 * The buckets are those of nw_pattern. Messages of larger buckets are added to
 * the last bucket. */
static nw_status monitoring_read_counts(struct nw_scan *scan,
                                        uint64_t count[BUCKETS])
{
    const char *at;
    size_t length = nw_scan_word(scan, &at);
    const char *end = at + length;

    for (int bucket = 0; at < end; bucket++) {
        uint64_t *sum = &count[bucket < BUCKETS - 1 ? bucket : BUCKETS - 1];
        char *stop;

        if (*at < '0' || *at > '9')
            return nw_scan_fail(scan, "expected counts joined by commas");
        errno = 0;
        if (__builtin_add_overflow(*sum, strtoull(at, &stop, 10), sum) || errno)
            return nw_scan_fail(scan, "a count passes 2^64 - 1");
        if (stop < end && *stop != ',')
            return nw_scan_fail(scan, "expected counts joined by commas");
        at = stop + 1;
    }
    return NW_OK;
}

/* Reads the size counts of a pair. Open MPI also counts the messages inside
 * collective calls. If the counts exceed the program's own messages, their
 * sizes are unknown, and the counts are left out. */
static nw_status monitoring_read_sizes(struct monitoring *in,
                                       struct nw_scan *scan,
                                       const struct monitoring_line *line)
{
    uint64_t count[BUCKETS] = {0}, left = line->messages;
    nw_status status = monitoring_read_counts(scan, count);
    bool fits = true;

    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        fits = fits && count[bucket] <= left;
        left -= fits ? count[bucket] : 0;
    }
    in->mixed += !fits;
    for (int bucket = 0; !status && fits && bucket < BUCKETS; bucket++)
        if (count[bucket])
            status =
                nw_pattern_builder_add_size(in->builder, line->src, line->dst,
                                            NW_KIND_HH, bucket, count[bucket]);
    return status;
}

static nw_status monitoring_read_edge(struct monitoring *in,
                                      struct nw_scan *scan, int32_t rank)
{
    struct monitoring_line line;
    nw_status status = monitoring_read_line(scan, in->ranks, &line);

    if (status)
        return status;
    if (line.src != rank)
        return nw_scan_fail(scan, "source %d in the file of rank %d", line.src,
                            rank);
    if (in->told[line.dst] == rank + 1)
        return nw_scan_fail(scan, "edge %d -> %d occurs twice", line.src,
                            line.dst);
    in->told[line.dst] = rank + 1;
    status = nw_pattern_builder_add(in->builder, line.src, line.dst, NW_KIND_HH,
                                    line.bytes, line.messages);
    if (!status)
        status = monitoring_read_sizes(in, scan, &line);
    if (!status && !nw_scan_is_done(scan))
        status = nw_scan_expected(scan, "the end of the line");
    return status;
}

static nw_status read_record(struct monitoring *in, struct nw_scan *scan,
                             int32_t rank)
{
    static const char *const others[] = {"C", "D", "O2A", "A2O", "A2A"};
    struct nw_scan start = *scan;
    struct monitoring_line line;
    const char *word;
    size_t length = nw_scan_word(scan, &word);
    nw_status status;

    if (nw_scan_is(word, length, "E"))
        return monitoring_read_edge(in, scan, rank);
    if (length == 1 && strchr("ISR", *word)) {
        status = monitoring_read_line(scan, in->ranks, &line);
        if (!status &&
            __builtin_add_overflow(in->left_out, line.bytes, &in->left_out))
            in->left_out = UINT64_MAX;
        return status;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (nw_scan_is(word, length, others[i]))
            return NW_OK;
    return nw_scan_expected(&start, "a line that begins with E, I, S, R or C");
}

static bool has_sections(const char *data)
{
    static const char first[] = "# POINT TO POINT";

    return !strncmp(data, first, sizeof first - 1);
}

/* Whether the file is complete: Open MPI writes its three sections at once, and
 * each line has a line end. */
static bool is_whole(const char *data, size_t length)
{
    return data[length - 1] == '\n' &&
           (!has_sections(data) || strstr(data, "\n# COLLECTIVES"));
}

static nw_status read_file(struct monitoring *in, int32_t rank)
{
    struct nw_text name = {0};
    struct nw_scan scan;
    char *path, *data;
    size_t length;
    nw_status status;

    nw_text_format(&name, "%s.%d.prof", in->prefix, rank);
    status = nw_text_take(&name, &path);
    if (status)
        return status;
    status = nw_file_check_regular(path);
    if (!status)
        status = nw_file_read_text(path, &data, &length);
    if (!status) {
        bool any = has_sections(data);

        nw_scan_init(&scan, path, data, length);
        for (; !status && nw_scan_line(&scan); any = true)
            status = read_record(in, &scan, rank);
        if (!status && !any)
            status = nw_scan_fail(&scan, "no line of Open MPI's monitoring");
        if (!status && !is_whole(data, length))
            status = nw_scan_fail(&scan, "the file is cut short");
        free(data);
    }
    free(path);
    return status;
}

static nw_status open_profiles(const char *prefix, nw_pattern **out)
{
    struct monitoring in = {.prefix = prefix};
    struct nw_text note = {0};
    nw_pattern *pattern = NULL;
    nw_status status = monitoring_count_ranks(&in);

    if (!status)
        status = nw_pattern_builder_new(in.ranks, &in.builder);
    if (!status)
        status = nw_alloc((size_t)in.ranks, sizeof *in.told, &in.told);
    for (int32_t r = 0; !status && r < in.ranks; r++)
        status = read_file(&in, r);
    if (!status)
        status = nw_pattern_builder_build(in.builder, &pattern);
    nw_pattern_builder_free(in.builder);
    free(in.told);
    if (status)
        return status;
    nw_text_format(&note, "Open MPI monitoring, point-to-point messages");
    if (in.left_out)
        nw_text_format(&note,
                       "; %llu byte%s inside collectives and one-sided calls "
                       "%s left out",
                       (unsigned long long)in.left_out, nw_plural(in.left_out),
                       nw_by_count(in.left_out, "is", "are"));
    if (in.mixed)
        nw_text_format(&note,
                       "; %llu edge%s no sizes, because %s include messages "
                       "of collective calls",
                       (unsigned long long)in.mixed,
                       nw_by_count(in.mixed, " has", "s have"),
                       nw_by_count(in.mixed, "its sizes", "theirs"));
    status = nw_text_take(&note, &pattern->note);
    if (status)
        nw_pattern_free(pattern);
    else
        *out = pattern;
    return status;
}

static nw_status read_matrix(const char *path, nw_pattern **out)
{
    struct nw_text input = {0};
    char *name;
    nw_status status;

    nw_text_format(&input, "matrix:%s", path);
    status = nw_text_take(&input, &name);
    if (status)
        return status;
    status = nw_pattern_read(name, NULL, out);
    free(name);
    return status;
}

/* Sets *out to the name of the file of message counts, which has "msg" instead
 * of "size" in its name; NULL if that file is missing or `path` does not have
 * "size" in its name. */
static nw_status find_counts(const char *path, char **out)
{
    static const char size[] = "size";
    const char *found = strrchr(path, '/'), *next;
    struct nw_text name = {0};
    nw_status status;

    *out = NULL;
    found = strstr(found ? found : path, size);
    while (found && (next = strstr(found + 1, size)))
        found = next;
    if (!found)
        return NW_OK;
    nw_text_add_bytes(&name, path, (size_t)(found - path));
    nw_text_format(&name, "msg%s", found + sizeof size - 1);
    status = nw_text_take(&name, out);
    if (!status && access(*out, F_OK)) {
        free(*out);
        *out = NULL;
    }
    return status;
}

/* Builds a pattern with the bytes of `sizes` and the messages of `counts`;
 * `file` is the name of the file of counts, for error messages. */
static nw_status monitoring_join(const nw_pattern *sizes,
                                 const nw_pattern *counts, const char *file,
                                 nw_pattern **out)
{
    const nw_pattern *const part[] = {sizes, counts};
    nw_pattern_builder *builder;
    nw_status status;

    if (sizes->rank_count != counts->rank_count)
        return nw_fail(NW_EFORMAT,
                       "%s:1: %d ranks, and %d in the matrix of sizes", file,
                       counts->rank_count, sizes->rank_count);
    status = nw_pattern_builder_new(sizes->rank_count, &builder);
    if (status)
        return status;
    for (int i = 0; i < 2; i++)
        for (int32_t r = 0; r < part[i]->rank_count; r++)
            for (size_t e = part[i]->row[r]; !status && e < part[i]->row[r + 1];
                 e++)
                status = nw_pattern_builder_add(
                    builder, r, part[i]->dst[e], NW_KIND_HH,
                    i ? 0 : part[i]->bytes[e], i ? part[i]->bytes[e] : 0);
    if (!status)
        status = nw_pattern_builder_build(builder, out);
    nw_pattern_builder_free(builder);
    return status;
}

static nw_status open_matrices(const char *path, nw_pattern **out)
{
    nw_pattern *sizes = NULL, *counts = NULL;
    char *other;
    nw_status status = find_counts(path, &other);

    if (status)
        return status;
    status = read_matrix(path, &sizes);
    if (!status && !other) {
        *out = sizes;
        return NW_OK;
    }
    if (!status)
        status = read_matrix(other, &counts);
    if (!status)
        status = monitoring_join(sizes, counts, other, out);
    nw_pattern_free(sizes);
    nw_pattern_free(counts);
    free(other);
    return status;
}

/* Reads the matrix `path` if its name ends in .mat. Otherwise reads the files
 * PREFIX.RANK.prof of all ranks; `path` is PREFIX or one of these files. */
nw_status nw_monitoring_open(const char *path, nw_pattern **out)
{
    size_t length = strlen(path);
    char *prefix;
    nw_status status;

    if (nw_text_ends_with(path, ".mat"))
        return open_matrices(path, out);
    if (nw_text_ends_with(path, ".prof")) {
        length -= strlen(".prof");
        while (length && path[length - 1] >= '0' && path[length - 1] <= '9')
            length--;
        length -= length && path[length - 1] == '.';
    }
    prefix = strndup(path, length);
    if (!prefix)
        return nw_fail(NW_ENOMEM, "out of memory");
    status = open_profiles(prefix, out);
    free(prefix);
    return status;
}
