/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds a pattern from edges in any order; readers, generators and the
 * profiler use this file. Edges that are added in sorted order need no sort.
 * Sorting others takes about linear time if each rank has few edges. */
#include "base/array.h"
#include "base/status.h"
#include "pattern/format.h"

#include <stdlib.h>
#include <string.h>

/* One call of nw_pattern_builder_add or nw_pattern_builder_add_size. Records
 * are in the order of these calls. */
struct record {
    int32_t src, dst;
    uint8_t kind;
    /* -1: the record adds bytes and messages; else `messages` counts messages
     * of this size bucket */
    int8_t bucket;
    uint64_t bytes, messages;
};

struct nw_pattern_builder {
    int32_t rank_count;
    struct record *record;
    size_t count, capacity;
    bool has_sizes;
    bool unsorted;        /* a record precedes a record that should come before
                             it */
    size_t fold_at;       /* number of records at which nw_builder_fold works
                             next */
    struct record passed; /* the edge whose sum exceeded 64 bits, with the
                             running sum of nw_builder_passes */
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

static int compare_records(const void *a, const void *b)
{
    const struct record *x = a, *y = b;

    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->bucket - y->bucket;
}

static bool is_in_order(const nw_pattern_builder *builder,
                        const struct record *record)
{
    const struct record *last;

    if (!builder->count)
        return true;
    last = builder->record + builder->count - 1;
    return last->src < record->src ||
           (last->src == record->src && compare_records(last, record) <= 0);
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
    if (status)
        return status;
    builder->unsorted |= !is_in_order(builder, &record);
    builder->record[builder->count++] = record;
    return NW_OK;
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

#define SHORT 32 /* up to this many records: insertion sort */

static void builder_sort_row(struct record *row, size_t count)
{
    if (count > SHORT) {
        qsort(row, count, sizeof *row, compare_records);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct record record = row[i];
        size_t at = i;

        for (; at > 0 && compare_records(&row[at - 1], &record) > 0; at--)
            row[at] = row[at - 1];
        row[at] = record;
    }
}

/* Distributes the records by source in linear time, then sorts the records of
 * each source, which are usually few. Does nothing if all are in order. */
static nw_status sort_records(nw_pattern_builder *builder, size_t *row)
{
    struct record *sorted;
    nw_status status;

    if (!builder->unsorted)
        return NW_OK;
    status = nw_alloc(builder->count, sizeof *sorted, &sorted);
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
        builder_sort_row(sorted + row[r], row[r + 1] - row[r]);
    return NW_OK;
}

static bool same_edge(const struct record *a, const struct record *b)
{
    return a->src == b->src && a->dst == b->dst && a->kind == b->kind;
}

/* Adds `from` to `to`, a record of the same edge and bucket. Fails if a sum
 * exceeds 64 bits. If `file` is not NULL, edges may not repeat: the function
 * always fails, with the later of the two line numbers, which the reader has
 * stored in `messages`. */
static nw_status merge_two(struct record *to, const struct record *from,
                           const char *file)
{
    uint64_t later =
        from->messages > to->messages ? from->messages : to->messages;

    if (file)
        return nw_fail(NW_EFORMAT, "%s:%llu: edge %d -> %d occurs twice", file,
                       (unsigned long long)later, from->src, from->dst);
    if (__builtin_add_overflow(to->bytes, from->bytes, &to->bytes) ||
        __builtin_add_overflow(to->messages, from->messages, &to->messages))
        return nw_fail(NW_EFORMAT, "edge %d -> %d: the sum passes 2^64 - 1",
                       from->src, from->dst);
    return NW_OK;
}

bool nw_builder_passes(nw_pattern_builder *builder)
{
    struct record *sum = &builder->passed;
    bool passes = false;

    for (size_t i = 0; i < builder->count; i++) {
        const struct record *one = &builder->record[i];

        if (same_edge(one, sum) && one->bucket == sum->bucket)
            passes |=
                __builtin_add_overflow(sum->bytes, one->bytes, &sum->bytes) ||
                __builtin_add_overflow(sum->messages, one->messages,
                                       &sum->messages);
    }
    builder->count = 0;
    return passes;
}

/* Merges sorted records of the same edge and bucket. If this fails,
 * builder->passed names the edge for nw_builder_passes, and the builder is
 * empty. */
static nw_status merge_records(nw_pattern_builder *builder, const char *file)
{
    size_t kept = 0;
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < builder->count; i++) {
        struct record *from = &builder->record[i];
        struct record *to = kept ? &builder->record[kept - 1] : NULL;

        if (!to || !same_edge(to, from) || to->bucket != from->bucket)
            builder->record[kept++] = *from;
        else
            status = merge_two(to, from, file);
        if (status) {
            builder->passed = *from;
            builder->passed.bytes = builder->passed.messages = 0;
        }
    }
    builder->count = status ? 0 : kept;
    return status;
}

#define FOLD_LEAST ((size_t)1 << 20)

nw_status nw_builder_fold(nw_pattern_builder *builder)
{
    size_t *row = NULL;
    nw_status status;

    if (builder->count < FOLD_LEAST || builder->count < builder->fold_at)
        return NW_OK;
    status = nw_alloc((size_t)builder->rank_count + 1, sizeof *row, &row);
    if (!status)
        status = sort_records(builder, row);
    if (!status)
        status = merge_records(builder, NULL);
    free(row);
    builder->unsorted = false;
    builder->fold_at = 2 * builder->count;
    return status;
}

static nw_status alloc_edges(nw_pattern *pattern, size_t edges, size_t sizes,
                             bool has_sizes)
{
    nw_status status = nw_pattern_alloc_edges(pattern, edges);

    if (status)
        return status;
    memset(pattern->bytes, 0, edges * sizeof *pattern->bytes);
    memset(pattern->messages, 0, edges * sizeof *pattern->messages);
    if (!has_sizes)
        return NW_OK;
    status = nw_alloc(edges + 1, sizeof *pattern->size_row, &pattern->size_row);
    if (!status)
        status = nw_alloc(sizes, sizeof *pattern->size_bucket,
                          &pattern->size_bucket);
    if (!status)
        status =
            nw_alloc(sizes, sizeof *pattern->size_count, &pattern->size_count);
    return status;
}

static void builder_count_edges(const nw_pattern_builder *builder,
                                size_t *edges, size_t *sizes)
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

nw_status nw_build_lines(nw_pattern_builder *builder, const char *file,
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
        status = merge_records(builder, file);
    if (!status) {
        builder_count_edges(builder, &edges, &sizes);
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
    builder->has_sizes = builder->unsorted = false;
    *out = pattern;
    return NW_OK;
}

nw_status nw_pattern_builder_build(nw_pattern_builder *builder,
                                   nw_pattern **out)
{
    return nw_build_lines(builder, NULL, out);
}

void nw_pattern_one_message(nw_pattern *pattern)
{
    for (size_t e = 0; e < pattern->edge_count; e++)
        pattern->messages[e] = 1;
}

nw_status nw_build_once(nw_pattern_builder *builder, const char *file,
                        nw_pattern **out)
{
    nw_status status = nw_build_lines(builder, file, out);

    if (!status)
        nw_pattern_one_message(*out);
    return status;
}
