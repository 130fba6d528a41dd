/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the summary of a mapping: the communication time by the time model, of
 * one exchange, a training step or the whole run; the default mapping's time;
 * the difference; and a verdict. A machine without bandwidths is judged by
 * hop-bytes. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "cost/pricing.h"
#include "pattern/format.h"
#include "topology/topology.h"

#include <nodewise/report.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A smaller change, in percent, counts as no change. */
#define HEADLINE_EQUAL 0.05

#define HEADLINE_MOST_CORES 512 /* see headline_is_flat() */

/* Returns true if the machine has links with a bandwidth, without which the
 * model gives no time. A machine that is described only by distances has
 * none. */
static bool headline_has_time(const nw_topology *topology)
{
    return !topology->matrix && !topology->depth_distance &&
           !(topology->node_count == 1 && topology->type[0]->vertex_count > 1 &&
             topology->type[0]->kind[1] == NW_VERTEX_GROUP);
}

/* Returns the figure to compare: the time divided by the number of exchanges,
 * or hop-bytes if the machine has no bandwidths. */
static double headline_value(const struct nw_headline *headline,
                             const struct nw_cost *cost, uint64_t exchanges)
{
    return headline->has_time ? cost->time / (double)exchanges
                              : cost->hop_bytes.value;
}

/* Returns the percentage of bytes that stay inside a node or inside an NVLink
 * domain (nodes that NVLink joins); 100 if the pattern has no bytes. */
static double headline_inside(const nw_topology *topology,
                              const struct nw_cost *cost)
{
    int32_t last = nw_domain_last_level(topology);
    double inside = 0, all = 0;

    for (int32_t l = 0; l < cost->level_count; l++) {
        double bytes =
            (double)cost->level_bytes[0][l] + (double)cost->level_bytes[1][l];

        all += bytes;
        /* the first levels are the parts of a node, the node, direct links and
         * the second NVLink level */
        if (l <= last)
            inside += bytes;
    }
    return all > 0 ? 100 * inside / all : 100;
}

/* Returns true if the busiest link belongs to the network. */
static bool headline_is_network(const nw_topology *topology,
                                const struct nw_cost *cost)
{
    enum nw_link_kind kind;

    if (!cost->has_congestion || cost->max_congestion_link < 0)
        return false;
    kind = nw_topology_link(topology, cost->max_congestion_link / 2).kind;
    return kind == NW_LINK_NETWORK || kind == NW_LINK_NIC;
}

/* Returns "core" or "cache" if both endpoints of every message share a core or
 * a cache as the closest part of the machine, on the same level for all
 * messages; else NULL. Different messages may use different cores or caches of
 * that level. */
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

/* Returns true if a rank sends bytes to another rank, or, if `empty` is true,
 * sends at least an empty message. */
static bool headline_has_traffic(const nw_pattern *pattern, bool empty)
{
    for (int32_t r = 0; r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++)
            if (pattern->dst[e] != r &&
                (pattern->bytes[e] || (empty && pattern->messages[e])))
                return true;
    return false;
}

/* Returns true if the edges of the pattern, without regard to direction,
 * connect all ranks. Only then do ranks whose messages all stay inside a cache
 * share one cache. Returns false if memory is exhausted. */
static bool headline_is_connected(const nw_pattern *pattern)
{
    int32_t parts = pattern->rank_count, *parent;

    if (nw_alloc((size_t)parts, sizeof *parent, &parent))
        return false;
    for (int32_t r = 0; r < pattern->rank_count; r++)
        parent[r] = r;
    for (int32_t r = 0; r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++) {
            int32_t a = nw_group_root(parent, r);
            int32_t b = nw_group_root(parent, pattern->dst[e]);

            parts -= a != b;
            parent[a] = b;
        }
    free(parent);
    return parts == 1;
}

static struct nw_end headline_core(const nw_topology *topology, int32_t node,
                                   int32_t core)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, node);

    return (struct nw_end){node, type->element[core], -1};
}

/* Returns true if all pairs of cores (or hardware threads) have the same
 * distance. Returns false if there are fewer than two, and for more than
 * HEADLINE_MOST_CORES, for which the test would take too long. */
static bool headline_is_flat(const nw_topology *topology)
{
    int32_t n = nw_topology_element_count(topology), count = 0;
    struct nw_end core[HEADLINE_MOST_CORES];
    double each;

    if (n < 2 || n > HEADLINE_MOST_CORES)
        return false;
    for (int32_t h = 0; h < nw_topology_node_count(topology); h++)
        for (int32_t c = 0; c < nw_topology_node_elements(topology, h).count;
             c++)
            core[count++] = headline_core(topology, h, c);
    each = nw_topology_distance(topology, core[0], core[1]);
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++)
            if (a != b &&
                nw_topology_distance(topology, core[a], core[b]) != each)
                return false;
    return true;
}

/* Returns true if the pattern has at least three ranks, and each rank sends as
 * many messages and bytes of the same kind to each other rank. */
