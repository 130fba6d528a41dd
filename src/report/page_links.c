/* SPDX-License-Identifier: BSD-3-Clause */
/* Links by congestion: the machine coloured by it, and the busiest by name. */
#include "base/array.h"
#include "report/page.h"
#include "report/picture.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TOP 10

struct top {
    int64_t hop[TOP]; /* 2 x link + direction */
    int count;
};

/* Insertion into ten: the lower number wins a tie. */
static void find_top(const struct nw_cost *cost, struct top *top)
{
    int64_t n = 2 * (int64_t)cost->link_count;

    top->count = 0;
    for (int64_t hop = 0; hop < n; hop++) {
        double value = cost->link_congestion[hop];
        int i = top->count;

        if (value <= 0 ||
            (i == TOP && value <= cost->link_congestion[top->hop[TOP - 1]]))
            continue;
        if (i == TOP)
            i--;
        else
            top->count++;
        for (; i > 0 && cost->link_congestion[top->hop[i - 1]] < value; i--)
            top->hop[i] = top->hop[i - 1];
        top->hop[i] = hop;
    }
}

static void add_link(struct nw_text *text, const struct nw_page *page,
                     const struct nw_cost *cost, int64_t hop)
{
    struct nw_link_info info =
        nw_topology_link(page->input->topology, (int32_t)(hop / 2));
    double seconds = cost->link_congestion[hop];
    double bandwidth = info.bandwidth[hop % 2];
    char name[160], words[32];

    nw_text_add(text, "<tr>");
    nw_page_element(text, "th scope=\"row\"", "%s",
                    nw_topology_link_name(page->input->topology,
                                          (int32_t)(hop / 2), name,
                                          sizeof name));
    nw_page_element(text, "td", "%s",
                    info.half_duplex ? "both"
                    : hop % 2        ? "down"
                                     : "up");
    nw_page_element(text, "td", "%s", nw_link_kind_name(info.kind));
    nw_page_element(
        text, "td", "%s%s",
        nw_format_quantity(bandwidth, NW_UNIT_BANDWIDTH, words, sizeof words),
        info.assumed ? " (assumed)" : "");
    nw_page_element(text, "td", "%s",
                    nw_format_quantity(seconds * bandwidth, NW_UNIT_BYTES,
                                       words, sizeof words));
    nw_page_element(
        text, "td", "%s",
        nw_format_quantity(seconds, NW_UNIT_TIME, words, sizeof words));
    nw_text_add(text, "</tr>\n");
}

static void add_top(struct nw_text *text, const struct nw_page *page,
                    const struct nw_cost *cost)
{
    struct top top;

    find_top(cost, &top);
    nw_text_add(text,
                "<div class=\"wide\"><table><thead><tr><th>link</th>"
                "<th>way</th><th>kind</th><th>bandwidth</th><th>bytes</th>"
                "<th>congestion</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < top.count; i++)
        add_link(text, page, cost, top.hop[i]);
    nw_text_add(text, "</tbody></table></div>\n");
}

static void find_scale(const struct nw_page *page, struct nw_picture *picture)
{
    for (size_t m = 0; m < page->input->mapping_count; m++)
        picture->high = fmax(picture->high, page->cost[m].max_congestion);
}

static nw_status add_mapping(struct nw_text *text, const struct nw_page *page,
                             struct nw_picture *picture, size_t m)
{
    const char *name = page->input->mapping[m].name;
    char title[160];
    nw_status status;

    snprintf(title, sizeof title, "Congestion of links under %.*s",
             nw_svg_whole(name, 80), name);
    picture->title = title;
    picture->congestion = page->cost[m].link_congestion;
    nw_page_element(text, "h3", "%s", name);
    nw_text_add(text, "<div class=\"wide\">\n");
    status = nw_picture_draw(text, picture);
    nw_text_add(text,
                "</div>\n<details open=\"open\"><summary>The busiest links"
                "</summary>\n");
    add_top(text, page, &page->cost[m]);
    nw_text_add(text, "</details>\n");
    return status;
}

static bool has_links(const struct nw_page *page)
{
    for (size_t m = 0; m < page->input->mapping_count; m++)
        if (!page->cost[m].has_congestion || !page->cost[m].link_congestion)
            return false;
    return true;
}

nw_status nw_page_links(struct nw_text *text, const struct nw_page *page)
{
    struct nw_picture picture = {.topology = page->input->topology};
    nw_status status = NW_OK;

    nw_text_add(text, "<section><h2>Links by congestion</h2>\n");
    if (!has_links(page)) {
        nw_text_add(text, "<p>This machine is a table of distances and has no "
                          "links.</p></section>\n");
        return NW_OK;
    }
    nw_text_add(
        text,
        "<p>The congestion of a link is the bytes that cross it in one "
        "direction over its bandwidth: no exchange can be quicker than its "
        "busiest link. A box has the colour of its link to the box around it, "
        "grey where nothing crosses; the scale is even and the same for all "
        "mappings.</p>\n");
    find_scale(page, &picture);
    for (size_t m = 0; !status && m < page->input->mapping_count; m++)
        status = add_mapping(text, page, &picture, m);
    nw_text_add(text, "</section>\n");
    return status;
}
