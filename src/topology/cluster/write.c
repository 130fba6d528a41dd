/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes any cluster as a cluster file: words, figures, and the whole. */
#include "topology/cluster/write.h"
#include "base/hostlist.h"
#include "base/c_locale.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Characters that mean nothing to YAML inside a word, nor at its start. */
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

/* With a unit where that gives the same number back. */
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

static bool is_cluster(const nw_topology *topology)
{
    return !topology->matrix && !topology->depth_distance &&
           !(topology->type_count && topology->type[0]->vertex_count > 1 &&
             topology->type[0]->kind[1] == NW_VERTEX_GROUP);
}

nw_status nw_topology_write(const nw_topology *topology, char **out)
{
    struct nw_text text = {0};
    nw_status status = NW_OK;

    if (!is_cluster(topology))
        return nw_fail(NW_EINVAL,
                       "'%s' has distances but no parts, so a cluster file "
                       "cannot describe the machine",
                       topology->name);
    nw_text_add(&text, "nodewise: cluster 1\nname: ");
    nw_write_word(&text, topology->name);
    nw_text_add(&text, "\nnode_types:\n");
    for (int32_t t = 0; !status && t < topology->type_count; t++)
        status = nw_write_type(&text, topology, topology->type[t]);
    if (!status && topology->network)
        status = nw_write_network(&text, topology);
    if (!status)
        status = nw_write_nodes(&text, topology);
    if (!status)
        return nw_text_take(&text, out);
    nw_text_fini(&text);
    return status;
}
