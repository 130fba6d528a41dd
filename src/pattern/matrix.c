/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes dense matrices: n lines of n byte counts. Row i has the
 * bytes that rank i sends; 0 means no edge. A file does not store messages, and
 * has one sum for the edges of all kinds between two ranks. Also reads the .mat
 * files of Open MPI's monitoring. */
#include "base/status.h"
#include "base/text.h"
#include "pattern/format.h"

/* The limit for writing: the text of a larger matrix would have gigabytes. */
#define MOST_COLUMNS 32768

bool nw_fits_matrix(const struct nw_shape *shape)
{
    return shape->numeric && shape->lines == shape->most &&
           shape->fewest == shape->most;
}

static size_t count_words(struct nw_scan scan)
{
    const char *word;
    size_t count = 0;

    while (nw_scan_word(&scan, &word))
        count++;
    return count;
}

static nw_status read_row(struct nw_scan *scan, int32_t row, int32_t n,
                          nw_pattern_builder *builder)
{
    nw_status status = NW_OK;
    uint64_t bytes;

    for (int32_t column = 0; !status && column < n; column++) {
        if (!nw_scan_bytes(scan, &bytes))
            return nw_scan_expected(scan, "a number of bytes");
        if (bytes)
            status = nw_pattern_builder_add(builder, row, column, NW_KIND_HH,
                                            bytes, 1);
    }
    if (!status && !nw_scan_is_done(scan))
        return nw_scan_fail(scan, "more than %d column%s", n,
                            nw_plural((uint64_t)n));
    return status;
}

static nw_status matrix_read_rows(struct nw_scan *scan, int32_t n,
                                  nw_pattern_builder *builder)
{
    int32_t row = 0;
    nw_status status = NW_OK;

    do
        status = row == n ? nw_scan_fail(scan, "more than %d row%s", n,
                                         nw_plural((uint64_t)n))
                          : read_row(scan, row++, n, builder);
    while (!status && nw_scan_line(scan));
    if (!status && row < n)
        status = nw_scan_fail(scan, "the file ends after %d of %d row%s", row,
                              n, nw_plural((uint64_t)n));
    return status;
}

nw_status nw_matrix_read(const struct nw_pattern_text *text, nw_pattern **out)
{
    struct nw_scan scan;
    nw_pattern_builder *builder = NULL;
    size_t n;
    nw_status status;

    nw_scan_init(&scan, text->file, text->data, text->length);
    if (!nw_scan_line(&scan))
        return nw_scan_fail(&scan, "the file has no rows");
    n = count_words(scan);
    status = nw_check_rank_count(&scan, text->length, n);
    if (!status)
        status = nw_pattern_builder_new((int32_t)n, &builder);
    if (!status)
        status = matrix_read_rows(&scan, (int32_t)n, builder);
    if (!status)
        status = nw_pattern_builder_build(builder, out);
    nw_pattern_builder_free(builder);
    return status;
}

static void put_zeros(struct nw_text *out, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        nw_text_add_bytes(out, "0 ", 2);
}

static void put_number(struct nw_text *out, uint64_t value)
{
    char word[24], *at = nw_put_u64(word, value);

    *at++ = ' ';
    nw_text_add_bytes(out, word, (size_t)(at - word));
}

nw_status nw_matrix_render(const nw_pattern *p, struct nw_text *out)
{
    nw_status status = NW_OK;

    if (p->rank_count > MOST_COLUMNS)
        return nw_fail(NW_EUNSUPPORTED,
                       "%d ranks make too large a matrix: at most %d",
                       p->rank_count, MOST_COLUMNS);
    for (int32_t r = 0; !status && r < p->rank_count; r++) {
        int32_t column = 0;

        for (size_t e = p->row[r]; !status && e < p->row[r + 1];) {
            int32_t dst = p->dst[e];
            uint64_t bytes;

            status = nw_pair_next(p, r, &e, &bytes);
            put_zeros(out, dst - column);
            put_number(out, bytes);
            column = dst + 1;
        }
        put_zeros(out, p->rank_count - column);
        if (out->length)
            out->data[out->length - 1] = '\n';
    }
    return status;
}
