/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes words, lists of names, and figures of links for a cluster file. */
#include "topology/cluster/write.h"
#include "base/hostlist.h"
#include "base/c_locale.h"
#include <stdlib.h>
#include <string.h>

/* Returns true if the word certainly needs no quotes: it has only harmless
 * characters, does not begin with '-' or '.', and is not a constant of YAML
 * such as "yes". Numbers need none, since the reader takes every value as
 * text. */
static bool is_plain(const char *word)
{
    static const char *const meant[] = {"true", "false", "null", "yes",
                                        "no",   "on",    "off",  "~"};

    if (!*word || strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                               "UVWXYZ0123456789._-+/()") != strlen(word))
        return false;
    if (strchr("-.", *word))
        return false;
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        if (!strcasecmp(word, meant[i]))
            return false;
    return true;
}

void nw_write_word(struct nw_text *text, const char *word)
{
    if (is_plain(word)) {
        nw_text_add(text, word);
        return;
    }
    nw_text_add(text, "\"");
    for (; *word; word++) {
        unsigned char c = (unsigned char)*word;

        if (c == '"' || c == '\\')
            nw_text_format(text, "\\%c", c);
        else if (c < ' ' || c == 127)
            nw_text_format(text, "\\x%02x", c);
        else
            nw_text_add_bytes(text, word, 1);
    }
    nw_text_add(text, "\"");
}

nw_status nw_write_names(struct nw_text *text, const char *const *names,
                         size_t count)
{
    char *list;
    nw_status status = nw_hostlist_compress(names, count, &list);

    if (status)
        return status;
    nw_write_word(text, list);
    free(list);
    return NW_OK;
}

/* Writes a value with a unit such as GB/s if reading the text gives the same
 * number, and otherwise as a plain number in the base unit. */
static void add_quantity(struct nw_text *text, double value, enum nw_unit unit)
{
    static const struct {
        enum nw_unit unit;
        double size;
        const char *name;
    } units[] = {{NW_UNIT_BANDWIDTH, 1e9, "GB/s"},
                 {NW_UNIT_BANDWIDTH, 1e6, "MB/s"},
                 {NW_UNIT_TIME, 1e-9, "ns"},
                 {NW_UNIT_TIME, 1e-6, "us"}};
    char word[64];
    double back;

    for (int digits = 6; digits <= 12; digits += 6)
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            if (units[i].unit != unit)
                continue;
            nw_snprintf(word, sizeof word, "%.*g%s", digits,
                        value / units[i].size, units[i].name);
            if (nw_parse_quantity(word, unit, &back) && back == value) {
                nw_text_add(text, word);
                return;
            }
        }
    nw_text_format(text, "%.17g", value);
}

static void add_bandwidth(struct nw_text *text,
                          const struct nw_link_class *figures)
{
    if (figures->bandwidth[0] == figures->bandwidth[1]) {
        add_quantity(text, figures->bandwidth[0], NW_UNIT_BANDWIDTH);
        return;
    }
    nw_text_add(text, "[");
    add_quantity(text, figures->bandwidth[0], NW_UNIT_BANDWIDTH);
    nw_text_add(text, ", ");
    add_quantity(text, figures->bandwidth[1], NW_UNIT_BANDWIDTH);
    nw_text_add(text, "]");
}

bool nw_write_is_assumed(const nw_topology *topology, int32_t class,
                         enum nw_link_kind kind)
{
    const struct nw_link_class *figures = &topology->class[class];
    struct nw_link_class assumed = nw_link_assumed(kind);

    return figures->kind == assumed.kind && figures->assumed &&
           !figures->half_duplex && figures->latency == assumed.latency &&
           figures->bandwidth[0] == assumed.bandwidth[0] &&
           figures->bandwidth[1] == assumed.bandwidth[1];
}

void nw_write_figures(struct nw_text *text, const nw_topology *topology,
                      int32_t class, enum nw_link_kind kind)
{
    const struct nw_link_class *figures = &topology->class[class];
    struct nw_link_class assumed =
        nw_link_assumed((enum nw_link_kind)figures->kind);
    const char *comma = "";
    bool same = figures->bandwidth[0] == assumed.bandwidth[0] &&
                figures->bandwidth[1] == assumed.bandwidth[1];

    if (figures->kind == kind && !figures->assumed && !figures->half_duplex &&
        figures->latency == assumed.latency) {
        add_bandwidth(text, figures);
        return;
    }
    nw_text_add(text, "{");
    if (figures->kind != kind) {
        nw_text_format(text, "kind: %s",
                       nw_link_kind_name((enum nw_link_kind)figures->kind));
        comma = ", ";
    }
    if (!same || !figures->assumed) {
        nw_text_format(text, "%sbandwidth: ", comma);
        add_bandwidth(text, figures);
        comma = ", ";
    }
    if (figures->latency != assumed.latency) {
        nw_text_format(text, "%slatency: ", comma);
        add_quantity(text, figures->latency, NW_UNIT_TIME);
        comma = ", ";
    }
    if (figures->half_duplex) {
        nw_text_format(text, "%shalf_duplex: true", comma);
        comma = ", ";
    }
    if (!same && figures->assumed)
        nw_text_format(text, "%sassumed: true", comma);
    nw_text_add(text, "}");
}
