/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads Nodewise's own pattern format directly into compressed rows. The file
 * must be sorted, so reading needs no sort and no memory for each line. Plain
 * lines are read on several threads (rows.h); this file reads all others, and
 * reports errors. The grammar is in nodewise-formats(5). */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "pattern/format.h"
#include "pattern/rows.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SHORTEST_EDGE 11 /* length of "0 0 hh 0 0" and a line end */

/* The state of the reader. */
struct native {
    struct nw_scan scan;
    size_t length;
    int32_t threads;
    nw_pattern *pattern;
    size_t stated, edge; /* edges in the header; edges read so far */
    size_t size, bucket_capacity, count_capacity, time_capacity;
    uint8_t *phase; /* [stated] phase of each edge; NULL: no phases */
};

nw_status nw_check_rank_count(const struct nw_scan *scan, size_t length,
                              uint64_t ranks)
{
    if (!ranks)
        return nw_scan_fail(scan, "a pattern needs at least 1 rank");
    if (ranks > INT32_MAX || (ranks > 1 << 24 && ranks > length))
        return nw_scan_fail(
            scan, "%llu ranks are more than a file of %zu bytes can describe",
            (unsigned long long)ranks, length);
    return NW_OK;
}

/* Moves behind the next word if it is the expected one; otherwise returns false
 * and does not move. */
static bool take_word(struct nw_scan *scan, const char *expected)
{
    const char *start = scan->at, *word;
    size_t length = nw_scan_word(scan, &word);

    if (nw_scan_is(word, length, expected))
        return true;
    scan->at = start;
    return false;
}

static nw_status expect_end(struct nw_scan *scan)
{
    return nw_scan_is_done(scan)
               ? NW_OK
               : nw_scan_expected(scan, "the end of the line");
}

static nw_status read_version(struct native *in)
{
    struct nw_scan *scan = &in->scan;
    uint64_t version;

    if (!nw_scan_line(scan) || !take_word(scan, "nodewise") ||
        !take_word(scan, "pattern") || !nw_scan_u64(scan, &version))
        return nw_scan_fail(scan, "expected 'nodewise pattern 1'");
    if (version != 1)
        return nw_scan_fail(scan, "pattern version %llu, this program reads 1",
                            (unsigned long long)version);
    return expect_end(scan);
}

static nw_status native_read_counts(struct native *in, uint64_t *ranks)
{
    struct nw_scan *scan = &in->scan;
    uint64_t edges;
    nw_status status;

    if (!nw_scan_line(scan) || !take_word(scan, "ranks"))
        return nw_scan_fail(scan, "expected 'ranks N edges M'");
    if (!nw_scan_u64(scan, ranks))
        return nw_scan_expected(scan, "a number of ranks");
    if (!take_word(scan, "edges"))
        return nw_scan_expected(scan, "'edges'");
    if (!nw_scan_u64(scan, &edges))
        return nw_scan_expected(scan, "a number of edges");
    status = nw_check_rank_count(scan, in->length, *ranks);
    if (status)
        return status;
    if (edges > in->length / SHORTEST_EDGE + 1)
        return nw_scan_fail(scan, "%llu edge%s not fit in %zu byte%s",
                            (unsigned long long)edges,
                            nw_by_count((uint64_t)edges, " does", "s do"),
                            in->length, nw_plural((uint64_t)in->length));
    in->stated = (size_t)edges;
    return expect_end(scan);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes the writer's escapes "\\" and "\xHH" in place. Returns false if an
 * escape is invalid. */
static bool native_unescape(char *value)
{
    char *to = value;

    for (const char *from = value; *from; to++) {
        int high, low;

        if (*from != '\\') {
            *to = *from++;
        } else if (from[1] == '\\') {
            *to = '\\';
            from += 2;
        } else {
            high = from[1] == 'x' ? hex_digit(from[2]) : -1;
            low = high < 0 ? -1 : hex_digit(from[3]);
            if (low < 0 || !(high | low))
                return false;
            *to = (char)(high << 4 | low);
            from += 4;
        }
    }
    *to = '\0';
    return true;
}

/* Reads the text after the colon up to the end of the line; '#' begins no
 * comment there. */
static nw_status read_value(struct nw_scan *scan, char **out)
{
    const char *stop = scan->next;
    char *value;

    nw_scan_is_done(scan);
    while (stop > scan->at && strchr("\r\n \t", stop[-1]))
        stop--;
    value = strndup(scan->at, (size_t)(stop - scan->at));
    if (!value)
        return nw_fail(NW_ENOMEM, "out of memory");
    if (!native_unescape(value)) {
        free(value);
        return nw_scan_fail(scan, "a backslash is written \\\\ or \\xHH");
    }
    *out = value;
    return NW_OK;
}

/* Reads "traffic: ORIGIN BYTES MESSAGES". */
static nw_status read_traffic(struct native *in)
{
    struct nw_scan *scan = &in->scan;
    nw_pattern *p = in->pattern;
    struct nw_pattern_amount *amount;
    nw_status status = NW_OK;
    int t = 0;

    while (t < NW_ORIGIN_COUNT &&
           !take_word(scan, nw_origin_name((enum nw_origin)t)))
        t++;
    if (t == NW_ORIGIN_COUNT)
        return nw_scan_expected(
            scan, "point-to-point, one-sided, collective or nccl");
    if (!p->traffic)
        status = nw_alloc(NW_ORIGIN_COUNT, sizeof *p->traffic, &p->traffic);
    if (status)
        return status;
    amount = &p->traffic[t];
    if (amount->messages)
        return nw_scan_fail(scan, "the traffic '%s' occurs twice",
                            nw_origin_name((enum nw_origin)t));
    if (!nw_scan_u64(scan, &amount->bytes))
        return nw_scan_expected(scan, "a number of bytes");
    if (!nw_scan_u64(scan, &amount->messages) || !amount->messages)
        return nw_scan_expected(scan, "a number of messages");
    return expect_end(scan);
}

static bool is_name(const char *word, size_t length)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

    for (size_t i = 0; i < length; i++)
        if (!memchr(allowed, word[i], sizeof allowed - 1))
            return false;
    return length;
}

