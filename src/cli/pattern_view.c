/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the statistics of a pattern once, and prints them as a table or as
 * JSON. */
#include "cli/pattern_view.h"

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/pattern_times.h"

#include <nodewise/report.h>

#include <stdlib.h>

#define BUCKETS 65

/* Totals of all edges of one kind, in 128 bits, since sums over edges may
 * exceed 64 bits. */
struct pattern_view_total {
    nw_uint128 bytes, messages;
    size_t edges;
};

struct summary {
    struct pattern_view_total total[NW_KIND_COUNT];
    int32_t src[NW_KIND_COUNT];    /* sender of the largest edge of each kind */
    size_t largest[NW_KIND_COUNT]; /* index of the largest edge of each kind;
                                      SIZE_MAX: the kind has no edge */
    size_t fewest, most; /* smallest, largest and mean number of other ranks
                            that a rank sends to */
    double mean;
    size_t self;               /* number of edges from a rank to itself */
    nw_uint128 sizes[BUCKETS]; /* number of messages in each bucket of sizes,
                                  see bucket_from() */
};

/* Returns the number of other ranks that a rank sends to. */
static size_t count_partners(const nw_pattern *p, int32_t rank)
{
    size_t count = 0;

    for (size_t e = p->row[rank]; e < p->row[rank + 1]; e++)
        count += p->dst[e] != rank &&
                 (e == p->row[rank] || p->dst[e] != p->dst[e - 1]);
    return count;
}

static void take_degrees(const nw_pattern *p, struct summary *summary)
{
    size_t sum = 0;

    summary->fewest = SIZE_MAX;
    for (int32_t r = 0; r < p->rank_count; r++) {
        size_t count = count_partners(p, r);

        sum += count;
        summary->most = count > summary->most ? count : summary->most;
        summary->fewest = count < summary->fewest ? count : summary->fewest;
    }
    summary->mean = (double)sum / p->rank_count;
}

static void take_edge(const nw_pattern *p, int32_t rank, size_t e,
                      struct summary *summary)
{
    uint8_t kind = p->kind[e];
    size_t best = summary->largest[kind];

    summary->total[kind].bytes += p->bytes[e];
    summary->total[kind].messages += p->messages[e];
    summary->total[kind].edges++;
    summary->self += p->dst[e] == rank;
    if (best == SIZE_MAX || p->bytes[e] > p->bytes[best]) {
        summary->largest[kind] = e;
        summary->src[kind] = rank;
    }
}

static void take_summary(const nw_pattern *p, struct summary *summary)
{
    *summary = (struct summary){0};
    for (int k = 0; k < NW_KIND_COUNT; k++)
        summary->largest[k] = SIZE_MAX;
    take_degrees(p, summary);
    for (int32_t r = 0; r < p->rank_count; r++)
        for (size_t e = p->row[r]; e < p->row[r + 1]; e++)
            take_edge(p, r, e, summary);
    for (size_t s = 0; p->size_row && s < p->size_row[p->edge_count]; s++)
        summary->sizes[p->size_bucket[s]] += p->size_count[s];
}

/* Returns the smallest size in a bucket. Bucket 0 has empty messages, bucket b
 * has messages of 2^(b-1) to 2^b - 1 bytes. */
static uint64_t bucket_from(int bucket)
{
    return bucket ? UINT64_C(1) << (bucket - 1) : 0;
}

/* Returns the largest size in a bucket. */
static uint64_t bucket_to(int bucket)
{
    return bucket ? bucket_from(bucket) + (bucket_from(bucket) - 1) : 0;
}

static void pattern_view_add_kind(nw_table *table, const nw_pattern *p,
                                  const struct summary *summary, int kind)
{
    const struct pattern_view_total *total = &summary->total[kind];
    char words[40];

    if (!total->edges)
        return;
    nw_table_row(table, -1);
    nw_table_cell(table, "%s", nw_kind_name((enum nw_kind)kind));
    nw_table_cell(table, "%zu", total->edges);
    nw_table_cell(table, "%s", nw_format_wide(total->bytes, words));
    nw_table_cell(table, "%s", nw_format_wide(total->messages, words));
    if (total->messages)
        nw_table_cell(
            table, "%s",
            nw_format_quantity((double)total->bytes / (double)total->messages,
                               NW_UNIT_BYTES, words, sizeof words));
    else
        nw_table_cell(table, "-");
    nw_table_cell(table, "%d -> %d: %llu", summary->src[kind],
                  p->dst[summary->largest[kind]],
                  (unsigned long long)p->bytes[summary->largest[kind]]);
}

static nw_status add_kinds(const nw_pattern *p, const struct summary *summary,
                           struct nw_text *text)
{
    static const char *const titles[] = {"EDGES", "BYTES", "MESSAGES",
                                         "MEAN MESSAGE", "LARGEST EDGE"};
    nw_table *table;
    nw_status status = nw_table_new(&table);

    if (status)
        return status;
    nw_table_column(table, "KIND", NW_ALIGN_LEFT);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        nw_table_column(table, titles[i], NW_ALIGN_RIGHT);
    for (int k = 0; k < NW_KIND_COUNT; k++)
        pattern_view_add_kind(table, p, summary, k);
    return nw_cli_add_table(table, text);
}

