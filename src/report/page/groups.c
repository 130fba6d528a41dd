/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the traffic of a training step by kind of group of ranks and by level
 * of the machine, and the time of its communication. */
#include "report/page/page.h"

static double groups_bytes(const struct nw_cost *cost, int32_t level)
{
    return (double)cost->level_bytes[0][level] +
           (double)cost->level_bytes[1][level];
}

static void groups_add_level(struct nw_text *text, const struct nw_page *page,
                             int group, int32_t level)
{
    size_t n = page->input->mapping_count;
    double all = 0;

    for (size_t m = 0; m < n; m++)
        all += groups_bytes(&page->cost[m].phase[group], level);
    if (!(all > 0))
        return;
    nw_text_add(text, "<tr>");
    nw_page_element(text, "th scope=\"row\"", "%s", nw_phase_title(group));
    nw_page_element(text, "td class=\"word\"", "%s",
                    nw_topology_level_name(page->input->topology, level));
    for (size_t m = 0; m < n; m++)
        nw_page_cell(text, groups_bytes(&page->cost[m].phase[group], level),
                     NW_UNIT_BYTES);
    nw_text_add(text, "</tr>\n");
}

/* Appends the time of one kind of group, or of all kinds if `group` is -1.
 * Appends nothing if the machine has no bandwidths. */
static void groups_add_time(struct nw_text *text, const struct nw_page *page,
                            int group)
{
    if (!page->cost[0].has_congestion)
        return;
    nw_text_add(text, "<tr class=\"sum\">");
    nw_page_element(text, "th scope=\"row\"", "%s",
                    group < 0 ? "all kinds" : nw_phase_title(group));
    nw_text_add(text, "<td class=\"word\">time</td>");
    for (size_t m = 0; m < page->input->mapping_count; m++) {
        const struct nw_cost *cost = &page->cost[m];

        nw_page_cell(text, group < 0 ? cost->time : cost->phase[group].time,
                     NW_UNIT_TIME);
    }
    nw_text_add(text, "</tr>\n");
}

void nw_page_groups(struct nw_text *text, const struct nw_page *page)
{
    const struct nw_report_input *input = page->input;
    const struct nw_cost *phase = page->cost[0].phase;

    if (!phase)
        return;
    nw_text_add(text,
                "<section id=\"groups\"><h2>Traffic by kind of group</h2>\n"
                "<p>Bytes that each kind of group sends within each level, "
                "and the communication time of each kind alone. The last row "
                "is the sum of the times.</p>\n");
    nw_page_wide(text, "Traffic by kind of group");
    nw_text_add(text, "<table><thead><tr><th scope=\"col\">group</th><th "
                      "scope=\"col\" class=\"word\">within</th>");
    for (size_t m = 0; m < input->mapping_count; m++)
        nw_page_element(text, "th scope=\"col\"", "%s", input->mapping[m].name);
    nw_text_add(text, "</tr></thead>\n<tbody>\n");
    for (int g = 0; g < NW_PHASE_COUNT; g++) {
        for (int32_t l = 0; l < phase[g].level_count; l++)
            groups_add_level(text, page, g, l);
        if (phase[g].level_count)
            groups_add_time(text, page, g);
    }
    groups_add_time(text, page, -1);
    nw_text_add(text, "</tbody></table>\n");
    nw_page_wide_end(text);
    nw_text_add(text, "</section>\n");
}
