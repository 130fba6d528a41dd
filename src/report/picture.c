/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the whole machine with every node and switch, if they are few;
 * otherwise by picture_samples.c. */
#include "report/picture.h"
#include "base/array.h"
#include "report/network_layout.h"
#include "report/svg.h"
#include "report/topology_words.h"

#include <nodewise/report.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_NODES 64
#define MOST_SWITCHES 64
#define NAME_HEIGHT 16.0
#define GAP 12.0
#define BUS_WIDTH 8.0 /* width of the gap left of a node for its lines */

/* Returns the bandwidth of the fastest link of the network, in the direction
 * up, in bytes/s; 1 if no such link has a bandwidth. */
static double fastest_of(const nw_topology *topology)
{
    double fastest = 0;

    for (int32_t c = 0; c < topology->class_count; c++)
        if (topology->class[c].kind == NW_LINK_NETWORK ||
            topology->class[c].kind == NW_LINK_NIC)
            fastest = fmax(fastest, topology->class[c].bandwidth[0]);
    return fastest > 0 ? fastest : 1;
}

/* Returns the width of a link's line. The line is thicker the faster the link
 * is in relation to the fastest link of the network. Lines are thin enough to
 * leave gaps between them. */
static double stroke_of(const struct nw_picture *picture, int32_t link,
                        const struct nw_network_layout *layout)
{
    struct nw_link_info info = nw_topology_link(picture->topology, link);
    double most = fmin(5, 0.5 * layout->line_room);

    return most * (0.2 + 0.8 * sqrt(fmin(info.bandwidth[0], info.bandwidth[1]) /
                                    fastest_of(picture->topology)));
}

/* A link to draw as a line from (xa, ya) to (xb, yb). */
struct picture_line {
    const struct nw_network_layout *layout;
    int32_t link;
    double xa, ya, xb, yb;
    double gap;    /* x coordinate in the gap left of the node, see
                      draw_bus() */
    double arc;    /* height of the arc if both ends are on the same level;
                      else 0 */
    bool straight; /* draw a straight line, because many lines cross */
};

static void draw_line(struct nw_text *text, const struct nw_picture *picture,
                      const struct picture_line *line)
{
    double middle =
        line->arc > 0 ? line->ya - line->arc : (line->ya + line->yb) / 2;
    struct nw_picture_path path = {
        .width = stroke_of(picture, line->link, line->layout)};

    if (line->straight)
        nw_text_format(&path.words, "M%.5g %.5gL%.5g %.5g", line->xa, line->ya,
                       line->xb, line->yb);
    else
        nw_text_format(&path.words, "M%.5g %.5gC%.5g %.5g %.5g %.5g %.5g %.5g",
                       line->xa, line->ya, line->xa, middle, line->xb, middle,
                       line->xb, line->yb);
    nw_picture_wire(text, picture, line->link, path);
}

/* Returns true if a link has more than half of the congestion at the top of the
 * colour scale. Such links are drawn last, so that no other line hides them. */
static bool is_busy(const struct nw_picture *picture, int32_t link)
{
    return picture->congestion &&
           2 * nw_picture_congestion(picture, link) > picture->high;
}

static void draw_network(struct nw_text *text, const struct nw_picture *picture,
                         const struct nw_network_layout *layout, bool busy)
{
    const struct nw_network *network = picture->topology->network;

    for (int32_t l = 0; l < network->link_count; l++) {
        int32_t a = network->link_a[l], b = network->link_b[l];
        double arc = layout->level[a] == layout->level[b]
                         ? nw_network_layout_arc(layout, a, b)
                         : 0;
        double half = NW_SWITCH_HEIGHT / 2;
        double down = layout->level[a] > layout->level[b] ? half : -half;

        if (is_busy(picture, l) != busy)
            continue;
        draw_line(text, picture,
                  &(struct picture_line){
                      layout, l, nw_network_layout_place(network, layout, l, a),
                      layout->switch_y[a] + (arc > 0 ? -half : down),
                      nw_network_layout_place(network, layout, l, b),
                      layout->switch_y[b] - (arc > 0 ? half : down), 0, arc,
                      !network->parent && arc <= 0});
    }
}

/* Draws the line to a node that is below other nodes. The line runs down
 * through the gap at the left of the nodes. */
