/* SPDX-License-Identifier: BSD-3-Clause */
/* Placing switches in levels and nodes in blocks below them. */
#include "report/network_layout.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>

#define MARGIN 16.0
#define TOP 64.0
#define LEVEL_HEIGHT 72.0
#define MOST_WIDTH 1300.0
#define LEAST_WIDTH 640.0 /* name and scale fit above */
#define BLOCK_GAP 14.0

static int32_t switches_of(const nw_topology *topology)
{
    return topology->network ? topology->network->switch_count : 0;
}

/* -1 where there is no network. */
static int32_t home(const nw_topology *topology, int32_t node)
{
    return topology->network ? topology->port[topology->port_first[node]] : -1;
}

/* Rounds of neighbours, until none is left without a level. Switches that no
 * node reaches stay on the top one. */
static void find_levels(const nw_topology *topology,
                        struct nw_network_layout *layout)
{
    const struct nw_network *network = topology->network;
    int32_t n = switches_of(topology);
    bool changed = true;

    for (int32_t s = 0; s < n; s++)
        layout->level[s] = INT32_MAX - 1;
    for (int32_t p = 0; p < topology->port_first[topology->node_count]; p++)
        layout->level[topology->port[p]] = 0;
    while (changed) {
        changed = false;
        for (int32_t l = 0; l < network->link_count; l++) {
            int32_t *a = &layout->level[network->link_a[l]];
            int32_t *b = &layout->level[network->link_b[l]];

            changed |= *a > *b + 1 || *b > *a + 1;
            *a = *a > *b + 1 ? *b + 1 : *a;
            *b = *b > *a + 1 ? *a + 1 : *b;
        }
    }
    for (int32_t s = 0; s < n; s++) {
        if (layout->level[s] >= n)
            layout->level[s] = 0;
        if (layout->level[s] >= layout->level_count)
            layout->level_count = layout->level[s] + 1;
    }
}

static double block_width(const struct nw_network_layout *layout, int32_t count,
                          int32_t rows)
{
    int32_t columns = (count + rows - 1) / rows;

    return fmax(columns * layout->node_width, NW_SWITCH_WIDTH + 8) + BLOCK_GAP;
}

/* As few rows as keep the picture within its width. */
static int32_t choose_rows(const struct nw_network_layout *layout,
                           const int32_t *count, int32_t n)
{
    int32_t rows;

    for (rows = 1; rows < 32; rows++) {
        double width = 2 * MARGIN;

        for (int32_t s = 0; s < n; s++)
            width += count[s] ? block_width(layout, count[s], rows) : 0;
        if (width <= MOST_WIDTH)
            break;
    }
    return rows;
}

static void place_block(const nw_topology *topology,
                        struct nw_network_layout *layout, int32_t s,
                        int32_t columns)
{
    double top = TOP + layout->level_count * LEVEL_HEIGHT;
    double left = layout->width;
    int32_t i = 0;

    layout->node_top = top;
    for (int32_t node = 0; node < topology->node_count; node++) {
        if (home(topology, node) != s)
            continue;
        layout->node_x[node] = left + i % columns * layout->node_width;
        layout->node_y[node] = top + i / columns * layout->node_height;
        layout->height =
            fmax(layout->height, layout->node_y[node] + layout->node_height);
        i++;
    }
}

static void place_nodes(const nw_topology *topology,
                        struct nw_network_layout *layout, const int32_t *count)
{
    int32_t n = topology->network ? switches_of(topology) : 1;
    int32_t rows = choose_rows(layout, count, n);

    layout->width = MARGIN;
    for (int32_t s = 0; s < n; s++) {
        int32_t columns = (count[s] + rows - 1) / rows;
        double block;

        if (!count[s])
            continue;
        block = block_width(layout, count[s], rows);
        place_block(topology, layout, topology->network ? s : -1, columns);
        if (topology->network)
            layout->switch_x[s] = layout->width + (block - BLOCK_GAP) / 2;
        layout->width += block;
    }
    layout->width = fmax(layout->width - BLOCK_GAP + MARGIN, LEAST_WIDTH);
}

/* Over their blocks where each switch of a level has one, else spread evenly
 * over the level. */
static void place_level(const nw_topology *topology,
                        struct nw_network_layout *layout, int32_t level)
{
    int32_t n = switches_of(topology), count = 0, i = 0;
    bool spread = false;

    for (int32_t s = 0; s < n; s++) {
        count += layout->level[s] == level;
        spread |= layout->level[s] == level && layout->switch_x[s] <= 0;
    }
    layout->width =
        fmax(layout->width, 2 * MARGIN + count * (NW_SWITCH_WIDTH + 12));
    for (int32_t s = 0; s < n; s++) {
        if (layout->level[s] != level)
            continue;
        if (spread)
            layout->switch_x[s] =
                MARGIN + (layout->width - 2 * MARGIN) * (i++ + 0.5) / count;
        layout->switch_y[s] = TOP +
                              (layout->level_count - 1 - level) * LEVEL_HEIGHT +
                              NW_SWITCH_HEIGHT / 2;
    }
}

static nw_status allocate(const nw_topology *topology,
                          struct nw_network_layout *layout)
{
    size_t nodes = (size_t)topology->node_count;
    size_t switches = (size_t)switches_of(topology);
    nw_status status = nw_alloc(nodes, sizeof(double), &layout->node_x);

    if (!status)
        status = nw_alloc(nodes, sizeof(double), &layout->node_y);
    if (!status)
        status = nw_alloc(switches, sizeof(double), &layout->switch_x);
    if (!status)
        status = nw_alloc(switches, sizeof(double), &layout->switch_y);
    if (!status)
        status = nw_alloc(switches, sizeof(int32_t), &layout->level);
    return status;
}

nw_status nw_network_layout_new(const nw_topology *topology, double node_width,
                                double node_height,
                                struct nw_network_layout *layout)
{
    int32_t *count = NULL;
    nw_status status;

    *layout = (struct nw_network_layout){.node_width = node_width,
                                         .node_height = node_height};
    status = allocate(topology, layout);
    if (!status)
        status =
            nw_alloc((size_t)switches_of(topology) + 1, sizeof *count, &count);
    if (status) {
        nw_network_layout_fini(layout);
        return status;
    }
    for (int32_t node = 0; node < topology->node_count; node++)
        count[topology->network ? home(topology, node) : 0]++;
    if (topology->network)
        find_levels(topology, layout);
    place_nodes(topology, layout, count);
    for (int32_t level = 0; level < layout->level_count; level++)
        place_level(topology, layout, level);
    layout->height += MARGIN;
    free(count);
    return NW_OK;
}

void nw_network_layout_fini(struct nw_network_layout *layout)
{
    free(layout->node_x);
    free(layout->node_y);
    free(layout->switch_x);
    free(layout->switch_y);
    free(layout->level);
    *layout = (struct nw_network_layout){0};
}