static nw_status pattern_view_add_sizes(const struct summary *summary,
                                        struct nw_text *text)
{
    nw_table *table;
    char count[40];
    nw_status status = nw_table_new(&table);

    if (status)
        return status;
    nw_table_column(table, "MESSAGE SIZE", NW_ALIGN_RIGHT);
    nw_table_column(table, "COUNT", NW_ALIGN_RIGHT);
    for (int b = 0; b < BUCKETS; b++) {
        if (!summary->sizes[b])
            continue;
        nw_table_row(table, -1);
        nw_table_cell(table, "%llu - %llu", (unsigned long long)bucket_from(b),
                      (unsigned long long)bucket_to(b));
        nw_table_cell(table, "%s", nw_format_wide(summary->sizes[b], count));
    }
    return nw_cli_add_table(table, text);
}

static void pattern_view_add_line(struct nw_text *text, const char *key,
                                  const char *value)
{
    if (!value)
        return;
    nw_text_format(text, "%-9s", key);
    nw_text_add_shown(text, value);
    nw_text_add(text, "\n");
}

static void add_profile(const nw_pattern *p, struct nw_text *text)
{
    if (p->traffic) {
        nw_text_format(text, "%-9s", "traffic");
        nw_cli_add_traffic(p, text);
        nw_text_add(text, "\n");
    }
    if (p->time_count) {
        nw_text_format(text, "%-9s", "in MPI");
        nw_cli_add_mpi_time(p, text);
        nw_text_add(text, "\n");
    }
}

nw_status nw_cli_pattern_table(const nw_pattern *p, const char *how, char **out)
{
    struct nw_text text = {0};
    struct summary summary;
    nw_status status = NW_OK;

    take_summary(p, &summary);
    nw_text_format(&text, "%-9s%d\n%-9s%zu (%zu to the rank itself)\n", "ranks",
                   p->rank_count, "edges", p->edge_count, summary.self);
    nw_text_format(&text, "%-9s%zu to %zu, mean %.1f\n", "partners",
                   summary.fewest, summary.most, summary.mean);
    pattern_view_add_line(&text, "program", p->program);
    pattern_view_add_line(&text, "partial", p->partial);
    pattern_view_add_line(&text, "note", p->note);
    pattern_view_add_line(&text, "scaled", how);
    add_profile(p, &text);
    if (p->edge_count)
        status = add_kinds(p, &summary, &text);
    if (!status && p->size_row)
        status = pattern_view_add_sizes(&summary, &text);
    if (!status)
        status = nw_cli_add_call_times(p, SIZE_MAX, &text);
    if (!status)
        return nw_text_take(&text, out);
    nw_text_fini(&text);
    return status;
}

static void kind_json(struct nw_json *json, const nw_pattern *p,
                      const struct summary *summary, int kind)
{
    size_t e = summary->largest[kind];

    if (!summary->total[kind].edges)
        return;
    nw_json_object(json, nw_kind_name((enum nw_kind)kind));
    nw_json_unsigned(json, "edges", summary->total[kind].edges);
    nw_json_wide(json, "bytes", summary->total[kind].bytes);
    nw_json_wide(json, "messages", summary->total[kind].messages);
    nw_json_object(json, "largest");
    nw_json_integer(json, "src", summary->src[kind]);
    nw_json_integer(json, "dst", p->dst[e]);
    nw_json_unsigned(json, "bytes", p->bytes[e]);
    nw_json_unsigned(json, "messages", p->messages[e]);
    nw_json_end_object(json);
    nw_json_end_object(json);
}

static void sizes_json(struct nw_json *json, const struct summary *summary)
{
    nw_json_array(json, "sizes");
    for (int b = 0; b < BUCKETS; b++) {
        if (!summary->sizes[b])
            continue;
        nw_json_object(json, NULL);
        nw_json_unsigned(json, "from", bucket_from(b));
        nw_json_unsigned(json, "to", bucket_to(b));
        nw_json_wide(json, "count", summary->sizes[b]);
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
}

static void string_json(struct nw_json *json, const char *key,
                        const char *value)
{
    if (value)
        nw_json_string(json, key, value);
}

nw_status nw_cli_pattern_json(const nw_pattern *p, const char *how, char **out)
{
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};
    struct summary summary;

    take_summary(p, &summary);
    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.pattern/1");
    nw_json_integer(&json, "ranks", p->rank_count);
    nw_json_unsigned(&json, "edges", p->edge_count);
    nw_json_unsigned(&json, "self_edges", summary.self);
    string_json(&json, "program", p->program);
    string_json(&json, "partial", p->partial);
    string_json(&json, "note", p->note);
    string_json(&json, "scaled", how);
    nw_json_object(&json, "partners");
    nw_json_unsigned(&json, "fewest", summary.fewest);
    nw_json_unsigned(&json, "most", summary.most);
    nw_json_number(&json, "mean", summary.mean);
    nw_json_end_object(&json);
    nw_json_object(&json, "kinds");
    for (int k = 0; k < NW_KIND_COUNT; k++)
        kind_json(&json, p, &summary, k);
    nw_json_end_object(&json);
    if (p->size_row)
        sizes_json(&json, &summary);
    nw_cli_times_json(p, &json);
    nw_json_end_object(&json);
    return nw_text_take(&text, out);
}
