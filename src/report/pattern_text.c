/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a pattern as text: totals of each kind, and heat maps in characters.
 */
#include <nodewise/report.h>

#include "base/array.h"
#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "report/heat_map.h"

#include <stdlib.h>

/* Totals of one kind of messages, in 128 bits, since sums over edges may exceed
 * 64 bits. */
struct total {
    nw_uint128 bytes, messages;
    size_t pairs;
    size_t partners; /* largest number of other ranks that a rank sends to */
};

static void take_total(const nw_pattern *pattern, enum nw_kind kind,
                       struct total *total)
{
    for (int32_t src = 0; src < pattern->rank_count; src++) {
        size_t partners = 0;

        for (size_t e = pattern->row[src]; e < pattern->row[src + 1]; e++) {
            if (pattern->kind[e] != kind)
                continue;
            total->bytes += pattern->bytes[e];
            total->messages += pattern->messages[e];
            total->pairs++;
            partners += pattern->dst[e] != src;
        }
        if (partners > total->partners)
            total->partners = partners;
    }
}

static void add_kind(nw_table *table, const nw_pattern *pattern,
                     enum nw_kind kind)
{
    struct total total = {0};
    char words[40];

    take_total(pattern, kind, &total);
    if (!total.pairs)
        return;
    nw_table_row(table, -1);
    nw_table_cell(table, "%s", nw_kind_name(kind));
    nw_table_cell(table, "%zu", total.pairs);
    nw_table_cell(table, "%zu", total.partners);
    nw_table_cell(table, "%s", nw_format_wide(total.messages, words));
    nw_table_cell(table, "%s",
                  nw_format_quantity((double)total.bytes, NW_UNIT_BYTES, words,
                                     sizeof words));
    nw_table_cell(
        table, "%s",
        total.messages
            ? nw_format_quantity((double)total.bytes / (double)total.messages,
                                 NW_UNIT_BYTES, words, sizeof words)
            : "");
}

static nw_status add_totals(struct nw_text *text, const nw_pattern *pattern)
{
    static const char *const titles[] = {"pairs", "most partners", "messages",
                                         "bytes", "mean message"};
    nw_table *table;
    char *words = NULL;
    nw_status status = nw_table_new(&table);

    if (status)
        return status;
    nw_table_column(table, "kind", NW_ALIGN_LEFT);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        nw_table_column(table, titles[i], NW_ALIGN_RIGHT);
    for (int kind = 0; kind < NW_KIND_COUNT; kind++)
        add_kind(table, pattern, (enum nw_kind)kind);
    status = nw_table_text(table, &words);
    if (!status)
        nw_text_add(text, words);
    free(words);
    nw_table_free(table);
    return status;
}

/* Appends the heat map of a layer with at most `cells` rows. */
static nw_status add_map(struct nw_text *text, const nw_pattern *pattern,
                         enum nw_layer layer, int32_t cells)
{
    struct nw_heat heat;
    char low[32], high[32];
    nw_status status =
        nw_heat_bin(&(struct nw_heat_what){pattern, layer, NULL, cells}, &heat);

    if (status)
        return status;
    nw_text_format(text, "\n%s layer, senders down, receivers across",
                   nw_layer_name(layer));
    if (heat.bin > 1)
        nw_text_format(text, ", a cell is %d x %d ranks", heat.bin, heat.bin);
    nw_text_format(
        text, "; %s to %s a cell\n",
        nw_format_quantity(heat.low, NW_UNIT_BYTES, low, sizeof low),
        nw_format_quantity(heat.high, NW_UNIT_BYTES, high, sizeof high));
    nw_heat_letters(text, &heat);
    nw_heat_fini(&heat);
    return NW_OK;
}

static void add_words(struct nw_text *text, const char *key, const char *words)
{
    if (!words)
        return;
    nw_text_format(text, "%s: ", key);
    nw_text_add_shown(text, words);
    nw_text_add(text, "\n");
}

nw_status nw_report_pattern_text(const nw_pattern *pattern, int width,
                                 char **out)
{
    struct nw_text text = {0};
    int32_t cells = width < 40 ? 15 : width > 200 ? 95 : (width - 9) / 2;
    nw_status status;

    nw_text_format(&text, "%d rank%s\n", pattern->rank_count,
                   nw_plural((uint64_t)pattern->rank_count));
    add_words(&text, "program", pattern->program);
    add_words(&text, "note", pattern->note);
    add_words(&text, "partial", pattern->partial);
    status = pattern->edge_count ? add_totals(&text, pattern) : NW_OK;
    for (int layer = 0; !status && layer < NW_LAYER_COUNT; layer++)
        if (nw_layer_is_used(pattern, (enum nw_layer)layer))
            status = add_map(&text, pattern, (enum nw_layer)layer, cells);
    return nw_text_take_if(status, &text, out);
}
