/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the links by congestion: a picture of the machine coloured by
 * congestion, and the busiest links by name. */
#include "base/array.h"
#include "base/text.h"
#include "report/page/page.h"
#include "report/picture.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LINKS_GROUPS 10 /* largest number of groups of links in the table */
#define LINKS_NAMES 64  /* largest number of further names shown for a group */

/* A link with traffic. Links whose members are equal except `link` form a
 * group, which is one row of the table. */
struct busy_link {
    double seconds; /* congestion of the direction that has more, in s,
                       rounded */
    double bandwidth;
    int kind,
        direction; /* direction: 0 up, 1 down, 2 both equal or half duplex */
    int32_t link;
};

/* Rounds to three significant digits, so that nearly equal links form one
 * group. */
static double links_round(double seconds)
{
    double unit = pow(10, floor(log10(seconds)) - 2);

    return round(seconds / unit) * unit;
}

static int links_compare(const void *a, const void *b)
{
    const struct busy_link *x = a, *y = b;

    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind > y->kind ? -1 : 1; /* network links first */
    if (x->bandwidth != y->bandwidth)
        return x->bandwidth < y->bandwidth ? -1 : 1;
    if (x->direction != y->direction)
        return x->direction < y->direction ? -1 : 1;
    return x->link < y->link ? -1 : x->link > y->link;
}

static bool links_are_alike(const struct busy_link *x,
                            const struct busy_link *y)
{
    return x->seconds == y->seconds && x->kind == y->kind &&
           x->bandwidth == y->bandwidth && x->direction == y->direction;
}

/* Lists the links with traffic, sorted with the most congested first. The
 * caller frees *out. */
static nw_status links_sort(const nw_topology *topology,
                            const struct nw_cost *cost, struct busy_link **out,
                            size_t *count)
{
    struct busy_link *busy;
    nw_status status = nw_alloc((size_t)cost->link_count, sizeof *busy, &busy);
    size_t n = 0;

    if (status)
        return status;
    for (int32_t link = 0; link < cost->link_count; link++) {
        const double *both = &cost->link_congestion[2 * (size_t)link];
        struct nw_link_info info = nw_topology_link(topology, link);
        int direction = both[1] > both[0];

        if (!(both[direction] > 0))
            continue;
        busy[n].seconds = links_round(both[direction]);
        busy[n].bandwidth = info.bandwidth[direction];
        busy[n].kind = (int)info.kind;
        busy[n].direction =
            info.half_duplex || both[0] == both[1] ? 2 : direction;
        busy[n++].link = link;
    }
    qsort(busy, n, sizeof *busy, links_compare);
    *out = busy;
    *count = n;
    return NW_OK;
}

/* Appends the name of a group's first link, and the names of up to LINKS_NAMES
 * other links in a part that the reader can open. */
static void links_add_names(struct nw_text *text, const nw_topology *topology,
                            const struct busy_link *group, size_t count)
{
    char name[160];

    nw_text_add(text, "<tr><th scope=\"row\">");
    nw_svg_words(
        text, nw_topology_link_name(topology, group->link, name, sizeof name));
    if (count > 1)
        nw_text_format(text, "<details><summary>%zu link%s like this</summary>",
                       count, nw_plural((uint64_t)count));
    for (size_t i = 1; i < count && i <= LINKS_NAMES; i++) {
        nw_svg_words(text, nw_topology_link_name(topology, group[i].link, name,
                                                 sizeof name));
        nw_text_add(text, "<br/>");
    }
    if (count > LINKS_NAMES + 1)
        nw_text_format(text, "and %zu more", count - LINKS_NAMES - 1);
    nw_text_add(text, count > 1 ? "</details></th>" : "</th>");
}

static void links_add_group(struct nw_text *text, const nw_topology *topology,
                            const struct busy_link *group, size_t count)
{
    static const char *const directions[] = {"up", "down", "both"};
    bool assumed = nw_topology_link(topology, group->link).assumed;
    char words[32];

    links_add_names(text, topology, group, count);
    nw_page_element(text, "td", "%s", directions[group->direction]);
    nw_page_element(text, "td", "%s",
                    nw_link_kind_name((enum nw_link_kind)group->kind));
    nw_page_element(text, "td", "%s%s",
                    nw_format_quantity(group->bandwidth, NW_UNIT_BANDWIDTH,
                                       words, sizeof words),
                    assumed ? " (assumed)" : "");
    nw_page_cell(text, group->seconds * group->bandwidth, NW_UNIT_BYTES);
    nw_page_cell(text, group->seconds, NW_UNIT_TIME);
    nw_text_add(text, "</tr>\n");
}

