/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merges the records of all ranks into a pattern. A sender knows only whether
 * its own buffer is in GPU memory, and so does a receiver. Messages from rank i
 * to rank j with the same tag and size class are considered together. If all of
 * one end's buffers are in the same kind of memory, the kinds of the messages
 * follow exactly. If both ends use both kinds, messages from a GPU are matched
 * first with messages into a GPU, and bytes are divided in proportion to the
 * numbers of messages. This is rare, since tag and size class must also be the
 * same.
 */
#include "runtime/profile/merge_records.h"

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "runtime/profile/call_times.h"

#include <stdlib.h>
#include <string.h>

struct merge_half {
    int32_t src, dst;
    struct nw_part_record record;
};

struct nw_merge {
    nw_pattern_builder *builder;
    int32_t rank_count;
    bool mixed;
    /* records that must be matched with the other end's */
    struct merge_half *half;
    size_t half_count, half_capacity;
    uint64_t outside_bytes, outside_messages;
    struct nw_pattern_amount traffic[NW_ORIGIN_COUNT];
    bool has_traffic;
    struct nw_call_times times;
};

nw_status nw_merge_new(int32_t rank_count, bool mixed, struct nw_merge **out)
{
    struct nw_merge *merge;
    nw_status status = nw_alloc(1, sizeof *merge, &merge);

    if (status)
        return status;
    merge->rank_count = rank_count;
    merge->mixed = mixed;
    status = nw_pattern_builder_new(rank_count, &merge->builder);
    if (status) {
        nw_merge_free(merge);
        return status;
    }
    *out = merge;
    return NW_OK;
}

void nw_merge_free(struct nw_merge *merge)
{
    if (!merge)
        return;
    nw_pattern_builder_free(merge->builder);
    nw_call_times_fini(&merge->times);
    free(merge->half);
    free(merge);
}

static nw_status add_edge(struct nw_merge *merge, const struct merge_half *half,
                          enum nw_kind kind)
{
    const struct nw_part_record *record = &half->record;
    nw_status status = NW_OK;

    if (!record->messages)
        return NW_OK;
    status = nw_pattern_builder_add(merge->builder, half->src, half->dst, kind,
                                    record->bytes, record->messages);
    for (int b = 0; !status && b < NW_PART_SIZES; b++)
        if (record->sizes[b])
            status = nw_pattern_builder_add_size(merge->builder, half->src,
                                                 half->dst, kind, b,
                                                 record->sizes[b]);
    return status;
}

/* Adds a record to the traffic of its origin (the kind of MPI call, or NCCL),
 * if the origin is known. Skips records of receivers, since the sender has
 * recorded the same messages. */
static void add_traffic(struct nw_merge *merge,
                        const struct nw_part_record *record)
{
    struct nw_pattern_amount *traffic;

    if (record->class == NW_PART_RECEIVED_GPU || !record->origin)
        return;
    traffic = &merge->traffic[record->origin - 1];
    traffic->bytes += record->bytes;
    traffic->messages += record->messages;
    merge->has_traffic = true;
}

nw_status nw_merge_add(struct nw_merge *merge, int32_t rank,
                       const struct nw_part_record *record)
{
    bool inward = record->inward || record->class == NW_PART_RECEIVED_GPU;
    struct merge_half half = {inward ? record->peer : rank,
                              inward ? rank : record->peer, *record};
    nw_status status;

    if (record->class == NW_PART_TIME)
        return nw_call_times_add(&merge->times, rank, record);
    if (!record->class || record->class >= NW_PART_CLASS_END ||
        record->origin > NW_ORIGIN_COUNT || record->peer < 0 ||
        record->peer >= merge->rank_count)
        return nw_fail(NW_EINVAL, "rank %d has a record that makes no sense",
                       rank);
    add_traffic(merge, record);
    if (record->class <= NW_PART_GH)
        return add_edge(merge, &half, (enum nw_kind)(record->class - 1));
    if (!merge->mixed)
        return add_edge(merge, &half, NW_KIND_HH);
    status = nw_grow(&merge->half, &merge->half_capacity, merge->half_count + 1,
                     sizeof half);
    if (!status)
        merge->half[merge->half_count++] = half;
    return status;
}

void nw_merge_add_outside(struct nw_merge *merge, uint64_t bytes,
                          uint64_t messages)
{
    merge->outside_bytes += bytes;
    merge->outside_messages += messages;
}

static int compare_halves(const void *a, const void *b)
{
    const struct merge_half *x = a, *y = b;

    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    if (x->record.tag != y->record.tag)
        // records without a tag come last
        return x->record.tag > y->record.tag ? -1 : 1;
    return x->record.class - y->record.class;
}

static void merge_records_move(struct nw_part_record *to,
                               struct nw_part_record *from,
                               const struct nw_part_record *much)
{
    for (int b = 0; b < NW_PART_SIZES; b++) {
        to->sizes[b] += much->sizes[b];
        from->sizes[b] -= much->sizes[b];
    }
    to->bytes += much->bytes;
    to->messages += much->messages;
    from->bytes -= much->bytes;
    from->messages -= much->messages;
}

static void merge_records_put(struct nw_part_record *to,
                              const struct nw_part_record *much)
{
    merge_records_move(to, &(struct nw_part_record){0}, much);
}

static uint64_t merge_records_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the part of `from` that matches `with`: in each size class, the
 * smaller number of messages. Its bytes are exact if it contains all messages
 * of one record; otherwise they are proportional to the number of messages. */
