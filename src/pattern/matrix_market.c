/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes Matrix Market files: coordinate and array; general,
 * symmetric and skew-symmetric; integer, real and pattern. Row i, column j
 * holds the bytes that rank i sends to rank j; the sign is ignored. */
#include "base/status.h"
#include "base/text.h"
#include "pattern/format.h"

#include <string.h>
#include <strings.h>

/* The state of the reader. */
struct market {
    struct nw_scan scan;
    bool array, symmetric, skew, pattern; /* skew implies symmetric */
    uint64_t ranks, entries;
    nw_pattern_builder *builder;
};

bool nw_fits_market(const struct nw_shape *shape)
{
    static const char head[] = "%%MatrixMarket";

    return shape->first_length >= sizeof head - 1 &&
           !strncasecmp(shape->first, head, sizeof head - 1);
}

/* Reads a word of the banner, which must be names[0] or names[1], in any case.
 * Sets *is_second to true if the word is names[1]. If the word is neither,
 * returns false and does not move scan->at. */
static bool take_name(struct nw_scan *scan, const char *const names[2],
                      bool *is_second)
{
    const char *start = scan->at, *word;
    size_t length = nw_scan_word(scan, &word);

    for (int i = 0; i < 2; i++)
        if (length == strlen(names[i]) &&
            !strncasecmp(word, names[i], length)) {
            *is_second = i;
            return true;
        }
    scan->at = start;
    return false;
}

static nw_status read_field(struct market *in)
{
    static const char *const whole[] = {"integer", "pattern"};
    static const char *const real[] = {"real", "double"};
    bool ignored;

    if (!take_name(&in->scan, whole, &in->pattern) &&
        !take_name(&in->scan, real, &ignored))
        return nw_scan_expected(&in->scan, "integer, real or pattern");
    if (in->pattern && in->array)
        return nw_scan_fail(&in->scan,
                            "'array' and 'pattern' exclude each other");
    return NW_OK;
}

static nw_status read_banner(struct market *in)
{
    static const char *const head[] = {"%%MatrixMarket", "%%MatrixMarket"};
    static const char *const object[] = {"matrix", "matrix"};
    static const char *const layout[] = {"coordinate", "array"};
    static const char *const symmetry[] = {"general", "symmetric"};
    static const char *const skew[] = {"skew-symmetric", "skew-symmetric"};
    struct nw_scan *scan = &in->scan;
    bool ignored;
    nw_status status;

    scan->comment = '\n'; /* comments start at % only after the banner */
    if (!nw_scan_line(scan) || !take_name(scan, head, &ignored) ||
        !take_name(scan, object, &ignored))
        return nw_scan_fail(scan, "expected '%%%%MatrixMarket matrix'");
    if (!take_name(scan, layout, &in->array))
        return nw_scan_expected(scan, "coordinate or array");
    status = read_field(in);
    if (status)
        return status;
    if (take_name(scan, skew, &in->skew))
        in->symmetric = in->skew = true;
    else if (!take_name(scan, symmetry, &in->symmetric))
        return nw_scan_expected(scan, "general, symmetric or skew-symmetric");
    if (!nw_scan_is_done(scan))
        return nw_scan_expected(scan, "the end of the line");
    scan->comment = '%';
    return NW_OK;
}

static nw_status matrix_market_read_size(struct market *in, size_t length)
{
    struct nw_scan *scan = &in->scan;
    uint64_t columns;

    if (!nw_scan_line(scan) || !nw_scan_u64(scan, &in->ranks))
        return nw_scan_expected(scan, "a number of rows");
    if (!nw_scan_u64(scan, &columns))
        return nw_scan_expected(scan, "a number of columns");
    if (columns != in->ranks)
        return nw_scan_fail(
            scan, "%llu row%s and %llu column%s: not square",
            (unsigned long long)in->ranks, nw_plural((uint64_t)in->ranks),
            (unsigned long long)columns, nw_plural((uint64_t)columns));
    if (!in->array && !nw_scan_u64(scan, &in->entries))
        return nw_scan_expected(scan, "a number of entries");
    if (!nw_scan_is_done(scan))
        return nw_scan_expected(scan, "the end of the line");
    return nw_check_rank_count(scan, length, in->ranks);
}

static nw_status add_entry(struct market *in, uint64_t row, uint64_t column,
                           uint64_t bytes)
{
    nw_status status = nw_pattern_builder_add(
        in->builder, (int32_t)row, (int32_t)column, NW_KIND_HH, bytes, 1);

    if (!status && in->symmetric && row != column)
        status = nw_pattern_builder_add(in->builder, (int32_t)column,
                                        (int32_t)row, NW_KIND_HH, bytes, 1);
    return status;
}

static nw_status read_index(struct market *in, uint64_t *out)
{
    uint64_t index;

    if (!nw_scan_u64(&in->scan, &index))
        return nw_scan_expected(&in->scan, "a row and a column");
    if (!index || index > in->ranks)
        return nw_scan_fail(&in->scan, "index %llu is outside 1 to %llu",
                            (unsigned long long)index,
                            (unsigned long long)in->ranks);
    *out = index - 1;
    return NW_OK;
}

