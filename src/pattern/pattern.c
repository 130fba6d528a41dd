/* SPDX-License-Identifier: BSD-3-Clause */
/* The pattern noun itself: its builder, its totals, its end. */
#include <nodewise/pattern.h>

#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[NW_KIND_COUNT] = {"hh", "gg", "hg", "gh"};

const char *nw_kind_name(enum nw_kind kind)
{
    return kind_names[kind];
}

void nw_pattern_free(nw_pattern *pattern)
{
    if (!pattern)
        return;
    free(pattern->row);
    free(pattern->dst);
    free(pattern->kind);
    free(pattern->bytes);
    free(pattern->messages);
    free(pattern->size_row);
    free(pattern->size_bucket);
    free(pattern->size_count);
    free(pattern->program);
    free(pattern->partial);
    free(pattern->note);
    free(pattern);
}

/* One record an edge or a size entry, in the order they came. */
struct record {
    int32_t src, dst;
    uint8_t kind;
    int8_t bucket; /* -1: bytes and messages; else `messages` of that size */
    uint64_t bytes, messages;
};

struct nw_pattern_builder {
    int32_t rank_count;
    struct record *record;
    size_t count, capacity;
    bool has_sizes;
};

nw_status nw_pattern_builder_new(int32_t rank_count, nw_pattern_builder **out)
{
    nw_pattern_builder *builder;
    nw_status status;

    if (rank_count < 1)
        return nw_fail(NW_EINVAL, "a pattern needs at least 1 rank, not %d",
                       rank_count);
    status = nw_alloc(1, sizeof *builder, &builder);
    if (status)
        return status;
    builder->rank_count = rank_count;
    *out = builder;
    return NW_OK;
}

void nw_pattern_builder_free(nw_pattern_builder *builder)
{
    if (!builder)
        return;
    free(builder->record);
    free(builder);
}

static nw_status add_record(nw_pattern_builder *builder, struct record record)
{
    nw_status status;

    if (record.src < 0 || record.src >= builder->rank_count || record.dst < 0 ||
        record.dst >= builder->rank_count)
        return nw_fail(NW_EINVAL, "edge %d -> %d is outside ranks 0 to %d",
                       record.src, record.dst, builder->rank_count - 1);
    status = nw_grow(&builder->record, &builder->capacity, builder->count + 1,
                     sizeof *builder->record);
    if (!status)
        builder->record[builder->count++] = record;
    return status;
}

nw_status nw_pattern_builder_add(nw_pattern_builder *builder, int32_t src,
                                 int32_t dst, enum nw_kind kind, uint64_t bytes,
                                 uint64_t messages)
{
    return add_record(
        builder, (struct record){src, dst, (uint8_t)kind, -1, bytes, messages});
}

nw_status nw_pattern_builder_add_size(nw_pattern_builder *builder, int32_t src,
                                      int32_t dst, enum nw_kind kind,
                                      int bucket, uint64_t count)
{
    if (bucket < 0 || bucket > 64)
        return nw_fail(NW_EINVAL, "a size bucket is from 0 to 64, not %d",
                       bucket);
    builder->has_sizes = true;
    return add_record(builder, (struct record){src, dst, (uint8_t)kind,
                                               (int8_t)bucket, 0, count});
}

static int compare_records(const void *a, const void *b)
{
    const struct record *x = a, *y = b;

    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->bucket - y->bucket;
}

/* Buckets by source, then each row sorted alone: rows are short, so a million
 * of them sort in linear time together. */
static nw_status sort_records(nw_pattern_builder *builder, size_t *row)
{
    struct record *sorted;
    nw_status status = nw_alloc(builder->count, sizeof *sorted, &sorted);

    if (status)
        return status;
    for (size_t i = 0; i < builder->count; i++)
        row[builder->record[i].src + 1]++;
    for (int32_t r = 0; r < builder->rank_count; r++)
        row[r + 1] += row[r];
    for (size_t i = 0; i < builder->count; i++)
        sorted[row[builder->record[i].src]++] = builder->record[i];
    memmove(row + 1, row, (size_t)builder->rank_count * sizeof *row);
    row[0] = 0;
    free(builder->record);
    builder->record = sorted;
    builder->capacity = builder->count;
    for (int32_t r = 0; r < builder->rank_count; r++)
        qsort(sorted + row[r], row[r + 1] - row[r], sizeof *sorted,
              compare_records);
    return NW_OK;
}

static bool same_edge(const struct record *a, const struct record *b)
{
    return a->src == b->src && a->dst == b->dst && a->kind == b->kind;
}

