/* SPDX-License-Identifier: BSD-3-Clause */
/* Places the switches of the network in levels, and the nodes in blocks below
 * their switches. */
#include "report/network_layout.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>

#define MARGIN 16.0
#define LEVEL_HEIGHT 72.0
#define MOST_LEVEL_HEIGHT 220.0
#define MOST_WIDTH 1300.0
#define LEAST_WIDTH 640.0 /* title and scale need this width */
#define BLOCK_GAP 14.0
#define SWITCH_GAP 12.0
#define LEAST_SWITCH 64.0

static int32_t switches_of(const nw_topology *topology)
{
    return topology->network ? topology->network->switch_count : 0;
}

/* Returns the switch to which the node's first NIC is attached; -1 if the
 * machine has no network. */
static int32_t network_layout_home(const nw_topology *topology, int32_t node)
{
    return topology->network ? topology->port[topology->port_first[node]] : -1;
}

/* Sets the level of each switch of a tree network, so that each switch is above
 * its children. */
static void find_tree_levels(const struct nw_network *network, int32_t *level)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (int32_t s = 0; s < network->switch_count; s++) {
            int32_t up = network->parent[s];

            if (up < 0 || level[up] > level[s])
                continue;
            level[up] = level[s] + 1;
            changed = true;
        }
    }
}

/* Sets the level of each switch of a network that is not a tree to its
 * distance, in links, from the nearest switch that has nodes. Switches without
 * a path to a node get level 0. */
static void find_graph_levels(const nw_topology *topology, int32_t *level)
{
    const struct nw_network *network = topology->network;
    int32_t n = switches_of(topology);
    bool changed = true;

    for (int32_t s = 0; s < n; s++)
        level[s] = INT32_MAX - 1;
    for (int32_t p = 0; p < topology->port_first[topology->node_count]; p++)
        level[topology->port[p]] = 0;
    while (changed) {
        changed = false;
        for (int32_t l = 0; l < network->link_count; l++) {
            int32_t *a = &level[network->link_a[l]];
            int32_t *b = &level[network->link_b[l]];

            changed |= *a > *b + 1 || *b > *a + 1;
            *a = *a > *b + 1 ? *b + 1 : *a;
            *b = *b > *a + 1 ? *a + 1 : *b;
        }
    }
    for (int32_t s = 0; s < n; s++)
        level[s] = level[s] < n ? level[s] : 0;
}

static void find_levels(const nw_topology *topology,
                        struct nw_network_layout *layout)
{
    if (topology->network->parent)
        find_tree_levels(topology->network, layout->level);
    else
        find_graph_levels(topology, layout->level);
    for (int32_t s = 0; s < switches_of(topology); s++)
        if (layout->level[s] >= layout->level_count)
            layout->level_count = layout->level[s] + 1;
}

/* Returns the width of a switch's box: so wide that the longest name fits, or
 * narrower if the boxes of all switches would not fit side by side, but at
 * least LEAST_SWITCH. */
static double find_switch_width(const nw_topology *topology)
{
    int32_t n = switches_of(topology);
    double name, room;

    if (!n)
        return LEAST_SWITCH;
    name =
        NW_LETTER_WIDTH * nw_picture_letters(topology->network->switch_name, n);
    room = MOST_WIDTH / n - SWITCH_GAP;
    return fmax(LEAST_SWITCH, fmin(name + 10, room));
}

/* Returns the width of a block of `count` nodes in `rows` rows, with the gap to
 * the next block. */
static double block_width(const struct nw_network_layout *layout, int32_t count,
                          int32_t rows)
{
    int32_t columns = (count + rows - 1) / rows;

    return fmax(columns * layout->node_width, layout->switch_width + 8) +
           BLOCK_GAP;
}

/* Returns the smallest number of rows, at most 32, with which all blocks fit
 * into the width limit of the picture. count[s] is the number of nodes of
 * switch s. */
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

/* Places the nodes of switch `s` in a block of `columns` columns, from
 * layout->width to the right. */
