/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws one node: first the boxes of packages and other inner parts, then cores
 * and devices, then direct links. Each has a tooltip that describes the part
 * and its link. */
#include "report/picture.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>

double nw_picture_congestion(const struct nw_picture *picture, int32_t link)
{
    const double *both;

    if (!picture->congestion)
        return 0;
    both = &picture->congestion[2 * (size_t)link];
    return fmax(both[0], both[1]);
}

/* Appends a link's name, figures and congestion to a tooltip. */
static void picture_tip(struct nw_text *text, const struct nw_picture *picture,
                        int32_t link)
{
    struct nw_link_info info = nw_topology_link(picture->topology, link);
    char name[160], bandwidth[32], latency[32];

    nw_svg_words(text, nw_topology_link_name(picture->topology, link, name,
                                             sizeof name));
    nw_text_format(
        text, ": %s, %s, %s%s", nw_link_kind_name(info.kind),
        nw_format_quantity(fmin(info.bandwidth[0], info.bandwidth[1]),
                           NW_UNIT_BANDWIDTH, bandwidth, sizeof bandwidth),
        nw_format_quantity(info.latency, NW_UNIT_TIME, latency, sizeof latency),
        info.assumed ? " (assumed)" : "");
    if (picture->congestion)
        nw_text_format(text, ", congestion %s",
                       nw_format_quantity(nw_picture_congestion(picture, link),
                                          NW_UNIT_TIME, latency,
                                          sizeof latency));
}

void nw_picture_wire(struct nw_text *text, const struct nw_picture *picture,
                     int32_t link, struct nw_picture_path path)
{
    double congestion = nw_picture_congestion(picture, link);
    const char *words = path.words.data ? path.words.data : "";
    char class[16] = "wire";

    if (congestion > 0)
        snprintf(class, sizeof class, "link c%d",
                 nw_svg_even_step(congestion, picture->high));
    nw_text_format(text,
                   "<path class=\"halo\" stroke-width=\"%.3g\" d=\"%s\"/>"
                   "<path class=\"%s ends\" stroke-width=\"%.3g\" "
                   "d=\"%s\"><title>",
                   path.width + fmin(3, 1.2 * path.width), words, class,
                   path.width, words);
    picture_tip(text, picture, link);
    nw_text_add(text, "</title></path>\n");
    text->failed |= path.words.failed;
    nw_text_fini(&path.words);
}

/* Returns the link whose congestion colours the box of vertex `v`: the most
 * congested of the links that lead from the vertex up to the box around it.
 * Parts without a box may lie between. */
static int32_t link_of(const struct nw_picture *picture,
                       const struct nw_node_layout *layout,
                       struct nw_node_place place, int32_t v)
{
    const struct nw_node_type *type =
        nw_topology_type_of(picture->topology, place.node);
    int32_t first = picture->topology->link_first[place.node];
    int32_t worst = first + v;

    for (int32_t u = type->parent[v]; u > 0 && u != layout->owner[v];
         u = type->parent[u])
        if (nw_picture_congestion(picture, first + u) >
            nw_picture_congestion(picture, worst))
            worst = first + u;
    return worst;
}

static const char *plain_class(enum nw_vertex_kind kind, bool by_kind)
{
    if (!by_kind)
        return "part";
    switch (kind) {
    case NW_VERTEX_CORE:
        return "core";
    case NW_VERTEX_GPU:
        return "gpu";
    case NW_VERTEX_NIC:
        return "nic";
    case NW_VERTEX_GPU_SWITCH:
        return "switch";
    default:
        return "part";
    }
}

/* Writes the CSS class of a box: by its congestion, by its kind if the picture
 * shows no congestion, or grey if it shows congestion and this box has none. */
static void class_of(const struct nw_picture *picture, double congestion,
                     enum nw_vertex_kind kind, char out[24])
{
    bool leaf = kind >= NW_VERTEX_CORE && kind != NW_VERTEX_BRIDGE &&
                kind != NW_VERTEX_BOARD;

    if (congestion > 0)
        snprintf(out, 24, "%s c%d", leaf ? "f" : "part hot",
                 nw_svg_even_step(congestion, picture->high));
    else
        snprintf(out, 24, "%s", plain_class(kind, !picture->congestion));
}

