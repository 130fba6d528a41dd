/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines two patterns: the edges of one become the host layer, those of the
 * other the GPU layer. Also copies the edges of one kind. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"

#include <nodewise/pattern.h>

static nw_status add_sizes(const nw_pattern *pattern, size_t edge,
                           const int32_t ends[2], enum nw_kind kind,
                           nw_pattern_builder *builder)
{
    nw_status status = NW_OK;

    if (!pattern->size_row)
        return NW_OK;
    for (size_t s = pattern->size_row[edge];
         !status && s < pattern->size_row[edge + 1]; s++)
        status = nw_pattern_builder_add_size(builder, ends[0], ends[1], kind,
                                             pattern->size_bucket[s],
                                             pattern->size_count[s]);
    return status;
}

/* Adds the edges of kind `from`, with their message sizes, to the builder as
 * edges of kind `kind`. If `from` is NW_KIND_COUNT, adds all edges. */
static nw_status add_layer(const nw_pattern *pattern, enum nw_kind from,
                           enum nw_kind kind, nw_pattern_builder *builder)
{
    nw_status status = NW_OK;

    for (int32_t r = 0; r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; !status && e < pattern->row[r + 1];
             e++) {
            const int32_t ends[2] = {r, pattern->dst[e]};

            if (from != NW_KIND_COUNT && pattern->kind[e] != from)
                continue;
            status =
                nw_pattern_builder_add(builder, r, ends[1], kind,
                                       pattern->bytes[e], pattern->messages[e]);
            if (!status)
                status = add_sizes(pattern, e, ends, kind, builder);
        }
    return status;
}

nw_status nw_pattern_combine(const nw_pattern *host, const nw_pattern *gpu,
                             nw_pattern **out)
{
    nw_pattern_builder *builder = NULL;
    nw_status status;

    if (host->rank_count != gpu->rank_count)
        return nw_fail(NW_EINVAL,
                       "the host pattern has %d rank%s, the GPU pattern %d",
                       host->rank_count, nw_plural((uint64_t)host->rank_count),
                       gpu->rank_count);
    status = nw_pattern_builder_new(host->rank_count, &builder);
    if (!status)
        status = add_layer(host, NW_KIND_COUNT, NW_KIND_HH, builder);
    if (!status)
        status = add_layer(gpu, NW_KIND_COUNT, NW_KIND_GG, builder);
    if (!status)
        status = nw_pattern_builder_build(builder, out);
    nw_pattern_builder_free(builder);
    return status;
}

static nw_status copy_words(const nw_pattern *from, nw_pattern *to)
{
    const char *const words[] = {from->program, from->partial, from->note};
    char **const places[] = {&to->program, &to->partial, &to->note};
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < 3; i++)
        if (words[i])
            status = nw_strdup(words[i], places[i]);
    return status;
}

nw_status nw_pattern_select(const nw_pattern *pattern, enum nw_kind kind,
                            nw_pattern **out)
{
    nw_pattern_builder *builder;
    nw_pattern *kept = NULL;
    nw_status status = nw_pattern_builder_new(pattern->rank_count, &builder);

    if (status)
        return status;
    status = add_layer(pattern, kind, kind, builder);
    if (!status)
        status = nw_pattern_builder_build(builder, &kept);
    if (!status)
        status = copy_words(pattern, kept);
    nw_pattern_builder_free(builder);
    if (status)
        nw_pattern_free(kept);
    else
        *out = kept;
    return status;
}