/* Reads "time: CALL CALLS MIN MEAN MAX". */
static nw_status read_time(struct native *in)
{
    struct nw_scan *scan = &in->scan;
    nw_pattern *p = in->pattern;
    struct nw_pattern_time *time;
    struct nw_scan before = *scan;
    const char *word;
    size_t length = nw_scan_word(scan, &word);
    nw_status status;

    if (!is_name(word, length))
        return nw_scan_expected(&before, "the name of an MPI call");
    status = nw_grow(&p->time, &in->time_capacity, p->time_count + 1,
                     sizeof *p->time);
    if (status)
        return status;
    time = &p->time[p->time_count];
    *time = (struct nw_pattern_time){.call = strndup(word, length)};
    if (!time->call)
        return nw_fail(NW_ENOMEM, "out of memory");
    p->time_count++;
    if (!nw_scan_u64(scan, &time->calls) || !nw_scan_u64(scan, &time->min_ns) ||
        !nw_scan_u64(scan, &time->mean_ns) || !nw_scan_u64(scan, &time->max_ns))
        return nw_scan_expected(scan, "calls, then 3 times in nanoseconds");
    if (time->min_ns > time->mean_ns || time->mean_ns > time->max_ns)
        return nw_scan_fail(scan, "the times are not minimum, mean, maximum");
    return expect_end(scan);
}

/* Reads the digits at *at as a number, in words such as "bucket:count" or
 * "name*12", and moves *at behind them. Returns false if no digit stands before
 * `end` or the number exceeds 64 bits. */
static bool take_digits(const char **at, const char *end, uint64_t *out)
{
    const char *start = *at;

    *out = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(**at - '0'), out))
            return false;
    return *at > start;
}

/* Returns the phase that a word such as "tp" or "tp*12" names, or -1. *count
 * becomes the number of edges, 1 without an asterisk. */
static int native_phase_of(const char *word, size_t length, uint64_t *count)
{
    const char *star = memchr(word, '*', length), *digits;

    *count = 1;
    if (!star)
        return nw_phase_find(word, length);
    digits = star + 1;
    if (!take_digits(&digits, word + length, count) || digits < word + length ||
        !*count)
        return -1;
    return nw_phase_find(word, (size_t)(star - word));
}

/* Reads "phases: NAME*COUNT NAME ...": the phase of each edge, in the order of
 * the edges. */