static bool headline_is_uniform(const nw_pattern *pattern)
{
    size_t n = (size_t)pattern->rank_count;

    if (n < 3 || pattern->edge_count != n * (n - 1))
        return false;
    for (size_t e = 1; e < pattern->edge_count; e++)
        if (pattern->kind[e] != pattern->kind[0] ||
            pattern->bytes[e] != pattern->bytes[0] ||
            pattern->messages[e] != pattern->messages[0])
            return false;
    for (int32_t r = 0; r < pattern->rank_count; r++) {
        if (pattern->row[r + 1] - pattern->row[r] != n - 1)
            return false;
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++)
            if (pattern->dst[e] == r)
                return false;
    }
    return true;
}

/* Returns the reason for a gain of zero that cannot change with any mapping, or
 * NULL if none can be proved. */
static const char *headline_impossible(const nw_pattern *pattern,
                                       const char *shared)
{
    if (pattern->rank_count == 1)
        return "there is only one rank";
    if (!headline_has_traffic(pattern, true))
        return "the ranks send each other nothing";
    if (!shared || !headline_is_connected(pattern))
        return NULL;
    return !strcmp(shared, "core") ? "all ranks share one core"
                                   : "all ranks share one cache";
}

/* Writes the verdict for a mapping that is as good as the default: the reason
 * why nothing is gained, if one is known. */
static void headline_explain_none(const nw_topology *topology,
                                  const nw_pattern *pattern,
                                  const struct nw_cost *before,
                                  struct nw_headline *out)
{
    const char *shared = headline_shared(topology, before);
    const char *reason = headline_impossible(pattern, shared);
    bool host_only = !nw_pattern_has_gpu(pattern);
    bool in_core = shared && !strcmp(shared, "core");

    if (reason)
        snprintf(out->verdict, sizeof out->verdict, "No gain possible here: %s",
                 reason);
    else if (headline_is_uniform(pattern))
        snprintf(out->verdict, sizeof out->verdict,
                 "No gain: every rank sends the same to all others, so their "
                 "order does not matter");
    else if (host_only && !in_core && headline_is_flat(topology))
        snprintf(out->verdict, sizeof out->verdict,
                 "No gain: all cores are equally far from each other");
    else if (shared && host_only)
        snprintf(out->verdict, sizeof out->verdict,
                 "No gain: the default placement already keeps every message "
                 "inside a %s",
                 shared);
    else if (!(out->before > 0) && !headline_has_traffic(pattern, false))
        snprintf(out->verdict, sizeof out->verdict,
                 "No gain: the messages between ranks carry no bytes");
    else
        snprintf(out->verdict, sizeof out->verdict,
                 "No gain: the default placement is as good as this mapping");
}

/* Writes the verdict. */
static void headline_judge(const nw_topology *topology,
                           const nw_pattern *pattern,
                           const struct nw_cost *before,
                           const struct nw_cost *after, struct nw_headline *out)
{
    const char *what = out->has_time ? "communication time"
                                     : "hop-bytes (this machine "
                                       "states no bandwidths)";
    bool freed = headline_is_network(topology, before) &&
                 !headline_is_network(topology, after);

    if (!(out->before > 0) && out->after > 0)
        snprintf(out->verdict, sizeof out->verdict,
                 "Predicted: more %s than the default, which has none", what);
    else if (!(out->before > 0) || fabs(out->percent_less) < HEADLINE_EQUAL)
        headline_explain_none(topology, pattern, before, out);
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
                          const nw_pattern *pattern,
                          const struct nw_cost *before,
                          const struct nw_cost *after, uint64_t exchanges,
                          struct nw_headline *out)
{
    out->before = headline_value(out, before, exchanges);
    out->after = headline_value(out, after, exchanges);
    out->percent_less =
        out->before > 0 ? 100 * (1 - out->after / out->before) : 0;
    out->inside[0] = headline_inside(topology, before);
    out->inside[1] = headline_inside(topology, after);
    headline_judge(topology, pattern, before, after, out);
}

void nw_report_headline(const nw_topology *topology, const nw_pattern *pattern,
                        const struct nw_cost *const cost[2],
                        struct nw_headline *out)
{
    bool total = out->total || (cost[0]->has_phases &&
                                nw_pattern_is_recorded_in_phases(pattern));
    struct nw_headline headline = {
        .has_phases = cost[0]->has_phases && !total,
        .has_domains = topology->domain_count > 0,
        .has_time = headline_has_time(topology),
        .metric = total ? "run-time" : "exchange-time",
        .total = total,
    };
    uint64_t exchanges = nw_cost_exchanges(pattern, cost[0]);

    if (headline.has_phases)
        headline.metric = "step-time";
    if (!headline.has_time)
        headline.metric = "hop-bytes";
    if (headline.total || !headline.has_time)
        exchanges = 1;
    headline_fill(topology, pattern, cost[0], cost[1], exchanges, &headline);
    *out = headline;
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
            "bytes stay inside nodes%s (default: %.0f %%)\n",
            headline->total        ? "the whole run"
            : headline->has_phases ? "a training step"
                                   : "one exchange",
            before, after, headline->inside[1],
            headline->has_domains ? " and NVLink domains" : "",
            headline->inside[0]);
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
