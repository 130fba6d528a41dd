/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the second level of NVLink domains: a row of upper domains, and below
 * it their domains, each with its uplink. Of a machine with more than
 * MOST_DOMAINS domains, only the upper domain with the busiest uplink is drawn.
 */
#include "report/picture.h"
#include "report/svg.h"

#include <math.h>

#define MOST_DOMAINS 64
#define MARGIN 16.0
#define BOX_HEIGHT 20.0
#define LINE_HEIGHT 60.0

/* The domains to draw: those of upper domain `only`, or all if it is -1; at
 * most MOST_DOMAINS. */
struct uplinks {
    const nw_topology *topology;
    int32_t only;
    int32_t domain[MOST_DOMAINS], count;
    double width, y; /* width of the picture, top of the row of upper domains */
};

/* Returns the upper domain with the busiest uplink; the first one if the
 * picture shows no congestion. */
static int32_t uplinks_busiest(const struct nw_picture *picture)
{
    const nw_topology *topology = picture->topology;
    double most = 0;
    int32_t busiest = 0;

    for (int32_t d = 0; d < topology->domain_count; d++) {
        double congestion =
            nw_picture_congestion(picture, nw_domain_uplink(topology, d));

        if (topology->upper[d] < 0 || congestion <= most)
            continue;
        most = congestion;
        busiest = topology->upper[d];
    }
    return busiest;
}

static void uplinks_choose(struct uplinks *uplinks)
{
    const nw_topology *topology = uplinks->topology;

    for (int32_t d = 0;
         d < topology->domain_count && uplinks->count < MOST_DOMAINS; d++)
        if (topology->upper[d] >= 0 &&
            (uplinks->only < 0 || topology->upper[d] == uplinks->only))
            uplinks->domain[uplinks->count++] = d;
}

/* Returns the x coordinate of the middle of box number i of `count` boxes in a
 * row. */
static double uplinks_middle(const struct uplinks *uplinks, int32_t i,
                             int32_t count)
{
    return MARGIN + (uplinks->width - 2 * MARGIN) * (i + 0.5) / count;
}

/* Draws box number i of a row of `count` boxes. */
static void uplinks_box(struct nw_text *text, const struct uplinks *uplinks,
                        const char *name, int32_t i, int32_t count, double y)
{
    double room = (uplinks->width - 2 * MARGIN) / count - 4;
    double width = fmin(room, NW_LETTER_WIDTH * NW_MOST_LETTERS);
    double x = uplinks_middle(uplinks, i, count);

    nw_svg_box(text, &(struct nw_svg_box){x - width / 2, y, width, BOX_HEIGHT,
                                          "frame", name});
    nw_svg_label(
        text, (struct nw_svg_label){x, y + BOX_HEIGHT - 6, "small mid"}, "%.*s",
        nw_svg_whole(name, (int)((width - 4) / NW_LETTER_WIDTH)), name);
}

static void uplinks_wire(struct nw_text *text, const struct nw_picture *picture,
                         const struct uplinks *uplinks, int32_t i,
                         double upper_x)
{
    struct nw_picture_path path = {.width = 3};
    double top = uplinks->y + BOX_HEIGHT;

    nw_text_format(&path.words, "M%.5g %.5gL%.5g %.5g",
                   uplinks_middle(uplinks, i, uplinks->count),
                   top + LINE_HEIGHT, upper_x, top);
    nw_picture_wire(text, picture,
                    nw_domain_uplink(uplinks->topology, uplinks->domain[i]),
                    path);
}

double nw_picture_uplinks_height(const nw_topology *topology)
{
    return topology->upper ? 2 * MARGIN + 2 * BOX_HEIGHT + LINE_HEIGHT : 0;
}

void nw_picture_uplinks(struct nw_text *text, const struct nw_picture *picture,
                        double width, double y)
{
    const nw_topology *topology = picture->topology;
    struct uplinks uplinks = {
        .topology = topology, .only = -1, .width = width, .y = y + MARGIN};
    int32_t first = 0, uppers = topology->upper_count;

    if (!topology->upper)
        return;
    if (topology->domain_count > MOST_DOMAINS) {
        uplinks.only = first = uplinks_busiest(picture);
        uppers = 1;
    }
    uplinks_choose(&uplinks);
    nw_svg_label(text, (struct nw_svg_label){MARGIN, y + 8, "small faint"},
                 "second level of NVLink%s",
                 uplinks.count < topology->domain_count ? " (a part of it)"
                                                        : "");
    for (int32_t i = 0; i < uplinks.count; i++)
        uplinks_wire(text, picture, &uplinks, i,
                     uplinks_middle(&uplinks,
                                    topology->upper[uplinks.domain[i]] - first,
                                    uppers));
    for (int32_t u = 0; u < uppers; u++)
        uplinks_box(text, &uplinks, topology->upper_name[first + u], u, uppers,
                    uplinks.y);
    for (int32_t i = 0; i < uplinks.count; i++)
        uplinks_box(text, &uplinks, topology->domain_name[uplinks.domain[i]], i,
                    uplinks.count, uplinks.y + BOX_HEIGHT + LINE_HEIGHT);
}