static nw_status native_read_phases(struct native *in)
{
    struct nw_scan *scan = &in->scan;
    size_t edges = 0;
    nw_status status;

    if (in->phase)
        return nw_scan_fail(scan, "'phases:' occurs twice");
    status = nw_alloc(in->stated + 1, sizeof *in->phase, &in->phase);
    while (!status && !nw_scan_is_done(scan)) {
        struct nw_scan before = *scan;
        const char *word;
        size_t length = nw_scan_word(scan, &word);
        uint64_t count;
        int phase = native_phase_of(word, length, &count);

        if (phase < 0)
            return nw_scan_expected(&before, "a phase such as tp or dp*12");
        if (count > in->stated - edges)
            return nw_scan_fail(scan, "more phases than the %zu edge%s stated",
                                in->stated, nw_plural((uint64_t)in->stated));
        memset(in->phase + edges, phase, (size_t)count);
        edges += (size_t)count;
    }
    if (!status && edges < in->stated)
        return nw_scan_fail(scan, "%zu phase%s for %zu edge%s", edges,
                            nw_plural((uint64_t)edges), in->stated,
                            nw_plural((uint64_t)in->stated));
    return status;
}

/* Reads a line "key: value". Ignores unknown keys, which later versions of the
 * format may define. */
static nw_status read_key(struct native *in)
{
    const char *word;
    char **field = NULL, *value = NULL;
    size_t length = nw_scan_word(&in->scan, &word);
    nw_status status;

    if (nw_scan_is(word, length, "traffic:"))
        return read_traffic(in);
    if (nw_scan_is(word, length, "time:"))
        return read_time(in);
    if (nw_scan_is(word, length, "phases:"))
        return native_read_phases(in);
    if (nw_scan_is(word, length, "program:"))
        field = &in->pattern->program;
    else if (nw_scan_is(word, length, "partial:"))
        field = &in->pattern->partial;
    else if (nw_scan_is(word, length, "note:"))
        field = &in->pattern->note;
    else if (length < 2 || word[length - 1] != ':')
        return nw_scan_fail(&in->scan, "expected a rank or 'key: value'");
    if (field && *field)
        return nw_scan_fail(&in->scan, "'%.*s' occurs twice", (int)length,
                            word);
    status = read_value(&in->scan, &value);
    if (status)
        return status;
    if (field)
        *field = value;
    else
        free(value);
    return NW_OK;
}

static nw_status native_read_rank(struct nw_scan *scan, int32_t ranks,
                                  int32_t *out)
{
    uint64_t rank;

    if (!nw_scan_u64(scan, &rank))
        return nw_scan_expected(scan, "a rank");
    if (rank >= (uint64_t)ranks)
        return nw_scan_fail(scan, "rank %llu is outside 0 to %d",
                            (unsigned long long)rank, ranks - 1);
    *out = (int32_t)rank;
    return NW_OK;
}

static bool read_kind(struct nw_scan *scan, uint8_t *out)
{
    for (int kind = 0; kind < NW_KIND_COUNT; kind++)
        if (take_word(scan, nw_kind_name((enum nw_kind)kind))) {
            *out = (uint8_t)kind;
            return true;
        }
    return false;
}

/* Fails unless the edge that was just read sorts after the edge before it.
 * Sorted and unique edges can be read in one pass. */
static nw_status check_order(const struct native *in, int32_t src)
{
    const nw_pattern *p = in->pattern;
    size_t e = in->edge;
    bool same_row = e > p->row[src];

    if (!same_row || p->dst[e - 1] < p->dst[e] ||
        (p->dst[e - 1] == p->dst[e] && p->kind[e - 1] < p->kind[e]))
        return NW_OK;
    if (p->dst[e - 1] == p->dst[e] && p->kind[e - 1] == p->kind[e])
        return nw_scan_fail(&in->scan, "edge %d -> %d %s occurs twice", src,
                            p->dst[e], nw_kind_name((enum nw_kind)p->kind[e]));
    return nw_scan_fail(&in->scan, "edge %d -> %d %s is not in order", src,
                        p->dst[e], nw_kind_name((enum nw_kind)p->kind[e]));
}

static nw_status grow_sizes(struct native *in)
{
    nw_pattern *p = in->pattern;
    nw_status status = NW_OK;

    if (!p->size_row)
        status = nw_alloc(in->stated + 1, sizeof *p->size_row, &p->size_row);
    if (!status)
        status = nw_grow(&p->size_bucket, &in->bucket_capacity, in->size + 1,
                         sizeof *p->size_bucket);
    if (!status)
        status = nw_grow(&p->size_count, &in->count_capacity, in->size + 1,
                         sizeof *p->size_count);
    return status;
}

