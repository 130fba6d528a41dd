/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the network of a cluster file: the parameters of a regular network, or
 * the switches and links of a tree or graph. */
#include "base/array.h"
#include "base/status.h"
#include "topology/cluster/write.h"
#include "topology/network/networks.h"

#include <stdlib.h>
#include <string.h>

/* The network that is written, and the text to which it is appended. */
struct write_network_view {
    struct nw_text *text;
    const nw_topology *topology;
    const struct nw_network *network;
};

static void write_network_add_link(const struct write_network_view *view,
                                   const char *before, int32_t class)
{
    if (nw_write_is_assumed(view->topology, class, NW_LINK_NETWORK))
        return;
    nw_text_add(view->text, before);
    nw_write_figures(view->text, view->topology, class, NW_LINK_NETWORK);
}

static void write_fat_tree(const struct write_network_view *view)
{
    const struct nw_fat_tree *shape = view->network->ops->shape(view->network);

    nw_text_add(view->text, "  fat_tree:\n    leaf_nodes: 1\n    levels:\n");
    for (int l = 0; l < shape->level_count; l++) {
        const struct nw_fat_tree_level *level = &shape->level[l];

        nw_text_format(view->text, "      - {down: %d, up: %d, parallel: %d",
                       level->down, level->up, level->parallel);
        write_network_add_link(view, ", link: ", level->class);
        nw_text_add(view->text, "}\n");
    }
}

static void write_torus(const struct write_network_view *view)
{
    const struct nw_torus *shape = view->network->ops->shape(view->network);

    nw_text_add(view->text, "  torus:\n    dimensions: [");
    for (int d = 0; d < shape->dimension_count; d++)
        nw_text_format(view->text, "%s%d", d ? ", " : "", shape->size[d]);
    nw_text_add(view->text, "]\n    wrap: [");
    for (int d = 0; d < shape->dimension_count; d++)
        nw_text_format(view->text, "%s%s", d ? ", " : "",
                       shape->wrap[d] ? "true" : "false");
    nw_text_add(view->text, "]\n    link:\n");
    for (int d = 0; d < shape->dimension_count; d++) {
        nw_text_add(view->text, "      - ");
        nw_write_figures(view->text, view->topology, shape->class[d],
                         NW_LINK_NETWORK);
        nw_text_add(view->text, "\n");
    }
}

static void write_dragonfly(const struct write_network_view *view)
{
    const struct nw_dragonfly *shape = view->network->ops->shape(view->network);

    nw_text_format(view->text,
                   "  dragonfly:\n    groups: %d\n    routers: %d\n"
                   "    global_links: %d\n    router_nodes: 1\n",
                   shape->groups, shape->routers, shape->global_links);
    write_network_add_link(view, "    local: ", shape->local_class);
    nw_text_add(view->text, "\n");
    write_network_add_link(view, "    global: ", shape->global_class);
    nw_text_add(view->text, "\n");
}

static void add_branch(const struct write_network_view *view, int32_t s,
                       int indent)
{
    const struct nw_network *network = view->network;

    nw_text_add(view->text, "switch: ");
    nw_write_word(view->text, network->switch_name[s]);
    nw_text_add(view->text, "\n");
    if (network->uplink[s] >= 0 &&
        !nw_write_is_assumed(view->topology,
                             network->link_class[network->uplink[s]],
                             NW_LINK_NETWORK)) {
        nw_text_format(view->text, "%*slink: ", indent, "");
        nw_write_figures(view->text, view->topology,
                         network->link_class[network->uplink[s]],
                         NW_LINK_NETWORK);
        nw_text_add(view->text, "\n");
    }
}

/* Writes switch s and the switches below it. Returns the number of the next
 * switch after them: switches are numbered depth first. */
