/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of kinds, totals and destruction of patterns. */
#include "pattern/format.h"

#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[NW_KIND_COUNT] = {"hh", "gg", "hg", "gh"};

const char *nw_kind_name(enum nw_kind kind)
{
    return kind_names[kind];
}

nw_status nw_pattern_alloc_edges(nw_pattern *pattern, size_t edges)
{
    nw_status status = nw_alloc_raw(edges, sizeof *pattern->dst, &pattern->dst);

    if (!status)
        status = nw_alloc_raw(edges, sizeof *pattern->kind, &pattern->kind);
    if (!status)
        status = nw_alloc_raw(edges, sizeof *pattern->bytes, &pattern->bytes);
    if (!status)
        status =
            nw_alloc_raw(edges, sizeof *pattern->messages, &pattern->messages);
    return status;
}

nw_status nw_pattern_new(int32_t ranks, size_t edges, nw_pattern **out)
{
    nw_pattern *pattern = NULL;
    nw_status status = nw_alloc(1, sizeof *pattern, &pattern);

    if (!status)
        status = nw_alloc_raw((size_t)ranks + 1, sizeof *pattern->row,
                              &pattern->row);
    if (!status)
        status = nw_pattern_alloc_edges(pattern, edges);
    if (status) {
        nw_pattern_free(pattern);
        return status;
    }
    pattern->row[0] = 0;
    pattern->rank_count = ranks;
    pattern->edge_count = edges;
    *out = pattern;
    return NW_OK;
}

size_t nw_pattern_find(const nw_pattern *pattern, int32_t src, int32_t dst)
{
    size_t low = pattern->row[src], high = pattern->row[src + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (pattern->dst[middle] < dst)
            low = middle + 1;
        else
            high = middle;
    }
    return low < pattern->row[src + 1] && pattern->dst[low] == dst ? low
                                                                   : SIZE_MAX;
}

static const char *const phase_names[NW_PHASE_COUNT] = {
    [NW_PHASE_TENSOR] = "tp",       [NW_PHASE_CONTEXT] = "cp",
    [NW_PHASE_EXPERT] = "ep",       [NW_PHASE_DATA] = "dp",
    [NW_PHASE_EXPERT_DATA] = "edp", [NW_PHASE_PIPELINE] = "pp"};

const char *nw_phase_name(enum nw_phase phase)
{
    return phase_names[phase];
}

int nw_phase_find(const char *name, size_t length)
{
    for (int p = 0; p < NW_PHASE_COUNT; p++)
        if (nw_scan_is(name, length, phase_names[p]))
            return p;
    return -1;
}

const char *nw_phase_title(enum nw_phase phase)
{
    static const char *const titles[NW_PHASE_COUNT] = {
        [NW_PHASE_TENSOR] = "tensor (tp)",
        [NW_PHASE_CONTEXT] = "context (cp)",
        [NW_PHASE_EXPERT] = "experts (ep)",
        [NW_PHASE_DATA] = "data (dp)",
        [NW_PHASE_EXPERT_DATA] = "expert data (edp)",
        [NW_PHASE_PIPELINE] = "pipeline (pp)"};

    return titles[phase];
}

const char *nw_origin_name(enum nw_origin origin)
{
    static const char *const names[NW_ORIGIN_COUNT] = {
        "point-to-point", "one-sided", "collective", "nccl"};

    return names[origin];
}

void nw_pattern_free_phases(struct nw_pattern_phases *phases)
{
    for (int p = 0; phases && p < NW_PHASE_COUNT; p++)
        nw_pattern_free(phases->pattern[p]);
    free(phases);
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
    free(pattern->weight);
    free(pattern->size_row);
    free(pattern->size_bucket);
    free(pattern->size_count);
    free(pattern->program);
    free(pattern->partial);
    free(pattern->note);
    free(pattern->traffic);
    for (size_t i = 0; i < pattern->time_count; i++)
        free(pattern->time[i].call);
    free(pattern->time);
    nw_pattern_free_phases(pattern->phases);
    free(pattern);
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

struct nw_pattern_total nw_pattern_total_of(const nw_pattern *pattern,
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
NW_OLD_NAME(nw_pattern_total, nw_pattern_total_of);

bool nw_pattern_has_gpu(const nw_pattern *pattern)
{
    size_t e = 0;

    for (uint64_t eight; e + sizeof eight <= pattern->edge_count;
         e += sizeof eight) {
        memcpy(&eight, pattern->kind + e, sizeof eight);
        if (eight) /* bits are set for kinds other than NW_KIND_HH (0) */
            return true;
    }
    for (; e < pattern->edge_count; e++)
        if (pattern->kind[e] != NW_KIND_HH)
            return true;
    return false;
}
