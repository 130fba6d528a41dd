/* SPDX-License-Identifier: BSD-3-Clause */
/* The one number of a mapping: the time model's communication time of one
 * exchange beside the default's, by what it is less, and a verdict. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/topology.h"

#include <nodewise/report.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADLINE_EQUAL 0.05 /* percent: what one decimal shows as nothing */

/* Messages of each edge if all edges have as many, else 0. */
static uint64_t headline_messages(const nw_pattern *pattern)
{
    uint64_t count = pattern->edge_count ? pattern->messages[0] : 1;

    for (size_t e = 1; e < pattern->edge_count; e++)
        if (pattern->messages[e] != count)
            return 0;
    return count;
}

/* One message of mean size for each edge. Everything but bytes and messages is
 * borrowed. */
static nw_status headline_exchange(const nw_pattern *pattern, nw_pattern *out)
{
    size_t n = pattern->edge_count;
    nw_status status;

    *out = *pattern;
    out->bytes = NULL;
    out->messages = NULL;
    status = nw_alloc(n, sizeof *out->bytes, &out->bytes);
    if (!status)
        status = nw_alloc(n, sizeof *out->messages, &out->messages);
    for (size_t e = 0; !status && e < n; e++) {
        uint64_t count = pattern->messages[e];

        out->messages[e] = count > 0;
        out->bytes[e] =
            count ? (pattern->bytes[e] + count / 2) / count : pattern->bytes[e];
    }
    return status;
}

/* Machines of distances alone have no links with a bandwidth. */
static bool headline_has_time(const nw_topology *topology)
{
    return !topology->matrix && !topology->depth_distance &&
           !(topology->node_count == 1 && topology->type[0]->vertex_count > 1 &&
             topology->type[0]->kind[1] == NW_VERTEX_GROUP);
}

static double headline_value(const struct nw_headline *headline,
                             const struct nw_cost *cost, uint64_t messages)
{
    double parts = messages ? (double)messages : 1;

    return headline->has_time ? cost->time / parts : cost->hop_bytes.value;
}

/* Bytes inside nodes as a share of all, in percent; 100 if there are none.
 * Direct links are inside nodes, but for NVLink domains over several. */
static double headline_inside(const nw_topology *topology,
                              const struct nw_cost *cost)
{
    int32_t last = NW_VERTEX_KIND_COUNT + (topology->domain ? 0 : 1);
    double inside = 0, all = 0;

    for (int32_t l = 0; l < cost->level_count; l++) {
        double bytes =
            (double)cost->level_bytes[0][l] + (double)cost->level_bytes[1][l];

        all += bytes;
        if (l <= last)
            inside += bytes;
    }
    return all > 0 ? 100 * inside / all : 100;
}

static bool headline_is_network(const nw_topology *topology,
                                const struct nw_cost *cost)
{
    enum nw_link_kind kind;

    if (!cost->has_congestion || cost->max_congestion_link < 0)
        return false;
    kind = nw_topology_link(topology, cost->max_congestion_link / 2).kind;
    return kind == NW_LINK_NETWORK || kind == NW_LINK_NIC;
}

/* The name of the part that all messages stay in, or NULL. */
static const char *headline_shared(const nw_topology *topology,
                                   const struct nw_cost *cost)
{
    const char *name = NULL;

    for (int32_t l = 0; l < cost->level_count; l++) {
        if (!cost->level_messages[0][l] && !cost->level_messages[1][l])
            continue;
        if (name)
            return NULL;
        name = nw_topology_level_name(topology, l);
    }
    if (name && (!strcmp(name, "l3") || !strcmp(name, "l2")))
        return "cache";
    return name && (!strcmp(name, "same") || !strcmp(name, "core")) ? "core"
                                                                    : NULL;
}

static void headline_explain_none(const nw_topology *topology,
                                  const struct nw_cost *before,
                                  struct nw_headline *out)
{
    const char *shared = headline_shared(topology, before);

    if (!(out->before > 0))
        snprintf(out->verdict, sizeof out->verdict,
                 "No gain possible here: the ranks send each other nothing");
    else if (shared)
        snprintf(out->verdict, sizeof out->verdict,
                 "No gain possible here: all ranks share one %s", shared);
    else
        snprintf(out->verdict, sizeof out->verdict,
                 "No gain: the default placement is as good as this mapping");
}