/* Reads the absolute value of an entry, rounded to the nearest whole number of
 * bytes. An entry that is not 0 has at least 1 byte. */
static nw_status read_amount(struct market *in, uint64_t *out)
{
    struct nw_scan *scan = &in->scan;
    const char *start;
    double amount;

    scan->at += strspn(scan->at, " \t");
    scan->at += *scan->at == '-' && strchr(".0123456789", scan->at[1]);
    start = scan->at;
    if (!nw_scan_bytes(scan, out))
        return nw_scan_expected(scan, "a number of bytes");
    if (*out)
        return NW_OK;
    scan->at = start;
    *out = nw_scan_double(scan, &amount) && amount > 0;
    return NW_OK;
}

static nw_status read_entry(struct market *in)
{
    uint64_t row, column, bytes = 1;
    nw_status status = read_index(in, &row);

    if (!status)
        status = read_index(in, &column);
    if (status)
        return status;
    if (in->symmetric && column > row)
        return nw_scan_fail(&in->scan, "an entry above the diagonal of a "
                                       "symmetric matrix");
    if (in->skew && column == row)
        return nw_scan_fail(&in->scan, "an entry on the diagonal of a "
                                       "skew-symmetric matrix");
    if (!in->pattern)
        status = read_amount(in, &bytes);
    if (!status && !nw_scan_is_done(&in->scan))
        status = nw_scan_expected(&in->scan, "the end of the line");
    return status || !bytes ? status : add_entry(in, row, column, bytes);
}

static nw_status read_coordinates(struct market *in)
{
    uint64_t entry = 0;
    nw_status status = NW_OK;

    while (!status && nw_scan_line(&in->scan))
        status =
            entry++ == in->entries
                ? nw_scan_fail(&in->scan, "more than %llu entr%s",
                               (unsigned long long)in->entries,
                               nw_by_count((uint64_t)in->entries, "y", "ies"))
                : read_entry(in);
    if (!status && entry < in->entries)
        status = nw_scan_fail(
            &in->scan, "the file ends after %llu of %llu entr%s",
            (unsigned long long)entry, (unsigned long long)in->entries,
            nw_by_count((uint64_t)in->entries, "y", "ies"));
    return status;
}

/* Reads the entries column by column. A symmetric matrix has only the entries
 * from the diagonal down, a skew-symmetric one only those below the diagonal.
 */
static nw_status read_array(struct market *in)
{
    nw_status status = NW_OK;
    uint64_t bytes;

    for (uint64_t column = 0; column < in->ranks; column++)
        for (uint64_t row = in->symmetric ? column + in->skew : 0;
             !status && row < in->ranks; row++) {
            if (!nw_scan_seek(&in->scan))
                return nw_scan_fail(&in->scan,
                                    "the file ends in column %llu of %llu",
                                    (unsigned long long)column + 1,
                                    (unsigned long long)in->ranks);
            status = read_amount(in, &bytes);
            if (!status && bytes)
                status = add_entry(in, row, column, bytes);
        }
    if (!status && nw_scan_seek(&in->scan))
        status = nw_scan_expected(&in->scan, "the end of the file");
    return status;
}

nw_status nw_market_read(const struct nw_pattern_text *text, nw_pattern **out)
{
    struct market in = {0};
    nw_status status;

    nw_scan_init(&in.scan, text->file, text->data, text->length);
    status = read_banner(&in);
    if (!status)
        status = matrix_market_read_size(&in, text->length);
    if (!status)
        status = nw_pattern_builder_new((int32_t)in.ranks, &in.builder);
    if (!status)
        status = in.array ? read_array(&in) : read_coordinates(&in);
    if (!status)
        status = nw_pattern_builder_build(in.builder, out);
    if (!status) /* the builder added the messages of repeated entries */
        nw_pattern_one_message(*out);
    nw_pattern_builder_free(in.builder);
    return status;
}

static size_t count_pairs(const nw_pattern *p)
{
    size_t count = 0;

    for (int32_t r = 0; r < p->rank_count; r++)
        for (size_t e = p->row[r]; e < p->row[r + 1]; e++)
            count += e == p->row[r] || p->dst[e] != p->dst[e - 1];
    return count;
}

nw_status nw_market_render(const nw_pattern *p, struct nw_text *out)
{
    nw_status status = NW_OK;

    nw_text_format(out,
                   "%%%%MatrixMarket matrix coordinate integer general\n"
                   "%d %d %zu\n",
                   p->rank_count, p->rank_count, count_pairs(p));
    for (int32_t r = 0; r < p->rank_count; r++)
        for (size_t e = p->row[r]; !status && e < p->row[r + 1];) {
            char line[64], *at = nw_put_u64(line, (uint64_t)r + 1);
            uint64_t bytes;

            *at++ = ' ';
            at = nw_put_u64(at, (uint64_t)p->dst[e] + 1);
            *at++ = ' ';
            status = nw_pair_next(p, r, &e, &bytes);
            at = nw_put_u64(at, bytes);
            *at++ = '\n';
            nw_text_add_bytes(out, line, (size_t)(at - line));
        }
    return status;
}