static nw_status native_read_sizes(struct native *in)
{
    static const char what[] = "message sizes like 4:832,5:16";
    struct nw_scan word_start = in->scan;
    const char *at, *end;
    size_t length = nw_scan_word(&in->scan, &at);
    uint64_t bucket, count, sum = 0, last = 0;
    nw_status status = NW_OK;

    for (end = at + length; !status && at < end; at++) {
        bool first = !sum && !last;

        if (!take_digits(&at, end, &bucket) || at == end || *at++ != ':' ||
            !take_digits(&at, end, &count) || (at < end && *at != ',') ||
            at + 1 == end || bucket > 64 || !count ||
            (!first && bucket <= last) ||
            __builtin_add_overflow(sum, count, &sum))
            return nw_scan_expected(&word_start, what);
        status = grow_sizes(in);
        if (!status) {
            in->pattern->size_bucket[in->size] = (uint8_t)bucket;
            in->pattern->size_count[in->size++] = count;
            last = bucket;
        }
    }
    if (!status && sum > in->pattern->messages[in->edge])
        return nw_scan_fail(&in->scan, "more message sizes than messages");
    return status;
}

static nw_status native_read_edge(struct native *in, int32_t *last)
{
    nw_pattern *p = in->pattern;
    struct nw_scan *scan = &in->scan;
    int32_t src;
    nw_status status = native_read_rank(scan, p->rank_count, &src);

    if (status)
        return status;
    if (in->edge == in->stated)
        return nw_scan_fail(scan, "more than the %zu edge%s stated", in->stated,
                            nw_plural((uint64_t)in->stated));
    if (src < *last)
        return nw_scan_fail(scan, "source %d after %d: not in order", src,
                            *last);
    while (*last < src)
        p->row[++*last] = in->edge;
    status = native_read_rank(scan, p->rank_count, &p->dst[in->edge]);
    if (status)
        return status;
    if (!read_kind(scan, &p->kind[in->edge]))
        return nw_scan_expected(scan, "hh, gg, hg or gh");
    if (!nw_scan_u64(scan, &p->bytes[in->edge]))
        return nw_scan_expected(scan, "a number of bytes");
    if (!nw_scan_u64(scan, &p->messages[in->edge]))
        return nw_scan_expected(scan, "a number of messages");
    status = check_order(in, src);
    if (!status && !nw_scan_is_done(scan))
        status = native_read_sizes(in);
    if (!status)
        status = expect_end(scan);
    in->edge++;
    if (!status && p->size_row)
        p->size_row[in->edge] = in->size;
    return status;
}

/* Reads all edges on several threads (rows.h). The current line has the first
 * edge. Returns false if the lines have an error or are not in the plain form
 * that nw_rows_of_edges expects; they must then be read one by one. */
static bool native_read_rows(struct native *in)
{
    struct nw_body body = {in->scan.at, in->scan.end, in->threads};

    in->pattern->edge_count = in->stated;
    return nw_rows_of_edges(&body, in->pattern);
}

static nw_status read_body(struct native *in)
{
    int32_t last = 0;
    nw_status status = NW_OK;

    while (!status && nw_scan_line(&in->scan)) {
        bool is_edge = *in->scan.at >= '0' && *in->scan.at <= '9';

        if (is_edge && !in->edge && native_read_rows(in))
            return NW_OK;
        status =
            !is_edge && !in->edge ? read_key(in) : native_read_edge(in, &last);
    }
    if (status)
        return status;
    if (in->edge < in->stated)
        return nw_scan_fail(
            &in->scan, "the file ends after %zu of the %zu edge%s stated",
            in->edge, in->stated, nw_plural((uint64_t)in->stated));
    while (last < in->pattern->rank_count)
        in->pattern->row[++last] = in->edge;
    in->pattern->edge_count = in->edge;
    return NW_OK;
}

nw_status nw_native_read(const struct nw_pattern_text *text, nw_pattern **out)
{
    struct native in = {.length = text->length, .threads = text->threads};
    uint64_t ranks;
    nw_status status;

    nw_scan_init(&in.scan, text->file, text->data, text->length);
    status = read_version(&in);
    if (!status)
        status = native_read_counts(&in, &ranks);
    if (!status)
        status = nw_pattern_new((int32_t)ranks, in.stated, &in.pattern);
    if (!status)
        status = read_body(&in);
    if (!status && in.phase)
        status = nw_pattern_set_phases(in.pattern, in.phase);
    free(in.phase);
    if (status)
        nw_pattern_free(in.pattern);
    else
        *out = in.pattern;
    return status;
}