static void draw_bus(struct nw_text *text, const struct nw_picture *picture,
                     const struct picture_line *line, double top)
{
    double gap = line->gap;
    struct nw_picture_path path = {
        .width = 0.6 * stroke_of(picture, line->link, line->layout)};

    nw_text_format(&path.words,
                   "M%.5g %.5gC%.5g %.5g %.5g %.5g %.5g %.5gV%.5gH%.5g",
                   line->xa, line->ya, line->xa, top - 12, gap, top - 30, gap,
                   top, line->yb, line->xb);
    nw_picture_wire(text, picture, line->link, path);
}

/* Returns how far from the middle of a switch's edge the line to a node starts.
 * `from` and `to` are the x coordinates of the switch and of the node: lines
 * start in the order of their nodes. */
static double port_place(const struct nw_network_layout *layout, double from,
                         double to)
{
    double share = 2 * (to - from) / layout->width;

    return (layout->switch_width - 8) * fmax(-0.5, fmin(0.5, share));
}

/* Draws the links of a node to its switches: if `busy`, those for which
 * is_busy() is true, else the others. */
static void draw_ports(struct nw_text *text, const struct nw_picture *picture,
                       const struct nw_network_layout *layout, int32_t node,
                       bool busy)
{
    const nw_topology *topology = picture->topology;
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    int32_t first = topology->port_first[node];
    int32_t ports = topology->port_first[node + 1] - first;
    double x = layout->node_x[node], y = layout->node_y[node];
    double room = layout->node_width - GAP;

    for (int32_t p = 0; p < ports; p++) {
        int32_t s = topology->port[first + p];
        double share = (p + 0.5) / ports;
        struct picture_line line = {
            layout,
            topology->link_first[node],
            layout->switch_x[s],
            layout->switch_y[s] + NW_SWITCH_HEIGHT / 2,
            x,
            y + 4 + 4 * p,
            x - (room - layout->node_box[node] + GAP) / 2 +
                (share - 0.5) * BUS_WIDTH,
            0};

        if (type->nic_count)
            line.link += type->vertex_count + type->direct_count + p;
        if (is_busy(picture, line.link) != busy)
            continue;
        line.xa += port_place(layout, line.xa,
                              y > layout->node_top
                                  ? line.gap
                                  : x + layout->node_box[node] * share);
        if (y > layout->node_top) {
            draw_bus(text, picture, &line, layout->node_top);
            continue;
        }
        line.xb = x + layout->node_box[node] * share;
        line.yb = y;
        draw_line(text, picture, &line);
    }
}

static void draw_switches(struct nw_text *text,
                          const struct nw_picture *picture,
                          const struct nw_network_layout *layout)
{
    const struct nw_network *network = picture->topology->network;
    double width = layout->switch_width;
    int letters = (int)((width - 4) / NW_LETTER_WIDTH);

    for (int32_t s = 0; s < network->switch_count; s++) {
        double y = layout->switch_y[s] - NW_SWITCH_HEIGHT / 2;
        const char *name = network->switch_name[s];

        nw_svg_box(text, &(struct nw_svg_box){layout->switch_x[s] - width / 2,
                                              y, width, NW_SWITCH_HEIGHT,
                                              "frame", name ? name : "switch"});
        nw_svg_label(text,
                     (struct nw_svg_label){layout->switch_x[s],
                                           layout->switch_y[s] + 4,
                                           "small mid"},
                     name ? "%.*s" : "switch %.*s%d",
                     nw_svg_whole(name, letters), name ? name : "", s);
    }
}

/* --- every node --- */

static void draw_nodes(struct nw_text *text, const struct nw_picture *picture,
                       const struct nw_network_layout *layout,
                       const struct nw_node_layout *types)
{
    const nw_topology *topology = picture->topology;

    for (int32_t node = 0; node < topology->node_count; node++) {
        const struct nw_node_layout *type = &types[topology->node_type[node]];
        struct nw_node_place place = {node, layout->node_x[node],
                                      layout->node_y[node]};

        nw_picture_node(text, picture, type, place);
        nw_svg_label(text,
                     (struct nw_svg_label){place.x + type->width[0] / 2,
                                           place.y + type->height[0] + 11,
                                           "small faint mid"},
                     "%.*s",
                     nw_svg_whole(topology->node_name[node], NW_MOST_LETTERS),
                     topology->node_name[node]);
    }
}