static void place_block(const nw_topology *topology,
                        struct nw_network_layout *layout, int32_t s,
                        int32_t columns)
{
    double top = layout->node_top;
    double left = layout->width;
    int32_t i = 0;

    for (int32_t node = 0; node < topology->node_count; node++) {
        if (network_layout_home(topology, node) != s)
            continue;
        layout->node_x[node] = left + i % columns * layout->node_width;
        layout->node_y[node] = top + i / columns * layout->node_height;
        layout->height =
            fmax(layout->height, layout->node_y[node] + layout->node_height);
        i++;
    }
}

/* Places the blocks of all switches side by side, and the switches over
 * them. */
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

/* Places each switch of this level that has no nodes over the middle of its
 * children, if the network is a tree. */
static void centre_over_children(const nw_topology *topology,
                                 struct nw_network_layout *layout,
                                 int32_t level)
{
    const struct nw_network *network = topology->network;

    for (int32_t s = 0; network->parent && s < network->switch_count; s++) {
        double least = INFINITY, most = 0;

        if (layout->level[s] != level || layout->switch_x[s] > 0)
            continue;
        for (int32_t c = 0; c < network->switch_count; c++)
            if (network->parent[c] == s) {
                least = fmin(least, layout->switch_x[c]);
                most = fmax(most, layout->switch_x[c]);
            }
        if (most > 0)
            layout->switch_x[s] = (least + most) / 2;
    }
}

static bool network_layout_overlaps(const struct nw_network_layout *layout,
                                    int32_t a, int32_t b)
{
    return a != b && layout->level[a] == layout->level[b] &&
           fabs(layout->switch_x[a] - layout->switch_x[b]) <
               layout->switch_width + 2;
}

/* Places the switches of a level, each over its block of nodes or over its
 * children. If a switch has neither, or if two would overlap, spreads all
 * switches of the level evenly over the width. Widens the picture if they need
 * it. */
static void place_level(const nw_topology *topology,
                        struct nw_network_layout *layout, int32_t level)
{
    int32_t n = switches_of(topology), count = 0, i = 0;
    bool spread = false;

    centre_over_children(topology, layout, level);
    for (int32_t s = 0; s < n; s++) {
        if (layout->level[s] != level)
            continue;
        count++;
        spread |= layout->switch_x[s] <= 0;
        for (int32_t other = 0; other < n; other++)
            spread |= network_layout_overlaps(layout, s, other);
    }
    layout->width =
        fmax(layout->width,
             2 * MARGIN + count * (layout->switch_width + SWITCH_GAP));
    for (int32_t s = 0; s < n; s++) {
        if (layout->level[s] != level)
            continue;
        if (spread)
            layout->switch_x[s] =
                MARGIN + (layout->width - 2 * MARGIN) * (i++ + 0.5) / count;
        layout->switch_y[s] =
            NW_PICTURE_TOP +
            (layout->level_count - 1 - level) * layout->level_height +
            NW_SWITCH_HEIGHT / 2;
    }
}

double nw_network_layout_arc(const struct nw_network_layout *layout, int32_t a,
                             int32_t b)
{
    double arc = 14 + 0.16 * fabs(layout->switch_x[a] - layout->switch_x[b]);

    return layout->level[a] == layout->level_count - 1
               ? arc
               : fmin(arc, layout->level_height - NW_SWITCH_HEIGHT);
}

/* --- where links meet switches --- */

/* Returns true if the link meets switch `s` at the lower edge of its box. */
static bool leaves_down(const struct nw_network *network,
                        const struct nw_network_layout *layout, int32_t link,
                        int32_t s)
{
    return layout->level[nw_network_other_end(network, link, s)] <
           layout->level[s];
}

static bool is_at(const struct nw_network *network, int32_t link, int32_t s)
{
    return network->link_a[link] == s || network->link_b[link] == s;
}

double nw_network_layout_place(const struct nw_network *network,
                               const struct nw_network_layout *layout,
                               int32_t link, int32_t s)
{
    double x = layout->switch_x[nw_network_other_end(network, link, s)];
    bool down = leaves_down(network, layout, link, s);
    int32_t before = 0, all = 0;

    for (int32_t l = 0; l < network->link_count; l++) {
        double other;

        if (!is_at(network, l, s) || leaves_down(network, layout, l, s) != down)
            continue;
        other = layout->switch_x[nw_network_other_end(network, l, s)];
        before += other < x || (other == x && l < link);
        all++;
    }
    return layout->switch_x[s] +
           (layout->switch_width - 8) * ((before + 0.5) / all - 0.5);
}

