/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the pairs of ranks from one or two patterns and sorts the pairs by
 * their bytes. The edges of a rank are sorted by receiver, so that the rows of
 * two patterns can be merged. */
#include "cli/pattern_pairs.h"

#include "base/array.h"
#include "base/text.h"

#include <nodewise/report.h>

#include <stdlib.h>

/* Messages from rank `src` to rank `dst`, of all kinds together. */
struct pattern_pairs_pair {
    int32_t src, dst;
    uint64_t bytes[2]; /* bytes in the first and in the second pattern */
    uint64_t messages;
};

struct pairs {
    struct pattern_pairs_pair *pair;
    size_t count, capacity;
    double total[2]; /* bytes of all pairs in each pattern */
};

/* Adds the bytes and messages of the edges of all kinds from pair->src to
 * pair->dst in pattern `which`, beginning at *edge; moves *edge past them. */
static void pattern_pairs_take_edges(const nw_pattern *p,
                                     struct pattern_pairs_pair *pair, int which,
                                     size_t *edge)
{
    size_t end = pair->src < p->rank_count ? p->row[pair->src + 1] : 0;

    for (; *edge < end && p->dst[*edge] == pair->dst; (*edge)++) {
        if (__builtin_add_overflow(pair->bytes[which], p->bytes[*edge],
                                   &pair->bytes[which]))
            pair->bytes[which] = UINT64_MAX;
        if (__builtin_add_overflow(pair->messages, p->messages[*edge],
                                   &pair->messages))
            pair->messages = UINT64_MAX;
    }
}

/* Returns the receiver of an edge of rank `src`; INT32_MAX if `edge` is past
 * the last edge of this rank. */
static int32_t pattern_pairs_receiver(const nw_pattern *p, int32_t src,
                                      size_t edge)
{
    return src < p->rank_count && edge < p->row[src + 1] ? p->dst[edge]
                                                         : INT32_MAX;
}

/* Adds all pairs with the sender `src`. */
static nw_status take_row(const nw_pattern *const pattern[2], int32_t src,
                          struct pairs *pairs)
{
    size_t edge[2];

    for (int i = 0; i < 2; i++)
        edge[i] = src < pattern[i]->rank_count ? pattern[i]->row[src] : 0;
    for (;;) {
        int32_t dst[2] = {pattern_pairs_receiver(pattern[0], src, edge[0]),
                          pattern_pairs_receiver(pattern[1], src, edge[1])};
        struct pattern_pairs_pair pair = {
            src, dst[0] < dst[1] ? dst[0] : dst[1], {0, 0}, 0};
        nw_status status;

        if (pair.dst == INT32_MAX)
            return NW_OK;
        for (int i = 0; i < 2; i++)
            if (dst[i] == pair.dst)
                pattern_pairs_take_edges(pattern[i], &pair, i, &edge[i]);
        if (pair.src == pair.dst)
            continue;
        status = nw_grow(&pairs->pair, &pairs->capacity, pairs->count + 1,
                         sizeof *pairs->pair);
        if (status)
            return status;
        pairs->pair[pairs->count++] = pair;
        for (int i = 0; i < 2; i++)
            pairs->total[i] += (double)pair.bytes[i];
    }
}

static uint64_t pattern_pairs_difference(const struct pattern_pairs_pair *pair)
{
    return pair->bytes[0] > pair->bytes[1] ? pair->bytes[0] - pair->bytes[1]
                                           : pair->bytes[1] - pair->bytes[0];
}

/* Compares pairs by how much their bytes differ between the two patterns,
 * largest first (with one pattern: by bytes), then by sender, then by receiver.
 */
static int pattern_pairs_compare(const void *one, const void *other)
{
    const struct pattern_pairs_pair *a = one, *b = other;
    uint64_t x = pattern_pairs_difference(a), y = pattern_pairs_difference(b);

    if (x != y)
        return x < y ? 1 : -1;
    return a->src != b->src ? (a->src > b->src) - (a->src < b->src)
                            : (a->dst > b->dst) - (a->dst < b->dst);
}

static nw_status pattern_pairs_find_pairs(const nw_pattern *before,
                                          const nw_pattern *after,
                                          struct pairs *out)
{
    const nw_pattern *const pattern[2] = {before, after};
    int32_t ranks = before->rank_count > after->rank_count ? before->rank_count
                                                           : after->rank_count;
    nw_status status = NW_OK;