static struct nw_part_record
merge_records_common(const struct nw_part_record *from,
                     const struct nw_part_record *with)
{
    struct nw_part_record both = {0};

    for (int b = 0; b < NW_PART_SIZES; b++) {
        both.sizes[b] = merge_records_least(from->sizes[b], with->sizes[b]);
        both.messages += both.sizes[b];
    }
    if (both.messages == with->messages)
        both.bytes = merge_records_least(with->bytes, from->bytes);
    else if (both.messages == from->messages)
        both.bytes = from->bytes;
    else
        both.bytes = (uint64_t)((double)from->bytes * (double)both.messages /
                                (double)from->messages);
    return both;
}

/* Adds the edges of the four kinds of memory for one tag of one pair of ranks.
 * `host` and `gpu` contain the messages that the sender sent from host and GPU
 * memory. `received` contains those that arrived in the receiver's GPU
 * memory. */
static nw_status merge_split(struct nw_merge *merge, struct merge_half *host,
                             struct merge_half *gpu,
                             struct nw_part_record *received)
{
    struct merge_half gg = *gpu, hg = *host;
    struct nw_part_record part;
    nw_status status;

    memset(&gg.record, 0, sizeof gg.record);
    memset(&hg.record, 0, sizeof hg.record);
    part = merge_records_common(&gpu->record, received);
    merge_records_move(&gg.record, &gpu->record, &part);
    part.bytes = merge_records_least(part.bytes, received->bytes);
    merge_records_move(&(struct nw_part_record){0}, received, &part);
    part = merge_records_common(&host->record, received);
    merge_records_move(&hg.record, &host->record, &part);
    part.bytes = merge_records_least(part.bytes, received->bytes);
    merge_records_move(&(struct nw_part_record){0}, received, &part);
    status = add_edge(merge, &gg, NW_KIND_GG);
    if (!status)
        status = add_edge(merge, &hg, NW_KIND_HG);
    if (!status)
        status = add_edge(merge, host, NW_KIND_HH);
    if (!status)
        status = add_edge(merge, gpu, NW_KIND_GH);
    return status;
}

static bool same_pair(const struct merge_half *a, const struct merge_half *b)
{
    return a->src == b->src && a->dst == b->dst;
}

/* Matches the records of one pair of ranks, tag by tag, and the records without
 * a tag last. A sender that uses no GPU records no tags. So messages that the
 * receiver has recorded with a tag, and that did not match, are matched with
 * the records without a tag. */
static nw_status match_pair(struct nw_merge *merge, struct merge_half *first,
                            size_t count)
{
    struct nw_part_record unmatched = {0};
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < count;) {
        int32_t tag = first[i].record.tag;
        struct merge_half host = {first->src, first->dst, {0}}, gpu = host;
        struct nw_part_record received = {0};

        for (; i < count && first[i].record.tag == tag; i++) {
            struct nw_part_record much = first[i].record;
            struct nw_part_record *to =
                much.class == NW_PART_SENT_HOST  ? &host.record
                : much.class == NW_PART_SENT_GPU ? &gpu.record
                                                 : &received;

            merge_records_put(to, &much);
        }
        if (tag == NW_PART_NO_TAG)
            merge_records_put(&received, &unmatched);
        status = merge_split(merge, &host, &gpu, &received);
        merge_records_put(&unmatched, &received);
    }
    return status;
}

static nw_status match_halves(struct nw_merge *merge)
{
    struct merge_half *half = merge->half;
    nw_status status = NW_OK;
    size_t next;

    if (merge->half_count)
        qsort(half, merge->half_count, sizeof *half, compare_halves);
    for (size_t i = 0; !status && i < merge->half_count; i = next) {
        for (next = i + 1;
             next < merge->half_count && same_pair(&half[next], &half[i]);)
            next++;
        status = match_pair(merge, half + i, next - i);
    }
    return status;
}

static nw_status note_outside(const struct nw_merge *merge, nw_pattern *pattern)
{
    struct nw_text text = {0};

    if (!merge->outside_messages)
        return NW_OK;
    nw_text_format(&text,
                   "%llu message%s, %llu byte%s to processes outside "
                   "MPI_COMM_WORLD are not counted",
                   (unsigned long long)merge->outside_messages,
                   nw_plural((uint64_t)merge->outside_messages),
                   (unsigned long long)merge->outside_bytes,
                   nw_plural((uint64_t)merge->outside_bytes));
    return nw_text_take(&text, &pattern->note);
}

static nw_status keep_traffic(const struct nw_merge *merge, nw_pattern *pattern)
{
    nw_status status;

    if (!merge->has_traffic)
        return NW_OK;
    status =
        nw_alloc(NW_ORIGIN_COUNT, sizeof *pattern->traffic, &pattern->traffic);
    if (!status)
        memcpy(pattern->traffic, merge->traffic, sizeof merge->traffic);
    return status;
}

nw_status nw_merge_build(struct nw_merge *merge, nw_pattern **out)
{
    nw_pattern *pattern = NULL;
    nw_status status = match_halves(merge);

    if (!status)
        status = nw_pattern_builder_build(merge->builder, &pattern);
    if (!status)
        status = note_outside(merge, pattern);
    if (!status)
        status = keep_traffic(merge, pattern);
    if (!status)
        status = nw_call_times_build(&merge->times, pattern);
    if (status)
        nw_pattern_free(pattern);
    else
        *out = pattern;
    return status;
}
