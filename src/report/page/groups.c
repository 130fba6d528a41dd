/* SPDX-License-Identifier: BSD-3-Clause */
/* The traffic of a training step by kind of group on each level, and the time
 * of its communication. */
#include "report/page/page.h"

static double groups_bytes(const struct nw_cost *cost, int32_t level)
{
    return (double)cost->level_bytes[0][level] +
           (double)cost->level_bytes[1][level];
}

static void groups_add_level(struct nw_text *text, const struct nw_page *page,
                             const struct nw_report_group *group, int32_t level)
{
    size_t n = page->input->mapping_count;
    double all = 0;

    for (size_t m = 0; m < n; m++)
        all += groups_bytes(&group->cost[m], level);
    if (!(all > 0))
        return;
    nw_text_add(text, "<tr>");
    nw_page_element(text, "th scope=\"row\"", "%s", group->name);
    nw_page_element(text, "td class=\"word\"", "%s",
                    nw_topology_level_name(page->input->topology, level));
    for (size_t m = 0; m < n; m++)
        nw_page_cell(text, groups_bytes(&group->cost[m], level), NW_UNIT_BYTES);
    nw_text_add(text, "</tr>\n");
}

static void groups_add_time(struct nw_text *text, const struct nw_page *page,
                            const char *name, const struct nw_cost *cost)
{
    if (!cost[0].has_congestion)
        return;
    nw_text_add(text, "<tr class=\"sum\">");
    nw_page_element(text, "th scope=\"row\"", "%s", name);
    nw_text_add(text, "<td class=\"word\">time</td>");
    for (size_t m = 0; m < page->input->mapping_count; m++)
        nw_page_cell(text, cost[m].time, NW_UNIT_TIME);
    nw_text_add(text, "</tr>\n");
}

void nw_page_groups(struct nw_text *text, const struct nw_page *page)
{
    const struct nw_report_input *input = page->input;

    if (!input->group_count)
        return;
    nw_text_add(text,
                "<section id=\"groups\"><h2>Traffic by kind of group</h2>\n"
                "<p>Bytes that each kind of group sends within each level, "
                "and the communication time of each kind alone. The last row "
                "is the whole training step.</p>\n");
    nw_page_wide(text, "Traffic by kind of group");
    nw_text_add(text, "<table><thead><tr><th scope=\"col\">group</th><th "
                      "scope=\"col\" class=\"word\">within</th>");
    for (size_t m = 0; m < input->mapping_count; m++)
        nw_page_element(text, "th scope=\"col\"", "%s", input->mapping[m].name);
    nw_text_add(text, "</tr></thead>\n<tbody>\n");
    for (size_t g = 0; g < input->group_count; g++) {
        const struct nw_report_group *group = &input->group[g];

        for (int32_t l = 0; l < group->cost[0].level_count; l++)
            groups_add_level(text, page, group, l);
        groups_add_time(text, page, group->name, group->cost);
    }
    groups_add_time(text, page, "the whole step", page->cost);
    nw_text_add(text, "</tbody></table>\n");
    nw_page_wide_end(text);
    nw_text_add(text, "</section>\n");
}