    for (int32_t src = 0; !status && src < ranks; src++)
        status = take_row(pattern, src, out);
    if (!status && out->count)
        qsort(out->pair, out->count, sizeof *out->pair, pattern_pairs_compare);
    return status;
}

static const char *pattern_pairs_say_bytes(double bytes, char text[32])
{
    return nw_format_quantity(bytes, NW_UNIT_BYTES, text, 32);
}

static void pattern_pairs_add_top(nw_table *table, const struct pairs *pairs,
                                  int32_t most)
{
    char text[32];

    nw_table_column(table, "from", NW_ALIGN_RIGHT);
    nw_table_column(table, "to", NW_ALIGN_RIGHT);
    nw_table_column(table, "bytes", NW_ALIGN_RIGHT);
    nw_table_column(table, "share", NW_ALIGN_RIGHT);
    nw_table_column(table, "messages", NW_ALIGN_RIGHT);
    for (size_t i = 0; i < pairs->count && i < (size_t)most; i++) {
        const struct pattern_pairs_pair *pair = &pairs->pair[i];

        nw_table_row(table, -1);
        nw_table_cell(table, "%d", pair->src);
        nw_table_cell(table, "%d", pair->dst);
        nw_table_cell(table, "%s",
                      pattern_pairs_say_bytes((double)pair->bytes[0], text));
        nw_table_cell(table, "%.1f %%",
                      pairs->total[0] > 0
                          ? 100 * (double)pair->bytes[0] / pairs->total[0]
                          : 0.0);
        nw_table_cell(table, "%llu", (unsigned long long)pair->messages);
    }
}

/* Adds three cells: bytes before, bytes after, and the change in percent;
 * without bytes before, the change is "new" or "equal". */
static void pattern_pairs_add_change(nw_table *table, const double bytes[2])
{
    char text[32];

    for (int i = 0; i < 2; i++)
        nw_table_cell(table, "%s", pattern_pairs_say_bytes(bytes[i], text));
    if (bytes[0] > 0)
        nw_table_cell(table, "%+.1f %%", 100 * (bytes[1] / bytes[0] - 1));
    else
        nw_table_cell(table, "%s", bytes[1] > 0 ? "new" : "equal");
}

static void add_diff(nw_table *table, const struct pairs *pairs, int32_t most)
{
    nw_table_column(table, "from", NW_ALIGN_RIGHT);
    nw_table_column(table, "to", NW_ALIGN_RIGHT);
    nw_table_column(table, "before", NW_ALIGN_RIGHT);
    nw_table_column(table, "after", NW_ALIGN_RIGHT);
    nw_table_column(table, "change", NW_ALIGN_RIGHT);
    nw_table_row(table, -1);
    nw_table_cell(table, "all");
    nw_table_cell(table, "all");
    pattern_pairs_add_change(table, pairs->total);
    for (size_t i = 0; i < pairs->count && i < (size_t)most &&
                       pattern_pairs_difference(&pairs->pair[i]);
         i++) {
        const struct pattern_pairs_pair *pair = &pairs->pair[i];

        nw_table_row(table, -1);
        nw_table_cell(table, "%d", pair->src);
        nw_table_cell(table, "%d", pair->dst);
        pattern_pairs_add_change(
            table,
            (const double[]){(double)pair->bytes[0], (double)pair->bytes[1]});
    }
}

static nw_status pattern_pairs_make_table(const nw_pattern *before,
                                          const nw_pattern *after, int32_t most,
                                          char **out)
{
    static const nw_pattern nothing = {.rank_count = 0};
    struct pairs pairs = {0};
    nw_table *table = NULL;
    nw_status status =
        pattern_pairs_find_pairs(before, after ? after : &nothing, &pairs);

    if (!status)
        status = nw_table_new(&table);
    if (!status && !after && !pairs.count) {
        status = nw_strdup("no rank sends to another rank\n", out);
    } else if (!status) {
        if (after)
            add_diff(table, &pairs, most);
        else
            pattern_pairs_add_top(table, &pairs, most);
        status = nw_table_text(table, out);
    }
    nw_table_free(table);
    free(pairs.pair);
    return status;
}

nw_status nw_cli_pattern_top(const nw_pattern *pattern, int32_t most,
                             char **out)
{
    return pattern_pairs_make_table(pattern, NULL, most, out);
}

nw_status nw_cli_pattern_diff(const nw_pattern *before, const nw_pattern *after,
                              int32_t most, char **out)
{
    return pattern_pairs_make_table(before, after, most, out);
}