/* Returns the smallest distance between two neighbouring links at the edge of
 * any switch. */
static double find_spacing(const struct nw_network *network,
                           const struct nw_network_layout *layout)
{
    int32_t most = 1;

    for (int32_t s = 0; s < network->switch_count; s++) {
        int32_t count[2] = {0, 0};

        for (int32_t l = 0; l < network->link_count; l++)
            if (is_at(network, l, s))
                count[leaves_down(network, layout, l, s)]++;
        most = count[0] > most ? count[0] : most;
        most = count[1] > most ? count[1] : most;
    }
    return (layout->switch_width - 8) / most;
}

/* Sets the distance between neighbouring levels, which is the same for all of
 * them. Unless the network is a tree, the distance grows with the mean number
 * of links per gap, up to MOST_LEVEL_HEIGHT, so that lines are steeper and
 * easier to follow. */
static void space_levels(const nw_topology *topology,
                         struct nw_network_layout *layout)
{
    const struct nw_network *network = topology->network;
    double height = LEVEL_HEIGHT;

    if (layout->level_count > 1 && !network->parent)
        height += 1.2 * network->link_count / (layout->level_count - 1);
    layout->level_height = fmin(height, MOST_LEVEL_HEIGHT);
    layout->node_top +=
        (layout->level_count - 1) * layout->level_height + LEVEL_HEIGHT;
}

/* Moves everything down by the height of the highest arc between switches of
 * one level, because arcs of the top level need space above their switches. A
 * curve rises to 3/4 of its arc's height. */
static void hold_arcs(const nw_topology *topology,
                      struct nw_network_layout *layout)
{
    const struct nw_network *network = topology->network;
    double room = 0;

    for (int32_t l = 0; l < network->link_count; l++) {
        int32_t a = network->link_a[l], b = network->link_b[l];

        if (layout->level[a] == layout->level[b])
            room = fmax(room, 0.75 * nw_network_layout_arc(layout, a, b));
    }
    for (int32_t s = 0; s < network->switch_count; s++)
        layout->switch_y[s] += room;
    for (int32_t node = 0; node < topology->node_count; node++)
        layout->node_y[node] += room;
    layout->node_top += room;
    layout->height += room;
}

static nw_status network_layout_allocate(const nw_topology *topology,
                                         struct nw_network_layout *layout)
{
    size_t nodes = (size_t)topology->node_count;
    size_t switches = (size_t)switches_of(topology);
    nw_status status = nw_alloc(nodes, sizeof(double), &layout->node_x);

    if (!status)
        status = nw_alloc(nodes, sizeof(double), &layout->node_y);
    if (!status)
        status = nw_alloc(nodes, sizeof(double), &layout->node_box);
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

    *layout =
        (struct nw_network_layout){.node_width = node_width,
                                   .node_height = node_height,
                                   .node_top = NW_PICTURE_TOP,
                                   .switch_width = find_switch_width(topology)};
    status = network_layout_allocate(topology, layout);
    if (!status)
        status =
            nw_alloc((size_t)switches_of(topology) + 1, sizeof *count, &count);
    if (status) {
        nw_network_layout_fini(layout);
        return status;
    }
    for (int32_t node = 0; node < topology->node_count; node++)
        count[topology->network ? network_layout_home(topology, node) : 0]++;
    if (topology->network) {
        find_levels(topology, layout);
        space_levels(topology, layout);
        layout->line_room = find_spacing(topology->network, layout);
    }
    place_nodes(topology, layout, count);
    for (int32_t level = 0; level < layout->level_count; level++)
        place_level(topology, layout, level);
    if (topology->network)
        hold_arcs(topology, layout);
    layout->height += MARGIN;
    free(count);
    return NW_OK;
}

void nw_network_layout_fini(struct nw_network_layout *layout)
{
    free(layout->node_x);
    free(layout->node_y);
    free(layout->node_box);
    free(layout->switch_x);
    free(layout->switch_y);
    free(layout->level);
    *layout = (struct nw_network_layout){0};
}
