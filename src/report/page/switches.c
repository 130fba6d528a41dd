/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the network of a machine that is too large to draw every switch,
 * coloured by congestion under the last mapping. The reader opens a switch to
 * see its links and nodes. */
#include "base/array.h"
#include "report/page/page.h"
#include "report/picture.h"
#include "report/svg.h"
#include "topology/topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SWITCHES_NODES 4096 /* larger machines get no list of switches */

/* The links or the nodes of all switches: those of switch s are item[first[s]]
 * to item[first[s + 1] - 1]. */
struct switch_list {
    int32_t *first, *item;
};

struct switches {
    const struct nw_page *page;
    const nw_topology *topology;
    size_t last; /* index of the last mapping */
    double most; /* top of the colour scale */
    struct switch_list links, nodes;
};

/* --- lists --- */

/* A function that switches_visit_links or switches_visit_nodes calls with the
 * number `at` of a switch and the number `item` of one of its links or nodes.
 */
typedef void (*switches_meet)(void *user, int32_t at, int32_t item);

static void switches_visit_links(const nw_topology *topology,
                                 switches_meet meet, void *user)
{
    const struct nw_network *network = topology->network;

    for (int32_t l = 0; l < network->link_count; l++) {
        meet(user, network->link_a[l], l);
        meet(user, network->link_b[l], l);
    }
}

/* Calls `meet` for each node, with the switch of its first port. */
static void switches_visit_nodes(const nw_topology *topology,
                                 switches_meet meet, void *user)
{
    for (int32_t n = 0; n < topology->node_count; n++)
        meet(user, topology->port[topology->port_first[n]], n);
}

static void switches_count(void *user, int32_t at, int32_t item)
{
    struct switch_list *list = user;

    (void)item;
    list->first[at + 1]++;
}

/* Stores an item of switch `at`. While items are stored, first[at] is the index
 * of the next item of `at`. */
static void switches_put(void *user, int32_t at, int32_t item)
{
    struct switch_list *list = user;

    list->item[list->first[at]++] = item;
}

/* Lists, switch by switch, the links or nodes that visit() finds. The first
 * visit counts those of each switch, the second visit stores them. */
static nw_status switches_list(const nw_topology *topology,
                               void (*visit)(const nw_topology *, switches_meet,
                                             void *),
                               struct switch_list *list)
{
    size_t n = (size_t)topology->network->switch_count;
    nw_status status = nw_alloc(n + 1, sizeof *list->first, &list->first);

    if (status)
        return status;
    visit(topology, switches_count, list);
    for (size_t s = 0; s < n; s++)
        list->first[s + 1] += list->first[s];
    status = nw_alloc((size_t)list->first[n], sizeof *list->item, &list->item);
    if (status)
        return status;
    visit(topology, switches_put, list);
    for (size_t s = n; s > 0; s--)
        list->first[s] = list->first[s - 1];
    list->first[0] = 0;
    return NW_OK;
}

/* --- elements --- */

/* Returns the congestion of the busiest NIC link of a node under mapping m. */
static double switches_busiest_of_node(const struct switches *all, size_t m,
                                       int32_t node)
{
    const nw_topology *topology = all->topology;
    double busiest = 0;

    for (int32_t l = topology->link_first[node];
         l < topology->link_first[node + 1]; l++)
        if (nw_topology_link(topology, l).kind == NW_LINK_NIC)
            busiest = fmax(busiest, nw_page_busier(all->page, m, l));
    return busiest;
}

/* Appends <i class="c3 f">, a patch in the colour of a congestion. */
static void switches_add_patch(struct nw_text *text, const struct switches *all,
                               double seconds)
{
    if (seconds > 0)
        nw_text_format(text, "<i class=\"c%d f\"></i>",
                       nw_svg_even_step(seconds, all->most));
    else
        nw_text_add(text, "<i></i>");
}

/* Appends an item, such as "leaf3 2.31 ms (default 4.2 ms)". seconds[0] is the
 * congestion under the default mapping, which is left out if it is the only
 * mapping, seconds[1] under the last one. */
static void switches_add_item(struct nw_text *text, const struct switches *all,
                              const char *name, const double seconds[2])
{
    char now[32], before[32];

    nw_text_add(text, "<span class=\"item\">");
    switches_add_patch(text, all, seconds[1]);
    nw_svg_words(text, name);
    nw_format_quantity(seconds[1], NW_UNIT_TIME, now, sizeof now);
    nw_format_quantity(seconds[0], NW_UNIT_TIME, before, sizeof before);
    if (all->last)
        nw_text_format(text, " <small>%s (default %s)</small>", now, before);
    else
        nw_text_format(text, " <small>%s</small>", now);
    nw_text_add(text, "</span>\n");
}

