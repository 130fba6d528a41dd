/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the number of messages by size. If the pattern has no sizes of
 * messages, each pair of ranks counts with its mean size. */
#include "base/array.h"
#include "report/page/page.h"

#include <stdio.h>
#include <stdlib.h>

#define MESSAGE_SIZES_BUCKETS 65 /* as in nw_pattern.size_bucket */

/* Returns the bucket of a size: 0 for 0 bytes, b for 2^(b-1) to 2^b - 1 bytes.
 */
static int message_sizes_bucket(uint64_t bytes)
{
    int bucket = 0;

    for (; bytes; bytes >>= 1)
        bucket++;
    return bucket;
}

/* Counts the messages of each bucket of sizes. */
static void message_sizes_count(const nw_pattern *pattern, double *count)
{
    for (size_t e = 0; e < pattern->edge_count; e++) {
        if (pattern->size_row) {
            for (size_t s = pattern->size_row[e]; s < pattern->size_row[e + 1];
                 s++)
                count[pattern->size_bucket[s]] +=
                    (double)pattern->size_count[s];
        } else if (pattern->messages[e])
            count[message_sizes_bucket(pattern->bytes[e] /
                                       pattern->messages[e])] +=
                (double)pattern->messages[e];
    }
}

/* Writes the range of a bucket, such as "512 B to 1.02 kB". */
static void message_sizes_range(int bucket, char out[80])
{
    double least = bucket > 1 ? (double)(UINT64_C(1) << (bucket - 1)) : bucket;
    char from[32], to[32];

    nw_format_quantity(least, NW_UNIT_BYTES, from, sizeof from);
    nw_format_quantity(2 * least - 1, NW_UNIT_BYTES, to, sizeof to);
    if (bucket < 2)
        snprintf(out, 80, "%s", from);
    else
        snprintf(out, 80, "%s to %s", from, to);
}

static void message_sizes_add_row(struct nw_text *text, int bucket,
                                  double count, double all)
{
    char range[80], words[32];

    message_sizes_range(bucket, range);
    snprintf(words, sizeof words, "%.0f", count);
    nw_text_add(text, "<tr>");
    nw_page_element(text, "th scope=\"row\"", "%s", range);
    nw_page_share(text, words, count, all);
    nw_page_element(text, "td", "%.1f %%", 100 * count / all);
    nw_text_add(text, "</tr>\n");
}

static void message_sizes_add_table(struct nw_text *text, const double *count,
                                    double all)
{
    nw_page_wide(text, "Messages by size");
    nw_text_add(text, "<table><thead><tr><th scope=\"col\">size</th>"
                      "<th scope=\"col\">messages</th><th scope=\"col\">"
                      "share</th></tr></thead>\n<tbody>\n");
    for (int b = 0; b < MESSAGE_SIZES_BUCKETS; b++)
        if (count[b] > 0)
            message_sizes_add_row(text, b, count[b], all);
    nw_text_add(text, "</tbody></table>\n");
    nw_page_wide_end(text);
}

nw_status nw_page_messages(struct nw_text *text, const struct nw_page *page)
{
    const nw_pattern *pattern = page->input->pattern;
    double *count, all = 0;
    nw_status status = nw_alloc(MESSAGE_SIZES_BUCKETS, sizeof *count, &count);

    if (status)
        return status;
    message_sizes_count(pattern, count);
    for (int b = 0; b < MESSAGE_SIZES_BUCKETS; b++)
        all += count[b];
    nw_text_add(text, "<section id=\"messages\"><h2>Message sizes</h2>\n");
    if (all > 0) {
        nw_text_format(text, "<p>Number of messages by size%s.</p>\n",
                       pattern->size_row
                           ? ""
                           : ". The pattern has no sizes of single messages: "
                             "each pair of ranks counts with its mean size");
        message_sizes_add_table(text, count, all);
    } else {
        nw_text_add(text, "<p>The pattern counts no messages.</p>\n");
    }
    nw_text_add(text, "</section>\n");
    free(count);
    return NW_OK;
}
