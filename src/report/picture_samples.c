/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws a machine that is too large to draw every node: for each type, the node
 * with the highest congestion and the number of nodes of that type. */
#include "report/picture.h"

#include "base/text.h"

#include "report/svg.h"

#include <math.h>

static double busiest_link(const struct nw_picture *picture, int32_t node)
{
    const nw_topology *topology = picture->topology;
    double busiest = 0;

    for (int32_t l = topology->link_first[node];
         picture->congestion && l < topology->link_first[node + 1]; l++)
        busiest = fmax(busiest, nw_picture_congestion(picture, l));
    return busiest;
}

/* A node and the number of nodes of its type. */
struct sample {
    int32_t node, count;
};

/* Finds the node of a type with the most congested link; the first node if the
 * picture shows no congestion. */
static struct sample sample_of(const struct nw_picture *picture, int32_t type)
{
    const nw_topology *topology = picture->topology;
    struct sample sample = {-1, 0};
    double most = 0;

    for (int32_t node = 0; node < topology->node_count; node++) {
        double busiest;

        if (topology->node_type[node] != type)
            continue;
        busiest = busiest_link(picture, node);
        if (sample.node < 0 || busiest > most) {
            sample.node = node;
            most = busiest;
        }
        sample.count++;
    }
    return sample;
}

/* Draws the network as one box above all samples. */
static void draw_cloud(struct nw_text *text, const nw_topology *topology,
                       double width)
{
    const struct nw_network *network = topology->network;

    nw_svg_box(text, &(struct nw_svg_box){16, NW_PICTURE_TOP, width, 44,
                                          "frame", "the network"});
    nw_svg_label(
        text, (struct nw_svg_label){16 + width / 2, NW_PICTURE_TOP + 27, "mid"},
        "network (%s): %d switch%s, %d link%s between them", network->ops->name,
        network->switch_count,
        nw_by_count((uint64_t)network->switch_count, "", "es"),
        network->link_count, nw_plural((uint64_t)network->link_count));
}

/* Draws a node with its type, the number of nodes and its name; returns the
 * height. */
static double draw_sample(struct nw_text *text,
                          const struct nw_picture *picture,
                          const struct nw_node_layout *layout,
                          struct nw_node_place place)
{
    const nw_topology *topology = picture->topology;
    struct sample sample = sample_of(picture, topology->node_type[place.node]);
    const char *type = nw_topology_type_of(topology, place.node)->name;
    const char *node = topology->node_name[place.node];

    if (topology->network)
        nw_text_format(text,
                       "<path class=\"wire\" stroke-width=\"3\" "
                       "d=\"M%g %gV%g\"/>\n",
                       place.x + layout->width[0] / 2, NW_PICTURE_TOP + 44,
                       place.y);
    type = type ? type : "node";
    nw_picture_node(text, picture, layout, place);
    nw_svg_label(
        text,
        (struct nw_svg_label){place.x, place.y + layout->height[0] + 16, ""},
        "%d x %.*s", sample.count, nw_svg_whole(type, 40), type);
    nw_svg_label(text,
                 (struct nw_svg_label){
                     place.x, place.y + layout->height[0] + 32, "small faint"},
                 "shown: %.*s%s", nw_svg_whole(node, 40), node,
                 picture->congestion ? ", the busiest" : "");
    return layout->height[0] + 60;
}

nw_status nw_picture_samples(struct nw_text *text,
                             const struct nw_picture *picture)
{
    const nw_topology *topology = picture->topology;
    struct nw_node_layout *types = NULL;
    double x = 16, height = 0, width;
    nw_status status = nw_picture_types(topology, 14, &types);

    for (int32_t t = 0; !status && t < topology->type_count; t++) {
        x += fmax(types[t].width[0], 180) + 16;
        height = fmax(height, types[t].height[0]);
    }
    if (status) {
        nw_picture_free_types(topology, types);
        return status;
    }
    width = fmax(x, 720);
    nw_svg_begin(text,
                 &(struct nw_svg_frame){
                     width, height + 206 + nw_picture_uplinks_height(topology),
                     picture->title, picture->alone});
    nw_picture_heading(text, picture, width);
    if (topology->network)
        draw_cloud(text, topology, width - 32);
    x = 16;
    for (int32_t t = 0; t < topology->type_count; t++) {
        struct sample sample = sample_of(picture, t);

        if (sample.node < 0)
            continue;
        draw_sample(text, picture, &types[t],
                    (struct nw_node_place){sample.node, x, 146});
        x += fmax(types[t].width[0], 180) + 16;
    }
    nw_picture_uplinks(text, picture, width, height + 206);
    nw_svg_end(text);
    nw_picture_free_types(topology, types);
    return NW_OK;
}
