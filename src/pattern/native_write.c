/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes Nodewise's own pattern format. The profiler uses this file too. */
#include "base/text.h"
#include "pattern/format.h"

#include <string.h>

/* Returns the length of the UTF-8 character at `at` if it needs no escape, else
 * 0. */
static size_t plain_character(const char *at)
{
    unsigned char c = (unsigned char)*at;

    return c < 0x20 || c == 0x7f || c == '\\' ? 0 : nw_text_character(at);
}

static void render_value(struct nw_text *out, const char *key,
                         const char *value)
{
    size_t length = value ? strlen(value) : 0, step;

    if (!value)
        return;
    nw_text_format(out, "%s: ", key);
    for (const char *at = value; *at; at += step ? step : 1) {
        bool outer = at == value || at == value + length - 1;

        step = *at == ' ' && outer ? 0 : plain_character(at);
        if (step)
            nw_text_add_bytes(out, at, step);
        else if (*at == '\\')
            nw_text_add(out, "\\\\");
        else
            nw_text_format(out, "\\x%02x", (unsigned char)*at);
    }
    nw_text_add(out, "\n");
}

static void render_sizes(const nw_pattern *pattern, size_t edge,
                         struct nw_text *out)
{
    size_t first = pattern->size_row[edge], end = pattern->size_row[edge + 1];

    for (size_t s = first; s < end; s++) {
        char word[48], *at = word;

        *at++ = s == first ? ' ' : ',';
        at = nw_put_u64(at, pattern->size_bucket[s]);
        *at++ = ':';
        at = nw_put_u64(at, pattern->size_count[s]);
        nw_text_add_bytes(out, word, (size_t)(at - word));
    }
}

static void render_edge(const nw_pattern *pattern, int32_t src, size_t edge,
                        struct nw_text *out)
{
    char line[96], *at = nw_put_u64(line, (uint64_t)src);

    *at++ = ' ';
    at = nw_put_u64(at, (uint64_t)pattern->dst[edge]);
    *at++ = ' ';
    at = stpcpy(at, nw_kind_name((enum nw_kind)pattern->kind[edge]));
    *at++ = ' ';
    at = nw_put_u64(at, pattern->bytes[edge]);
    *at++ = ' ';
    at = nw_put_u64(at, pattern->messages[edge]);
    nw_text_add_bytes(out, line, (size_t)(at - line));
    if (pattern->size_row)
        render_sizes(pattern, edge, out);
    nw_text_add_bytes(out, "\n", 1);
}

/* Appends the lines "traffic:" and "time:" of a profile. */
static void render_profile(const nw_pattern *pattern, struct nw_text *out)
{
    for (int t = 0; pattern->traffic && t < NW_ORIGIN_COUNT; t++)
        if (pattern->traffic[t].messages)
            nw_text_format(out, "traffic: %s %llu %llu\n",
                           nw_origin_name((enum nw_origin)t),
                           (unsigned long long)pattern->traffic[t].bytes,
                           (unsigned long long)pattern->traffic[t].messages);
    for (size_t i = 0; i < pattern->time_count; i++) {
        const struct nw_pattern_time *time = &pattern->time[i];

        nw_text_format(out, "time: %s %llu %llu %llu %llu\n", time->call,
                       (unsigned long long)time->calls,
                       (unsigned long long)time->min_ns,
                       (unsigned long long)time->mean_ns,
                       (unsigned long long)time->max_ns);
    }
}

/* Returns the phase of an edge of `src`. The edges of a phase are in the order
 * of the pattern's edges; next[p] is the first one of phase p that no call has
 * returned yet. */
static int take_phase(const nw_pattern *pattern, int32_t src, size_t edge,
                      size_t next[NW_PHASE_COUNT])
{
    int p = 0;

    for (; p < NW_PHASE_COUNT - 1; p++) {
        const nw_pattern *part = pattern->phases->pattern[p];

        if (part && next[p] < part->row[src + 1] &&
            part->dst[next[p]] == pattern->dst[edge] &&
            part->kind[next[p]] == pattern->kind[edge])
            break;
    }
    next[p]++;
    return p;
}

/* Appends the line "phases:". Equal phases that follow each other are one
 * word. */
static void render_phases(const nw_pattern *pattern, struct nw_text *out)
{
    size_t next[NW_PHASE_COUNT] = {0}, count = 0;
    int last = -1;

    nw_text_add(out, "phases:");
    for (int32_t r = 0; r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++) {
            int phase = take_phase(pattern, r, e, next);

            if (phase != last && count > 1)
                nw_text_format(out, "*%zu", count);
            if (phase != last)
                nw_text_format(out, " %s", nw_phase_name((enum nw_phase)phase));
            count = phase == last ? count + 1 : 1;
            last = phase;
        }
    if (count > 1)
        nw_text_format(out, "*%zu", count);
    nw_text_add(out, "\n");
}

nw_status nw_native_render(const nw_pattern *pattern, struct nw_text *out)
{
    nw_text_format(out, "nodewise pattern 1\nranks %d edges %zu\n",
                   pattern->rank_count, pattern->edge_count);
    render_value(out, "program", pattern->program);
    render_value(out, "partial", pattern->partial);
    render_value(out, "note", pattern->note);
    render_profile(pattern, out);
    if (nw_pattern_is_recorded_in_phases(pattern))
        render_phases(pattern, out);
    for (int32_t r = 0; r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++)
            render_edge(pattern, r, e, out);
    return NW_OK;
}