static nw_status links_add_busiest(struct nw_text *text,
                                   const nw_topology *topology,
                                   const struct nw_cost *cost)
{
    struct busy_link *busy;
    size_t count, end, from = 0;
    nw_status status = links_sort(topology, cost, &busy, &count);

    if (status)
        return status;
    nw_page_wide(text, "The busiest links");
    nw_text_add(text,
                "<table><thead><tr><th scope=\"col\">busiest links</th>"
                "<th scope=\"col\">way</th><th scope=\"col\">kind</th>"
                "<th scope=\"col\">bandwidth</th><th scope=\"col\">bytes</th>"
                "<th scope=\"col\">congestion</th></tr></thead>\n<tbody>\n");
    for (int g = 0; g < LINKS_GROUPS && from < count; g++, from = end) {
        end = from + 1;
        while (end < count && links_are_alike(&busy[from], &busy[end]))
            end++;
        links_add_group(text, topology, &busy[from], end - from);
    }
    nw_text_add(text, "</tbody></table>\n");
    nw_page_wide_end(text);
    free(busy);
    return NW_OK;
}

static nw_status links_add_mapping(struct nw_text *text,
                                   const struct nw_page *page,
                                   struct nw_picture *picture, size_t m)
{
    const char *name = page->input->mapping[m].name;
    char title[160];
    nw_status status;

    snprintf(title, sizeof title, "Congestion of links under %.*s",
             nw_svg_whole(name, 80), name);
    picture->title = title;
    picture->congestion = page->cost[m].link_congestion;
    nw_text_format(text, "<div class=\"panel v%zu\">\n", m);
    nw_page_element(text, "h3", "%s", name);
    nw_page_wide(text, "The machine, coloured by congestion");
    status = nw_picture_draw(text, picture);
    nw_page_wide_end(text);
    if (!status)
        status = links_add_busiest(text, page->input->topology, &page->cost[m]);
    nw_text_add(text, "</div>\n");
    return status;
}

bool nw_page_has_links(const struct nw_page *page)
{
    for (size_t m = 0; m < page->input->mapping_count; m++)
        if (!page->cost[m].has_congestion || !page->cost[m].link_congestion)
            return false;
    return true;
}

/* Appends one picture per mapping; that of the last mapping is shown at first.
 */
static nw_status links_add_pictures(struct nw_text *text,
                                    const struct nw_page *page)
{
    struct nw_picture picture = {.topology = page->input->topology,
                                 .high = page->most_congestion};
    size_t n = page->input->mapping_count;
    const char **title;
    nw_status status = nw_alloc(n, sizeof *title, &title);

    if (status)
        return status;
    for (size_t m = 0; m < n; m++)
        title[m] = page->input->mapping[m].name;
    nw_page_views(text, &(struct nw_page_views){"links", "Congestion of links",
                                                title, n, n - 1});
    for (size_t m = 0; !status && m < n; m++)
        status = links_add_mapping(text, page, &picture, m);
    nw_page_views_end(text);
    free(title);
    return status;
}

nw_status nw_page_links(struct nw_text *text, const struct nw_page *page)
{
    nw_status status;

    nw_text_add(text, "<section id=\"links\"><h2>Links by congestion</h2>\n");
    if (!nw_page_has_links(page)) {
        nw_text_add(text, "<p>This machine is a table of distances and has no "
                          "links.</p></section>\n");
        return NW_OK;
    }
    nw_text_add(
        text,
        "<p>The congestion of a link is the bytes that cross it in one "
        "direction, divided by its bandwidth: no exchange can be quicker than "
        "its busiest link. A box has the colour of its link to the box around "
        "it, grey if nothing crosses the link. The scale is linear and the "
        "same for all mappings.</p>\n");
    status = links_add_pictures(text, page);
    if (!status)
        status = nw_page_histogram(text, page);
    nw_text_add(text, "</section>\n");
    return status;
}