static void headline_judge(const nw_topology *topology,
                           const struct nw_cost *before,
                           const struct nw_cost *after, struct nw_headline *out)
{
    const char *what = out->has_time ? "communication time"
                                     : "hop-bytes (this machine "
                                       "states no bandwidths)";
    bool freed = headline_is_network(topology, before) &&
                 !headline_is_network(topology, after);

    if (!(out->before > 0) || fabs(out->percent_less) < HEADLINE_EQUAL)
        headline_explain_none(topology, before, out);
    else if (out->percent_less < 0)
        snprintf(out->verdict, sizeof out->verdict,
                 "Predicted: %.1f %% more %s than the default",
                 -out->percent_less, what);
    else
        snprintf(
            out->verdict, sizeof out->verdict, "Predicted: %.1f %% %s %s%s",
            out->percent_less, out->has_time ? "less" : "fewer", what,
            out->has_time && freed ? "; the network is no longer the bottleneck"
                                   : "");
}

static void headline_fill(const nw_topology *topology,
                          const struct nw_cost *before,
                          const struct nw_cost *after, uint64_t messages,
                          struct nw_headline *out)
{
    out->before = headline_value(out, before, messages);
    out->after = headline_value(out, after, messages);
    out->percent_less =
        out->before > 0 ? 100 * (1 - out->after / out->before) : 0;
    out->inside[0] = headline_inside(topology, before);
    out->inside[1] = headline_inside(topology, after);
    headline_judge(topology, before, after, out);
}

/* Prices both mappings for one exchange. */
static nw_status headline_price(const nw_topology *topology,
                                const nw_pattern *pattern,
                                const struct nw_headline_side side[2],
                                struct nw_headline *out)
{
    nw_pattern exchange = {0};
    struct nw_cost cost[2] = {0};
    nw_status status = headline_exchange(pattern, &exchange);

    for (int i = 0; !status && i < 2; i++)
        status =
            nw_cost_evaluate(topology, &exchange, side[i].mapping, &cost[i]);
    if (!status)
        headline_fill(topology, &cost[0], &cost[1], 1, out);
    nw_cost_fini(&cost[0]);
    nw_cost_fini(&cost[1]);
    free(exchange.bytes);
    free(exchange.messages);
    return status;
}

nw_status nw_report_headline(const nw_topology *topology,
                             const nw_pattern *pattern,
                             const struct nw_headline_side side[2],
                             struct nw_headline *out)
{
    struct nw_headline headline = {
        .has_time = headline_has_time(topology),
        .metric = out->total ? "run-time" : "exchange-time",
        .total = out->total,
    };
    uint64_t messages = headline.total ? 1 : headline_messages(pattern);
    nw_status status = NW_OK;

    if (!headline.has_time) {
        headline.metric = "hop-bytes";
        messages = 1;
    }
    if (messages)
        headline_fill(topology, side[0].cost, side[1].cost, messages,
                      &headline);
    else
        status = headline_price(topology, pattern, side, &headline);
    if (!status)
        *out = headline;
    return status;
}

static void headline_add_figures(struct nw_text *text,
                                 const struct nw_headline *headline)
{
    enum nw_unit unit = headline->has_time ? NW_UNIT_TIME : NW_UNIT_BYTES;
    char before[32], after[32];

    nw_format_quantity(headline->before, unit, before, sizeof before);
    nw_format_quantity(headline->after, unit, after, sizeof after);
    if (!headline->has_time)
        nw_text_format(text, "hop-bytes: default %s, mapped %s\n", before,
                       after);
    else
        nw_text_format(
            text,
            "communication of %s: default %s, mapped %s; %.0f %% of the "
            "bytes stay inside nodes (default: %.0f %%)\n",
            headline->total ? "the whole run" : "one exchange", before, after,
            headline->inside[1], headline->inside[0]);
}

nw_status nw_report_headline_text(const struct nw_headline *headline,
                                  char **out)
{
    struct nw_text text = {0};

    nw_text_format(&text, "%s.\n", headline->verdict);
    if (headline->before > 0)
        headline_add_figures(&text, headline);
    return nw_text_take(&text, out);
}