static void draw_lines(struct nw_text *text, const struct nw_picture *picture,
                       const struct nw_network_layout *layout, bool busy)
{
    draw_network(text, picture, layout, busy);
    for (int32_t n = 0; n < picture->topology->node_count; n++)
        draw_ports(text, picture, layout, n, busy);
}

static void draw_all(struct nw_text *text, const struct nw_picture *picture,
                     const struct nw_network_layout *layout,
                     const struct nw_node_layout *types)
{
    nw_svg_begin(
        text, &(struct nw_svg_frame){
                  layout->width,
                  layout->height + nw_picture_uplinks_height(picture->topology),
                  picture->title, picture->alone});
    nw_picture_heading(text, picture, layout->width);
    if (picture->topology->network) {
        draw_lines(text, picture, layout, false);
        draw_lines(text, picture, layout, true);
        draw_switches(text, picture, layout);
    }
    draw_nodes(text, picture, layout, types);
    nw_picture_uplinks(text, picture, layout->width, layout->height);
    nw_svg_end(text);
}

/* Sets *unit to the side of a core's box: so large that all nodes just fit into
 * one row, but within fixed limits. */
static nw_status unit_for(const nw_topology *topology, double *unit)
{
    struct nw_node_layout *types;
    double width = 1;
    nw_status status = nw_picture_types(topology, 1, &types);

    for (int32_t t = 0; !status && t < topology->type_count; t++)
        width = fmax(width, types[t].width[0]);
    nw_picture_free_types(topology, types);
    *unit = (1200.0 / topology->node_count - GAP) / width;
    *unit = fmax(7, fmin(20, *unit));
    return status;
}

/* Moves each node's box to the middle of its area, and stores its width. */
static void centre_nodes(const nw_topology *topology,
                         struct nw_network_layout *layout,
                         const struct nw_node_layout *types)
{
    for (int32_t node = 0; node < topology->node_count; node++) {
        double box = types[topology->node_type[node]].width[0];

        layout->node_box[node] = box;
        layout->node_x[node] += (layout->node_width - GAP - box) / 2;
    }
}

/* Draws all nodes and switches. The area of each node is as large as the
 * largest node and the longest name. */
static nw_status draw_whole(struct nw_text *text,
                            const struct nw_picture *picture)
{
    const nw_topology *topology = picture->topology;
    struct nw_node_layout *types = NULL;
    struct nw_network_layout layout = {0};
    double width = NW_LETTER_WIDTH * nw_picture_letters(topology->node_name,
                                                        topology->node_count);
    double height = 0, unit;
    nw_status status = unit_for(topology, &unit);

    if (!status)
        status = nw_picture_types(topology, unit, &types);
    for (int32_t t = 0; !status && t < topology->type_count; t++) {
        width = fmax(width, types[t].width[0]);
        height = fmax(height, types[t].height[0]);
    }
    if (!status)
        status = nw_network_layout_new(topology, width + GAP,
                                       height + NAME_HEIGHT + GAP, &layout);
    if (!status) {
        centre_nodes(topology, &layout, types);
        draw_all(text, picture, &layout, types);
    }
    nw_network_layout_fini(&layout);
    nw_picture_free_types(topology, types);
    return status;
}

/* Sets picture->high to the highest congestion. */
static void picture_find_range(struct nw_picture *picture)
{
    size_t n = 2 * (size_t)picture->topology->link_count;

    for (size_t i = 0; picture->congestion && i < n; i++)
        picture->high = fmax(picture->high, picture->congestion[i]);
}

bool nw_picture_is_whole(const nw_topology *topology)
{
    return topology->node_count <= MOST_NODES &&
           (!topology->network ||
            topology->network->switch_count <= MOST_SWITCHES);
}

nw_status nw_picture_draw(struct nw_text *text, struct nw_picture *picture)
{
    if (picture->high <= 0)
        picture_find_range(picture);
    return nw_picture_is_whole(picture->topology)
               ? draw_whole(text, picture)
               : nw_picture_samples(text, picture);
}

nw_status nw_report_topology_svg(const nw_topology *topology, char **out)
{
    struct nw_text text = {0};
    struct nw_picture picture = {.topology = topology, .alone = true};
    char title[200];
    nw_status status;

    snprintf(title, sizeof title, "The machine %s", topology->name);
    picture.title = title;
    status = nw_picture_draw(&text, &picture);
    return nw_text_take_if(status, &text, out);
}