/* Sums equal records (edge and bucket) onto the first. */
static nw_status merge_records(nw_pattern_builder *builder)
{
    size_t kept = 0;

    for (size_t i = 0; i < builder->count; i++) {
        struct record *from = &builder->record[i];
        struct record *to = kept ? &builder->record[kept - 1] : NULL;

        if (!to || !same_edge(to, from) || to->bucket != from->bucket) {
            builder->record[kept++] = *from;
            continue;
        }
        if (__builtin_add_overflow(to->bytes, from->bytes, &to->bytes) ||
            __builtin_add_overflow(to->messages, from->messages, &to->messages))
            return nw_fail(NW_EFORMAT, "edge %d -> %d: the sum passes 2^64 - 1",
                           from->src, from->dst);
    }
    builder->count = kept;
    return NW_OK;
}

static nw_status alloc_edges(nw_pattern *pattern, size_t edges, size_t sizes,
                             bool has_sizes)
{
    nw_status status = nw_alloc(edges, sizeof *pattern->dst, &pattern->dst);

    if (!status)
        status = nw_alloc(edges, sizeof *pattern->kind, &pattern->kind);
    if (!status)
        status = nw_alloc(edges, sizeof *pattern->bytes, &pattern->bytes);
    if (!status)
        status = nw_alloc(edges, sizeof *pattern->messages, &pattern->messages);
    if (status || !has_sizes)
        return status;
    status = nw_alloc(edges + 1, sizeof *pattern->size_row, &pattern->size_row);
    if (!status)
        status = nw_alloc(sizes, sizeof *pattern->size_bucket,
                          &pattern->size_bucket);
    if (!status)
        status =
            nw_alloc(sizes, sizeof *pattern->size_count, &pattern->size_count);
    return status;
}

static void count_edges(const nw_pattern_builder *builder, size_t *edges,
                        size_t *sizes)
{
    const struct record *record = builder->record;

    *edges = *sizes = 0;
    for (size_t i = 0; i < builder->count; i++) {
        *edges += !i || !same_edge(&record[i], &record[i - 1]);
        *sizes += record[i].bucket >= 0;
    }
}

static void fill_edges(const nw_pattern_builder *builder, nw_pattern *pattern)
{
    const struct record *record = builder->record;
    size_t edge = 0, size = 0;

    for (size_t i = 0; i < builder->count; i++) {
        if (!i || !same_edge(&record[i], &record[i - 1])) {
            pattern->row[record[i].src + 1]++;
            pattern->dst[edge] = record[i].dst;
            pattern->kind[edge++] = record[i].kind;
        }
        if (record[i].bucket < 0) {
            pattern->bytes[edge - 1] = record[i].bytes;
            pattern->messages[edge - 1] = record[i].messages;
        } else {
            pattern->size_bucket[size] = (uint8_t)record[i].bucket;
            pattern->size_count[size++] = record[i].messages;
        }
        if (pattern->size_row)
            pattern->size_row[edge] = size;
    }
    pattern->edge_count = edge;
    for (int32_t r = 0; r < pattern->rank_count; r++)
        pattern->row[r + 1] += pattern->row[r];
}

nw_status nw_pattern_builder_build(nw_pattern_builder *builder,
                                   nw_pattern **out)
{
    nw_pattern *pattern = NULL;
    size_t rows = (size_t)builder->rank_count + 1, edges, sizes;
    nw_status status = nw_alloc(1, sizeof *pattern, &pattern);

    if (!status)
        status = nw_alloc(rows, sizeof *pattern->row, &pattern->row);
    if (!status)
        status = sort_records(builder, pattern->row);
    if (!status)
        status = merge_records(builder);
    if (!status) {
        count_edges(builder, &edges, &sizes);
        status = alloc_edges(pattern, edges, sizes, builder->has_sizes);
    }
    if (status) {
        nw_pattern_free(pattern);
        return status;
    }
    pattern->rank_count = builder->rank_count;
    memset(pattern->row, 0, rows * sizeof *pattern->row);
    fill_edges(builder, pattern);
    builder->count = 0;
    builder->has_sizes = false;
    *out = pattern;
    return NW_OK;
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

struct nw_pattern_total nw_pattern_total(const nw_pattern *pattern,
                                         enum nw_kind kind)
{
    struct nw_pattern_total total = {0};

    for (size_t e = 0; e < pattern->edge_count; e++) {
        if (pattern->kind[e] != kind)
            continue;
        total.bytes = add_saturating(total.bytes, pattern->bytes[e]);
        total.messages = add_saturating(total.messages, pattern->messages[e]);
        total.edges++;
    }
    return total;
}

bool nw_pattern_has_gpu(const nw_pattern *pattern)
{
    for (size_t e = 0; e < pattern->edge_count; e++)
        if (pattern->kind[e] != NW_KIND_HH)
            return true;
    return false;
}
