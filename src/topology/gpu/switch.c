/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merges GPU switches that are linked to the same GPU into one. A pair of GPUs
 * distributes its messages over all of its switches, in proportion to its
 * links. A single switch, with one link per GPU that has their total bandwidth,
 * carries the same loads. NCCL counts links in the same way. NVIDIA's tools do
 * not report how NVSwitches are connected to each other. For such sources one
 * switch is assumed, that is, links between switches do not slow GPUs down (as
 * in a DGX-2, which has 16 GPUs on two boards).
 */
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

static bool switch_is_switch(const struct nw_node_type *type, int32_t vertex)
{
    return type->kind[vertex] == NW_VERTEX_GPU_SWITCH;
}

/* Joins switches that are linked to the same GPU: same[v] leads to the first
 * switch of v's group. first[gpu] is the first switch that was found for a GPU.
 */
static void switch_join_switches(const struct nw_node_type *type, int32_t *same,
                                 int32_t *first)
{
    for (int32_t d = 0; d < type->direct_count; d++) {
        int32_t a = type->direct[d].a, b = type->direct[d].b;
        int32_t middle = switch_is_switch(type, a) ? a : b;
        int32_t gpu = middle == a ? b : a;
        int32_t x, y;

        if (!switch_is_switch(type, middle) || switch_is_switch(type, gpu))
            continue;
        if (first[gpu] < 0)
            first[gpu] = middle;
        x = nw_group_root(same, first[gpu]);
        y = nw_group_root(same, middle);
        same[x > y ? x : y] = x > y ? y : x;
    }
}

/* Adds the bandwidths of `link` to those of `to`, which has the same ends,
 * perhaps in the other order. */
static nw_status add_rates(nw_topology *topology, struct nw_direct_link *to,
                           const struct nw_direct_link *link)
{
    struct nw_link_class sum = topology->class[to->class];
    const struct nw_link_class *more = &topology->class[link->class];
    bool turned = to->a != link->a;

    for (int i = 0; i < 2; i++)
        sum.bandwidth[i] += more->bandwidth[turned ? !i : i];
    sum.assumed |= more->assumed;
    return nw_topology_class(topology, &sum, &to->class);
}

static int by_ends(const void *left, const void *right)
{
    const struct nw_direct_link *x = left, *y = right;
    int32_t low[2] = {x->a < x->b ? x->a : x->b, y->a < y->b ? y->a : y->b};
    int32_t high[2] = {x->a < x->b ? x->b : x->a, y->a < y->b ? y->b : y->a};

    if (low[0] != low[1])
        return (low[0] > low[1]) - (low[0] < low[1]);
    if (high[0] != high[1])
        return (high[0] > high[1]) - (high[0] < high[1]);
    return (x->class > y->class) - (x->class < y->class);
}

/* Merges links between the same ends, and drops links whose ends have become
 * the same switch. */
static nw_status merge_links(nw_topology *topology, struct nw_node_type *type)
{
    int32_t kept = 0;
    nw_status status = NW_OK;

    if (type->direct_count) /* without links, the array is NULL */
        qsort(type->direct, (size_t)type->direct_count, sizeof *type->direct,
              by_ends);
    for (int32_t d = 0; !status && d < type->direct_count; d++) {
        struct nw_direct_link link = type->direct[d];
        struct nw_direct_link *last = kept ? &type->direct[kept - 1] : NULL;

        if (link.a == link.b)
            continue;
        if (last && ((last->a == link.a && last->b == link.b) ||
                     (last->a == link.b && last->b == link.a)))
            status = add_rates(topology, last, &link);
        else
            type->direct[kept++] = link;
    }
    type->direct_count = kept;
    return status;
}

/* Removes the switches that were merged into another one; same[] then holds the
 * new number of each vertex. */
static void drop_switches(struct nw_node_type *type, int32_t *same)
{
    int32_t kept = 0;

    for (int32_t v = 0; v < type->vertex_count; v++) {
        if (same[v] != v) {
            same[v] = same[same[v]];
            continue;
        }
        type->parent[kept] = type->parent[v] < 0 ? -1 : same[type->parent[v]];
        type->kind[kept] = type->kind[v];
        type->class[kept] = type->class[v];
        same[v] = kept++;
    }
    for (int32_t d = 0; d < type->direct_count; d++) {
        type->direct[d].a = same[type->direct[d].a];
        type->direct[d].b = same[type->direct[d].b];
    }
    type->vertex_count = kept;
}

static bool has_switch(const struct nw_node_type *type)
{
    for (int32_t v = 0; v < type->vertex_count; v++)
        if (switch_is_switch(type, v))
            return true;
    return false;
}

nw_status nw_node_type_merge_switches(nw_topology *topology,
                                      struct nw_node_type *type)
{
    size_t n = (size_t)type->vertex_count;
    int32_t *same = NULL, *first = NULL;
    nw_status status;

    if (!has_switch(type))
        return NW_OK;
    status = nw_alloc(n, sizeof *same, &same);
    if (!status)
        status = nw_alloc(n, sizeof *first, &first);
    for (size_t v = 0; !status && v < n; v++) {
        same[v] = (int32_t)v;
        first[v] = -1;
    }
    if (!status) {
        switch_join_switches(type, same, first);
        for (int32_t v = 0; v < type->vertex_count; v++)
            same[v] = nw_group_root(same, v);
        drop_switches(type, same);
        status = merge_links(topology, type);
    }
    free(same);
    free(first);
    return status;
}
