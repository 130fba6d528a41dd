/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that all networks share, and the operations of trees. */
#include "base/array.h"
#include "base/status.h"
#include "topology/network/networks.h"
#include "topology/topology.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

nw_status nw_network_new(int32_t switch_count, struct nw_network **out)
{
    struct nw_network *network;
    nw_status status = nw_alloc(1, sizeof *network, &network);

    if (status)
        return status;
    network->switch_count = switch_count;
    status = nw_alloc((size_t)switch_count, sizeof *network->switch_name,
                      &network->switch_name);
    if (status) {
        free(network);
        return status;
    }
    *out = network;
    return NW_OK;
}

nw_status nw_network_name(struct nw_network *network, int32_t s,
                          const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vasprintf(&network->switch_name[s], format, args);
    va_end(args);
    if (length >= 0)
        return NW_OK;
    network->switch_name[s] = NULL;
    return nw_fail(NW_ENOMEM, "out of memory for switch names");
}

nw_status nw_network_add_link(struct nw_network *network, int32_t a, int32_t b,
                              int32_t class, int32_t *link)
{
    size_t need = (size_t)network->link_count + 1;
    size_t capacity[3] = {network->link_capacity, network->link_capacity,
                          network->link_capacity};
    nw_status status =
        nw_grow(&network->link_a, &capacity[0], need, sizeof *network->link_a);

    if (!status)
        status = nw_grow(&network->link_b, &capacity[1], need,
                         sizeof *network->link_b);
    if (!status)
        status = nw_grow(&network->link_class, &capacity[2], need,
                         sizeof *network->link_class);
    if (status)
        return status;
    network->link_capacity = capacity[0];
    network->link_a[network->link_count] = a;
    network->link_b[network->link_count] = b;
    network->link_class[network->link_count] = class;
    *link = network->link_count++;
    return NW_OK;
}

void nw_network_free(struct nw_network *network)
{
    if (!network)
        return;
    if (network->ops && network->ops->free_state)
        network->ops->free_state(network->state);
    for (int32_t s = 0; s < network->switch_count; s++)
        free(network->switch_name[s]);
    free(network->switch_name);
    free(network->link_a);
    free(network->link_b);
    free(network->link_class);
    free(network->parent);
    free(network->uplink);
    free(network->depth);
    free(network->component);
    free(network->level);
    free(network);
}

void nw_network_visit(struct nw_network *network,
                      void (*meet)(void *user, int32_t *class), void *user)
{
    for (int32_t l = 0; l < network->link_count; l++)
        meet(user, &network->link_class[l]);
    if (network->ops->visit)
        network->ops->visit(network, meet, user);
}

static int32_t tree_distance(const struct nw_network *network, int32_t from,
                             struct nw_network_end to)
{
    int32_t count = 0;

    while (from != to.at) {
        if (network->depth[from] >= network->depth[to.at])
            from = network->parent[from];
        else
            to.at = network->parent[to.at];
        count++;
    }
    return count;
}

static size_t tree_route(const struct nw_network *network, int32_t from,
                         struct nw_network_end to, uint32_t *hops)
{
    size_t total = (size_t)tree_distance(network, from, to);
    size_t head = 0, tail = total;

    while (from != to.at) {
        if (network->depth[from] >= network->depth[to.at]) {
            hops[head++] = 2 * (uint32_t)network->uplink[from];
            from = network->parent[from];
        } else {
            hops[--tail] = 2 * (uint32_t)network->uplink[to.at] + 1;
            to.at = network->parent[to.at];
        }
    }
    return total;
}

static const struct nw_network_ops tree_ops = {
    .name = "tree", .distance = tree_distance, .route = tree_route};

nw_status nw_network_finish_tree(struct nw_network *network)
{
    int deepest = 0;
    nw_status status = nw_alloc((size_t)network->switch_count,
                                sizeof *network->depth, &network->depth);

    if (status)
        return status;
    for (int32_t s = 0; s < network->switch_count; s++) {
        int depth = 0;

        if (network->parent[s] >= 0)
            depth = network->depth[network->parent[s]] + 1;
        if (depth > 250)
            return nw_fail(NW_EFORMAT,
                           "the network tree is deeper than 250 switches");
        network->depth[s] = (uint8_t)depth;
        deepest = depth > deepest ? depth : deepest;
    }
    network->diameter = 2 * deepest;
    network->ops = &tree_ops;
    return NW_OK;
}

/* Sets level[to] to level[from] + 1 if level[from] is set and level[to] is
 * unset or larger than that. Returns true if it changed level[to]. */
static bool spread_level(int32_t *level, int32_t from, int32_t to)
{
    if (level[from] < 0 || (level[to] >= 0 && level[to] <= level[from] + 1))
        return false;
    level[to] = level[from] + 1;
    return true;
}

nw_status nw_network_find_levels(nw_topology *topology)
{
    struct nw_network *network = topology->network;
    bool changed = true;
    nw_status status;

    if (!network)
        return NW_OK;
    free(network->level); /* a network that was moved from another topology has
                             levels already */
    network->level = NULL;
    status = nw_alloc((size_t)network->switch_count, sizeof *network->level,
                      &network->level);
    if (status)
        return status;
    for (int32_t s = 0; s < network->switch_count; s++)
        network->level[s] = -1;
    for (int32_t p = 0; p < topology->port_first[topology->node_count]; p++)
        network->level[topology->port[p]] = 0;
    while (changed) { /* one pass for each level */
        changed = false;
        for (int32_t l = 0; l < network->link_count; l++) {
            int32_t a = network->link_a[l], b = network->link_b[l];

            changed |= spread_level(network->level, a, b);
            changed |= spread_level(network->level, b, a);
        }
    }
    return NW_OK;
}
