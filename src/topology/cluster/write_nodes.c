/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the nodes of a cluster file, and the second level of their NVLink
 * domains. A group has consecutive nodes of the same type, port classes,
 * switches and NVLink domain. Consecutive groups of equal size that differ only
 * in their switches or NVLink domains become one item. */
#include "base/array.h"
#include "base/status.h"
#include "topology/cluster/write.h"

#include <stdlib.h>
#include <string.h>

static int32_t cards_of(const nw_topology *topology, int32_t node)
{
    return topology->port_first[node + 1] - topology->port_first[node];
}

static bool same_ports(const nw_topology *t, int32_t a, int32_t b,
                       const int32_t *values)
{
    int32_t cards = cards_of(t, a);

    return cards == cards_of(t, b) &&
           !memcmp(values + t->port_first[a], values + t->port_first[b],
                   (size_t)cards * sizeof *values);
}

static int32_t domain_of(const nw_topology *t, int32_t node)
{
    return t->domain ? t->domain[node] : -1;
}

static bool is_alike(const nw_topology *t, int32_t a, int32_t b)
{
    return t->node_type[a] == t->node_type[b] &&
           (domain_of(t, a) < 0) == (domain_of(t, b) < 0) &&
           (!t->network || same_ports(t, a, b, t->port_class));
}

/* Returns the end of the group of nodes from `first` on that have the same
 * type, port classes, switches and NVLink domain. */
static int32_t end_of_group(const nw_topology *t, int32_t first)
{
    int32_t end = first + 1;

    while (end < t->node_count && is_alike(t, first, end) &&
           domain_of(t, first) == domain_of(t, end) &&
           (!t->network || same_ports(t, first, end, t->port)))
        end++;
    return end;
}

/* The nodes from `first` to `end` - 1, which become one item: groups of `each`
 * nodes that differ only in their switches and NVLink domains. */
struct write_nodes_run {
    int32_t first, end, each;
};

static struct write_nodes_run write_nodes_find_run(const nw_topology *t,
                                                   int32_t first)
{
    struct write_nodes_run run = {first, end_of_group(t, first), 0};

    run.each = run.end - first;
    while (t->network && run.end < t->node_count &&
           is_alike(t, first, run.end) &&
           end_of_group(t, run.end) - run.end == run.each)
        run.end += run.each;
    return run;
}

/* Writes, as one list, the name of the NVLink domain of each group; nothing if
 * the nodes are in no domain. */
static nw_status add_domains(struct nw_text *text, const nw_topology *t,
                             const struct write_nodes_run *run)
{
    const char **names;
    size_t count = 0;
    nw_status status;

    if (domain_of(t, run->first) < 0)
        return NW_OK;
    status = nw_alloc((size_t)((run->end - run->first) / run->each),
                      sizeof *names, &names);
    for (int32_t n = run->first; !status && n < run->end; n += run->each)
        names[count++] = t->domain_name[t->domain[n]];
    nw_text_add(text, "    domain: ");
    if (!status)
        status = nw_write_names(text, names, count);
    nw_text_add(text, "\n");
    free(names);
    return status;
}

static nw_status add_switches(struct nw_text *text, const nw_topology *t,
                              const struct write_nodes_run *run, int32_t card)
{
    const char **names;
    size_t count = 0;
    nw_status status = nw_alloc((size_t)((run->end - run->first) / run->each),
                                sizeof *names, &names);

    if (status)
        return status;
    for (int32_t n = run->first; n < run->end; n += run->each)
        names[count++] =
            t->network->switch_name[t->port[t->port_first[n] + card]];
    status = nw_write_names(text, names, count);
    free(names);
    return status;
}

static bool one_figure(const nw_topology *t, int32_t node)
{
    for (int32_t p = t->port_first[node]; p < t->port_first[node + 1]; p++)
        if (t->port_class[p] != t->port_class[t->port_first[node]])
            return false;
    return true;
}

static void add_ports(struct nw_text *text, const nw_topology *t, int32_t node)
{
    int32_t first = t->port_first[node];
    bool one = one_figure(t, node);

    if (one && nw_write_is_assumed(t, t->port_class[first], NW_LINK_NIC))
        return;
    nw_text_add(text, one ? "    port: " : "    ports: [");
    for (int32_t p = first; p < (one ? first + 1 : t->port_first[node + 1]);
         p++) {
        nw_text_add(text, p > first ? ", " : "");
        nw_write_figures(text, t, t->port_class[p], NW_LINK_NIC);
    }
    nw_text_add(text, one ? "\n" : "]\n");
}

static nw_status add_joints(struct nw_text *text, const nw_topology *t,
                            const struct write_nodes_run *run)
{
    int32_t cards = cards_of(t, run->first);
    nw_status status = NW_OK;

    nw_text_add(text, cards > 1 ? "    switch: [" : "    switch: ");
    for (int32_t c = 0; !status && c < cards; c++) {
        nw_text_add(text, c ? ", " : "");
        status = add_switches(text, t, run, c);
    }
    nw_text_add(text, cards > 1 ? "]\n" : "\n");
    if (!status)
        add_ports(text, t, run->first);
    return status;
}

nw_status nw_write_nodes(struct nw_text *text, const nw_topology *topology)
{
    nw_status status = NW_OK;

    nw_text_add(text, "nodes:\n");
    for (int32_t n = 0; !status && n < topology->node_count;) {
        struct write_nodes_run run = write_nodes_find_run(topology, n);

        nw_text_add(text, "  - name: ");
        status = nw_write_names(
            text, (const char *const *)topology->node_name + run.first,
            (size_t)(run.end - run.first));
        nw_text_add(text, "\n");
        if (topology->type_count > 1) {
            nw_text_add(text, "    type: ");
            nw_write_word(text, nw_topology_type_of(topology, run.first)->name);
            nw_text_add(text, "\n");
        }
        if (!status)
            status = add_domains(text, topology, &run);
        if (!status && topology->network)
            status = add_joints(text, topology, &run);
        n = run.end;
    }
    return status;
}

/* Writes an item for each group of consecutive domains that have the same upper
 * domain and the same link class of their uplinks. Domains without an upper
 * domain are left out. */
nw_status nw_write_domains(struct nw_text *text, const nw_topology *topology)
{
    const int32_t *upper = topology->upper, *class = topology->uplink_class;
    nw_status status = NW_OK;

    nw_text_add(text, "domains:\n");
    for (int32_t d = 0, end; !status && d < topology->domain_count; d = end) {
        for (end = d + 1; end < topology->domain_count &&
                          upper[end] == upper[d] && class[end] == class[d];)
            end++;
        if (upper[d] < 0)
            continue;
        nw_text_add(text, "  - name: ");
        nw_write_word(text, topology->upper_name[upper[d]]);
        nw_text_add(text, "\n    members: ");
        status =
            nw_write_names(text, (const char *const *)topology->domain_name + d,
                           (size_t)(end - d));
        nw_text_add(text, "\n    link: ");
        nw_write_figures(text, topology, class[d], NW_LINK_NVLINK);
        nw_text_add(text, "\n");
    }
    return status;
}