static void draw_vertex(struct nw_text *text, const struct nw_picture *picture,
                        const struct nw_node_layout *layout,
                        struct nw_node_place place, int32_t v)
{
    const nw_topology *topology = picture->topology;
    const struct nw_node_type *type = nw_topology_type_of(topology, place.node);
    int32_t link = link_of(picture, layout, place, v);
    char class[24];

    class_of(picture, nw_picture_congestion(picture, link),
             (enum nw_vertex_kind)type->kind[v], class);
    nw_text_format(text,
                   "<rect class=\"%s\" x=\"%.5g\" y=\"%.5g\" width=\"%.4g\" "
                   "height=\"%.4g\" rx=\"%.3g\"><title>",
                   class, place.x + layout->x[v], place.y + layout->y[v],
                   layout->width[v], layout->height[v], layout->unit / 5);
    nw_text_format(text, "%s %d; ",
                   nw_vertex_kind_name((enum nw_vertex_kind)type->kind[v]),
                   type->index[v]);
    if (type->kind[v] == NW_VERTEX_GPU_SWITCH && topology->domain &&
        topology->domain[place.node] >= 0) {
        int32_t domain = topology->domain[place.node];

        nw_text_add(text, "NVLink domain ");
        nw_svg_words(text, topology->domain_name[domain]);
        if (topology->upper && topology->upper[domain] >= 0) {
            nw_text_add(text, " of ");
            nw_svg_words(text, topology->upper_name[topology->upper[domain]]);
        }
        nw_text_add(text, "; ");
    }
    if (nw_topology_has_links(topology))
        picture_tip(text, picture, link);
    nw_text_add(text, "</title></rect>\n");
}

/* Returns true if direct link `d` leads down to the bar of a GPU switch. Sets
 * end[0] to the device and end[1] to the switch, or to the two ends in any
 * order if neither is a switch. */
static bool find_bar(const struct nw_node_type *type,
                     const struct nw_node_layout *layout, int32_t d,
                     int32_t end[2])
{
    bool swaps = type->kind[type->direct[d].a] == NW_VERTEX_GPU_SWITCH;

    end[0] = swaps ? type->direct[d].b : type->direct[d].a;
    end[1] = swaps ? type->direct[d].a : type->direct[d].b;
    return type->kind[end[1]] == NW_VERTEX_GPU_SWITCH &&
           layout->x[end[1]] <= layout->x[end[0]] &&
           layout->x[end[1]] + layout->width[end[1]] >=
               layout->x[end[0]] + layout->width[end[0]] &&
           layout->y[end[1]] > layout->y[end[0]];
}

/* Returns the x coordinate at which the line of direct link `d` to a bar leaves
 * its device. Lines of devices that are above each other get separate
 * positions. */
static double find_lane(const struct nw_node_type *type,
                        const struct nw_node_layout *layout, int32_t d)
{
    int32_t mine[2], end[2], before = 0, all = 0;

    (void)find_bar(type, layout, d, mine);
    for (int32_t i = 0; i < type->direct_count; i++) {
        if (!find_bar(type, layout, i, end) ||
            fabs(layout->x[end[0]] - layout->x[mine[0]]) >=
                layout->width[mine[0]])
            continue;
        before += i < d;
        all++;
    }
    return layout->x[mine[0]] +
           layout->width[mine[0]] * (before + 1) / (all + 1);
}

/* Writes a straight line down to a bar. */
static void trace_to_bar(struct nw_text *path,
                         const struct nw_node_layout *layout,
                         const int32_t end[2], double x)
{
    nw_text_format(path, "M%.5g %.5gV%.5g", x,
                   layout->y[end[0]] + layout->height[end[0]] * 0.7,
                   layout->y[end[1]] + layout->height[end[1]] * 0.5);
}

/* Writes a straight line from a device to a device just below it. Returns
 * false, and writes nothing, if neither device is just below the other. */
static bool trace_down(struct nw_text *path,
                       const struct nw_node_layout *layout,
                       const int32_t end[2])
{
    bool swaps = layout->y[end[0]] > layout->y[end[1]];
    int32_t upper = end[swaps], lower = end[!swaps];
    double top = layout->y[upper] + layout->height[upper];
    double left = fmax(layout->x[upper], layout->x[lower]);
    double right = fmin(layout->x[upper] + layout->width[upper],
                        layout->x[lower] + layout->width[lower]);

    if (right <= left || layout->y[lower] < top ||
        layout->y[lower] > top + layout->unit)
        return false;
    nw_text_format(path, "M%.5g %.5gV%.5g", (left + right) / 2,
                   top - layout->height[upper] * 0.3,
                   layout->y[lower] + layout->height[lower] * 0.3);
    return true;
}