static const char *switches_name(const struct switches *all, int32_t s,
                                 char out[32])
{
    const char *name = all->topology->network->switch_name[s];

    snprintf(out, 32, "switch %d", s);
    return name ? name : out;
}

static void switches_add_links(struct nw_text *text, const struct switches *all,
                               int32_t s)
{
    const struct nw_network *network = all->topology->network;

    if (all->links.first[s] == all->links.first[s + 1])
        return;
    nw_text_add(text, "<p>Links to</p><div class=\"items\">\n");
    for (int32_t i = all->links.first[s]; i < all->links.first[s + 1]; i++) {
        int32_t l = all->links.item[i];
        double seconds[2] = {nw_page_busier(all->page, 0, l),
                             nw_page_busier(all->page, all->last, l)};
        char name[32];

        switches_add_item(text, all,
                          switches_name(all,
                                        network->link_a[l] == s
                                            ? network->link_b[l]
                                            : network->link_a[l],
                                        name),
                          seconds);
    }
    nw_text_add(text, "</div>\n");
}

static void switches_add_nodes(struct nw_text *text, const struct switches *all,
                               int32_t s)
{
    if (all->nodes.first[s] == all->nodes.first[s + 1])
        return;
    nw_text_add(text, "<p>Nodes</p><div class=\"items\">\n");
    for (int32_t i = all->nodes.first[s]; i < all->nodes.first[s + 1]; i++) {
        int32_t node = all->nodes.item[i];
        double seconds[2] = {switches_busiest_of_node(all, 0, node),
                             switches_busiest_of_node(all, all->last, node)};

        switches_add_item(text, all, all->topology->node_name[node], seconds);
    }
    nw_text_add(text, "</div>\n");
}

/* Returns the congestion of a switch's busiest link under the last mapping. */
static double switches_busiest(const struct switches *all, int32_t s)
{
    double busiest = 0;

    for (int32_t i = all->links.first[s]; i < all->links.first[s + 1]; i++)
        busiest = fmax(
            busiest, nw_page_busier(all->page, all->last, all->links.item[i]));
    for (int32_t i = all->nodes.first[s]; i < all->nodes.first[s + 1]; i++)
        busiest = fmax(busiest, switches_busiest_of_node(all, all->last,
                                                         all->nodes.item[i]));
    return busiest;
}

static void switches_add_switch(struct nw_text *text,
                                const struct switches *all, int32_t s)
{
    int32_t links = all->links.first[s + 1] - all->links.first[s];
    int32_t nodes = all->nodes.first[s + 1] - all->nodes.first[s];
    double busiest = switches_busiest(all, s);
    char name[32], words[32];

    nw_text_add(text, "<details class=\"switch\"><summary>");
    switches_add_patch(text, all, busiest);
    nw_svg_words(text, switches_name(all, s, name));
    nw_text_format(
        text,
        " <small>%d node%s, %d link%s to switches, busiest %s</small>"
        "</summary>\n",
        nodes, nw_plural((uint64_t)nodes), links, nw_plural((uint64_t)links),
        nw_format_quantity(busiest, NW_UNIT_TIME, words, sizeof words));
    switches_add_links(text, all, s);
    switches_add_nodes(text, all, s);
    nw_text_add(text, "</details>\n");
}

static nw_status switches_add_all(struct nw_text *text, struct switches *all)
{
    const struct nw_page *page = all->page;
    int32_t n = all->topology->network->switch_count;
    nw_status status =
        switches_list(all->topology, switches_visit_links, &all->links);

    if (!status)
        status =
            switches_list(all->topology, switches_visit_nodes, &all->nodes);
    if (status)
        return status;
    nw_text_add(text, "<section id=\"switches\"><h2>The network</h2>\n");
    nw_page_element(text, "p",
                    "Each switch opens and shows its links and nodes with "
                    "their congestion under %s. Colours are those of the "
                    "pictures of links.",
                    page->input->mapping[all->last].name);
    nw_text_add(text, "<div class=\"switches\">\n");
    for (int32_t s = 0; s < n; s++)
        switches_add_switch(text, all, s);
    nw_text_add(text, "</div>\n</section>\n");
    return NW_OK;
}

nw_status nw_page_switches(struct nw_text *text, const struct nw_page *page)
{
    const nw_topology *topology = page->input->topology;
    struct switches all = {.page = page,
                           .topology = topology,
                           .last = page->input->mapping_count - 1,
                           .most = page->most_congestion};
    nw_status status;

    if (!topology->network || nw_picture_is_whole(topology) ||
        topology->node_count > SWITCHES_NODES || !nw_page_has_links(page))
        return NW_OK;
    status = switches_add_all(text, &all);
    free(all.links.first);
    free(all.links.item);
    free(all.nodes.first);
    free(all.nodes.item);
    return status;
}