static int32_t write_below(const struct write_network_view *view, int32_t s,
                           int indent)
{
    const struct nw_network *network = view->network;
    int32_t at = s + 1;

    add_branch(view, s, indent);
    if (at < network->switch_count && network->parent[at] == s)
        nw_text_format(view->text, "%*sswitches:\n", indent, "");
    while (at < network->switch_count && network->parent[at] == s) {
        nw_text_format(view->text, "%*s- ", indent + 2, "");
        at = write_below(view, at, indent + 4);
    }
    return at;
}

/* Consecutive links from one switch and of one class that are written as one
 * item. Each neighbour of the switch has `parallel` of them. */
struct write_network_run {
    int32_t first, end, parallel;
};

static int32_t count_parallel(const struct nw_network *network, int32_t link)
{
    int32_t end = link;

    while (end < network->link_count &&
           network->link_a[end] == network->link_a[link] &&
           network->link_b[end] == network->link_b[link] &&
           network->link_class[end] == network->link_class[link])
        end++;
    return end - link;
}

static struct write_network_run
write_network_find_run(const struct nw_network *network, int32_t first)
{
    struct write_network_run run = {first, first,
                                    count_parallel(network, first)};

    do
        run.end += run.parallel;
    while (run.end < network->link_count &&
           network->link_a[run.end] == network->link_a[first] &&
           network->link_class[run.end] == network->link_class[first] &&
           count_parallel(network, run.end) == run.parallel);
    return run;
}

static nw_status write_run(const struct write_network_view *view,
                           const struct write_network_run *run,
                           const char **names)
{
    const struct nw_network *network = view->network;
    size_t count = 0;
    nw_status status;

    for (int32_t l = run->first; l < run->end; l += run->parallel)
        names[count++] = network->switch_name[network->link_b[l]];
    nw_text_add(view->text, "      - {between: [");
    nw_write_word(view->text,
                  network->switch_name[network->link_a[run->first]]);
    nw_text_add(view->text, ", ");
    status = nw_write_names(view->text, names, count);
    nw_text_add(view->text, "]");
    if (run->parallel > 1)
        nw_text_format(view->text, ", parallel: %d", run->parallel);
    write_network_add_link(view, ", link: ", network->link_class[run->first]);
    nw_text_add(view->text, "}\n");
    return status;
}

static nw_status write_links(const struct write_network_view *view)
{
    const struct nw_network *network = view->network;
    const char **names;
    nw_status status =
        nw_alloc((size_t)network->link_count, sizeof *names, &names);

    if (status)
        return status;
    if (network->link_count)
        nw_text_add(view->text, "    links:\n");
    for (int32_t l = 0; !status && l < network->link_count;) {
        struct write_network_run run = write_network_find_run(network, l);

        status = write_run(view, &run, names);
        l = run.end;
    }
    free(names);
    return status;
}

static nw_status write_graph(const struct write_network_view *view)
{
    const struct nw_network *network = view->network;
    nw_status status;

    nw_text_add(view->text, "  graph:\n    switches: ");
    status =
        nw_write_names(view->text, (const char *const *)network->switch_name,
                       (size_t)network->switch_count);
    nw_text_add(view->text, "\n");
    if (!nw_graph_spreads(network))
        nw_text_add(view->text, "    ties: first\n");
    if (!status)
        status = write_links(view);
    return status ? status : nw_write_tables(view->text, view->topology);
}

nw_status nw_write_network(struct nw_text *text, const nw_topology *topology)
{
    const struct nw_network *network = topology->network;
    struct write_network_view view = {text, topology, network};
    const char *kind = network->ops->name;

    nw_text_add(text, "network:\n");
    if (!strcmp(kind, "tree")) {
        nw_text_add(text, "  tree:\n    ");
        write_below(&view, 0, 4);
    } else if (!strcmp(kind, "fat_tree")) {
        write_fat_tree(&view);
    } else if (!strcmp(kind, "torus")) {
        write_torus(&view);
    } else if (!strcmp(kind, "dragonfly")) {
        write_dragonfly(&view);
    } else {
        return write_graph(&view);
    }
    return NW_OK;
}