/* Writes a curve: below two devices side by side, or to the right of two
 * devices of which one is above the other. */
static void trace_arc(struct nw_text *path, const struct nw_node_layout *layout,
                      const int32_t end[2])
{
    double x[2], y[2], bend[2];

    nw_node_layout_bend(layout, end, bend);
    for (int i = 0; i < 2; i++) {
        double share = bend[0] > 0 ? 1 : 0.5;

        x[i] = layout->x[end[i]] + layout->width[end[i]] * share;
        y[i] = layout->y[end[i]] + layout->height[end[i]] * (1.5 - share);
    }
    nw_text_format(path, "M%.5g %.5gC%.5g %.5g %.5g %.5g %.5g %.5g", x[0], y[0],
                   x[0] + bend[0], y[0] + bend[1], x[1] + bend[0],
                   y[1] + bend[1], x[1], y[1]);
}

static void draw_direct(struct nw_text *text, const struct nw_picture *picture,
                        const struct nw_node_layout *layout,
                        struct nw_node_place place, int32_t d)
{
    const struct nw_node_type *type =
        nw_topology_type_of(picture->topology, place.node);
    int32_t link =
        picture->topology->link_first[place.node] + type->vertex_count + d;
    struct nw_picture_path path = {.width = layout->unit / 8};
    int32_t end[2];

    if (layout->width[type->direct[d].a] <= 0 ||
        layout->width[type->direct[d].b] <= 0)
        return;
    if (find_bar(type, layout, d, end))
        trace_to_bar(&path.words, layout, end, find_lane(type, layout, d));
    else if (!trace_down(&path.words, layout, end))
        trace_arc(&path.words, layout, end);
    nw_text_format(text, "<g transform=\"translate(%.5g %.5g)\">", place.x,
                   place.y);
    nw_picture_wire(text, picture, link, path);
    nw_text_add(text, "</g>\n");
}

/* Returns true for parts whose boxes contain other boxes; they are drawn
 * first. */
static bool is_inner(enum nw_vertex_kind kind)
{
    return kind < NW_VERTEX_CORE || kind == NW_VERTEX_BRIDGE ||
           kind == NW_VERTEX_BOARD;
}

static void draw_frame(struct nw_text *text, const struct nw_picture *picture,
                       const struct nw_node_layout *layout,
                       struct nw_node_place place)
{
    const nw_topology *topology = picture->topology;
    struct nw_range cores = nw_topology_node_elements(topology, place.node);
    struct nw_range gpus = nw_topology_node_gpus(topology, place.node);
    char tip[400];

    snprintf(tip, sizeof tip, "%s: %d core%s, %d GPU%s",
             topology->node_name[place.node], cores.count,
             nw_plural((uint64_t)cores.count), gpus.count,
             nw_plural((uint64_t)gpus.count));
    nw_svg_box(text, &(struct nw_svg_box){place.x, place.y, layout->width[0],
                                          layout->height[0], "frame", tip});
    if (layout->summary)
        nw_svg_label(text,
                     (struct nw_svg_label){place.x + layout->width[0] / 2,
                                           place.y + layout->height[0] / 2 + 4,
                                           "mid"},
                     "%d core%s, %d GPU%s", cores.count,
                     nw_plural((uint64_t)cores.count), gpus.count,
                     nw_plural((uint64_t)gpus.count));
}

void nw_picture_node(struct nw_text *text, const struct nw_picture *picture,
                     const struct nw_node_layout *layout,
                     struct nw_node_place place)
{
    const struct nw_node_type *type =
        nw_topology_type_of(picture->topology, place.node);

    draw_frame(text, picture, layout, place);
    if (layout->summary)
        return;
    for (int32_t v = 1; v < type->vertex_count; v++)
        if (layout->width[v] > 0 &&
            is_inner((enum nw_vertex_kind)type->kind[v]))
            draw_vertex(text, picture, layout, place, v);
    for (int32_t v = 1; v < type->vertex_count; v++)
        if (layout->width[v] > 0 &&
            !is_inner((enum nw_vertex_kind)type->kind[v]))
            draw_vertex(text, picture, layout, place, v);
    for (int32_t d = 0; d < type->direct_count; d++)
        draw_direct(text, picture, layout, place, d);
}
