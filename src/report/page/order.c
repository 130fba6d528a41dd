/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the data that several sections use: costs, the ranks sorted by
 * place, and heat maps. With a good mapping, this order concentrates traffic in
 * blocks on the diagonal of a heat map. */
#include "base/array.h"
#include "base/status.h"
#include "report/page/page.h"

#include <math.h>
#include <stdlib.h>

/* The place of a rank: node and core, or node and GPU. */
struct order_key {
    /* node; package (-1: none) if the machine has only one node */
    int32_t group;
    int32_t unit; /* number of the core or GPU in the machine */
    int32_t rank;
};

static int order_compare(const void *a, const void *b)
{
    const struct order_key *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->unit != y->unit)
        return x->unit < y->unit ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

static int32_t element_of(const struct nw_report_input *input,
                          const nw_mapping *mapping, int32_t rank)
{
    struct nw_ints cores = nw_mapping_cores(mapping, rank);
    struct nw_range range =
        nw_topology_node_elements(input->topology, mapping->node[rank]);

    return range.first + (cores.count ? cores.values[0] : 0);
}

/* Returns the place of a rank: its first GPU if `gpu` is true and it has one,
 * else its first core. */
static struct order_key order_key_of(const struct nw_report_input *input,
                                     const nw_mapping *mapping, int32_t rank,
                                     bool gpu)
{
    const nw_topology *topology = input->topology;
    struct nw_ints gpus = nw_mapping_gpus(mapping, rank);
    int32_t node = mapping->node[rank];
    struct order_key key = {node, element_of(input, mapping, rank), rank};
    bool one = nw_topology_node_count(topology) == 1;

    if (one)
        key.group = nw_topology_element_package(topology, key.unit);
    if (!gpu || !gpus.count || gpus.values[0] < 0)
        return key;
    if (mapping->gpu_node && mapping->gpu_node[rank] >= 0)
        node = mapping->gpu_node[rank];
    key.unit = nw_topology_node_gpus(topology, node).first + gpus.values[0];
    key.group = one ? nw_topology_gpu_package(topology, key.unit) : node;
    return key;
}

/* Returns the bytes of a layer between ranks of the same group; *total is the
 * sum of all its bytes. */
static double bytes_inside(const nw_pattern *pattern, enum nw_layer layer,
                           const int32_t *group, double *total)
{
    double inside = 0;

    *total = 0;
    for (int32_t src = 0; src < pattern->rank_count; src++)
        for (size_t e = pattern->row[src]; e < pattern->row[src + 1]; e++) {
            double bytes = (double)pattern->bytes[e];

            if (nw_layer_of((enum nw_kind)pattern->kind[e]) != layer)
                continue;
            *total += bytes;
            inside += group[src] == group[pattern->dst[e]] ? bytes : 0;
        }
    return inside;
}

/* Sets place and block of the order, and the group of each rank, from the
 * sorted places. */
static nw_status order_read(const struct order_key *key, int32_t ranks,
                            struct nw_page_order *order, int32_t *group)
{
    nw_status status =
        nw_alloc((size_t)ranks, sizeof *order->place, &order->place);

    if (!status)
        status = nw_alloc((size_t)ranks, sizeof *order->block, &order->block);
    for (int32_t i = 0; !status && i < ranks; i++) {
        order->place[key[i].rank] = i;
        group[key[i].rank] = key[i].group;
        if (i && key[i].group != key[i - 1].group)
            order->block[order->block_count++] = i;
    }
    return status;
}

/* Sorts the ranks of one layer by their places and makes its heat map. */
static nw_status find_order(const struct nw_page *page, size_t mapping,
                            struct nw_heat_what what,
                            struct nw_page_order *order)
{
    const struct nw_report_input *input = page->input;
    int32_t ranks = input->pattern->rank_count, *group = NULL;
    struct order_key *key = NULL;
    nw_status status = nw_alloc((size_t)ranks, sizeof *key, &key);

    if (!status)
        status = nw_alloc((size_t)ranks, sizeof *group, &group);
    for (int32_t r = 0; !status && r < ranks; r++)
        key[r] = order_key_of(input, input->mapping[mapping].mapping, r,
                              what.layer == NW_LAYER_GPU);
    if (!status) {
        qsort(key, (size_t)ranks, sizeof *key, order_compare);
        order->one_node = nw_topology_node_count(input->topology) == 1;
        status = order_read(key, ranks, order, group);
    }
    if (!status)
        order->inside =
            bytes_inside(input->pattern, what.layer, group, &order->bytes);
    free(group);
    free(key);
    what.place = order->place;
    return status ? status : nw_heat_bin(&what, &order->heat);
}

nw_status nw_page_init(struct nw_page *page,
                       const struct nw_report_input *input, int32_t most_cells)
{
    size_t n = input->mapping_count;
    nw_status status;

    *page = (struct nw_page){.input = input};
    if (!n)
        return nw_fail(NW_EINVAL, "a report needs a mapping");
    status = nw_alloc(n, sizeof *page->cost, &page->cost);
    if (!status)
        status =
            nw_alloc(n * NW_LAYER_COUNT, sizeof *page->order, &page->order);
    for (int l = 0; l < NW_LAYER_COUNT; l++)
        page->used[l] = nw_layer_is_used(input->pattern, (enum nw_layer)l);
    for (size_t m = 0; !status && m < n; m++) {
        const struct nw_report_mapping *shown = &input->mapping[m];

        if (shown->cost)
            page->cost[m] = *shown->cost;
        else
            status = nw_cost_evaluate(input->topology, input->pattern,
                                      shown->mapping, &page->cost[m]);
    }
    for (size_t m = 0; !status && m < n; m++)
        page->most_congestion =
            fmax(page->most_congestion, page->cost[m].max_congestion);
    for (size_t i = 0; !status && i < n * NW_LAYER_COUNT; i++)
        if (page->used[i % NW_LAYER_COUNT])
            status = find_order(
                page, i / NW_LAYER_COUNT,
                (struct nw_heat_what){input->pattern,
                                      (enum nw_layer)(i % NW_LAYER_COUNT), NULL,
                                      most_cells},
                &page->order[i]);
    return status;
}

void nw_page_fini(struct nw_page *page)
{
    size_t n = page->input->mapping_count;

    for (size_t m = 0; page->cost && m < n; m++)
        if (!page->input->mapping[m].cost)
            nw_cost_fini(&page->cost[m]);
    for (size_t i = 0; page->order && i < n * NW_LAYER_COUNT; i++) {
        free(page->order[i].place);
        free(page->order[i].block);
        nw_heat_fini(&page->order[i].heat);
    }
    free(page->cost);
    free(page->order);
}
