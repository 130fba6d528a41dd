/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a table of the node, cores, GPU and NIC of each rank, up to RANKS_ROWS
 * ranks. The page's script adds a search. */
#include "base/text.h"
#include "report/page/page.h"
#include "report/svg.h"
#include "report/topology_words.h"

#include <nodewise/launch.h>

#include <stdio.h>

#define RANKS_ROWS 4096

/* The optional columns of the table that the mapping fills. */
struct ranks_columns {
    bool gpu, nic;
};

static struct ranks_columns ranks_columns_of(const nw_mapping *mapping)
{
    struct ranks_columns columns = {false, false};

    for (int32_t r = 0; r < mapping->rank_count; r++) {
        struct nw_ints gpus = nw_mapping_gpus(mapping, r);

        columns.gpu |= gpus.count && gpus.values[0] >= 0;
        columns.nic |= mapping->nic && mapping->nic[r] >= 0;
    }
    return columns;
}

/* Appends a cell with a set such as "0-3", or "-" if the set is empty or
 * open. */
static void ranks_add_set(struct nw_text *text, struct nw_ints set)
{
    nw_text_add(text, "<td>");
    if (set.count && set.values[0] >= 0)
        nw_words_ranges(text, set.values, set.count);
    else
        nw_text_add(text, "-");
    nw_text_add(text, "</td>");
}

static void ranks_add_gpus(struct nw_text *text, const nw_mapping *mapping,
                           int32_t r)
{
    struct nw_ints gpus = nw_mapping_gpus(mapping, r);

    if (gpus.count && gpus.values[0] >= 0 && nw_launch_has_far_gpu(mapping, r))
        nw_page_element(text, "td", "%s:%d",
                        mapping->node_name[mapping->gpu_node[r]],
                        gpus.values[0]);
    else
        ranks_add_set(text, gpus);
}

static void ranks_add_nic(struct nw_text *text, const struct nw_page *page,
                          const nw_mapping *mapping, int32_t r)
{
    const char *name = NULL;

    if (!mapping->nic || mapping->nic[r] < 0) {
        nw_text_add(text, "<td>-</td>");
        return;
    }
    name = nw_topology_nic_info(page->input->topology, mapping->node[r],
                                mapping->nic[r])
               .name;
    if (name)
        nw_page_element(text, "td", "%s", name);
    else
        nw_page_element(text, "td", "%d", mapping->nic[r]);
}

static void ranks_add_row(struct nw_text *text, const struct nw_page *page,
                          const struct ranks_columns *columns, int32_t r)
{
    size_t last = page->input->mapping_count - 1;
    const nw_mapping *mapping = page->input->mapping[last].mapping;
    const nw_mapping *before = page->input->mapping[0].mapping;

    nw_text_format(text, "<tr><th scope=\"row\">%d</th>", r);
    nw_page_element(text, "td", "%s", mapping->node_name[mapping->node[r]]);
    ranks_add_set(text, nw_mapping_cores(mapping, r));
    if (columns->gpu)
        ranks_add_gpus(text, mapping, r);
    if (columns->nic)
        ranks_add_nic(text, page, mapping, r);
    if (last) {
        nw_page_element(text, "td", "%s", before->node_name[before->node[r]]);
        ranks_add_set(text, nw_mapping_cores(before, r));
    }
    nw_text_add(text, "</tr>\n");
}

static void ranks_add_head(struct nw_text *text, const struct nw_page *page,
                           const struct ranks_columns *columns)
{
    static const char *const th = "th scope=\"col\"";

    nw_text_add(text, "<table class=\"sortable\" id=\"rank-table\"><thead>"
                      "<tr>");
    nw_page_element(text, th, "rank");
    nw_page_element(text, th, "node");
    nw_page_element(text, th, "cores");
    if (columns->gpu)
        nw_page_element(text, th, "GPU");
    if (columns->nic)
        nw_page_element(text, th, "NIC");
    if (page->input->mapping_count > 1) {
        nw_page_element(text, th, "default node");
        nw_page_element(text, th, "default cores");
    }
    nw_text_add(text, "</tr></thead>\n<tbody>\n");
}

nw_status nw_page_ranks(struct nw_text *text, const struct nw_page *page)
{
    size_t last = page->input->mapping_count - 1;
    const nw_mapping *mapping = page->input->mapping[last].mapping;
    struct ranks_columns columns = ranks_columns_of(mapping);

    nw_text_add(text, "<section id=\"ranks\"><h2>Where each rank is</h2>\n");
    nw_page_element(text, "p", "Under %s%s.", page->input->mapping[last].name,
                    last ? ", with the default beside it" : "");
    if (mapping->rank_count > RANKS_ROWS)
        nw_text_format(text, "<p>The first %d of %d ranks.</p>\n", RANKS_ROWS,
                       mapping->rank_count);
    nw_text_add(text,
                "<p class=\"search\" hidden=\"hidden\"><label for=\"search\">"
                "Search a rank or a node</label> <input type=\"search\" "
                "id=\"search\"/> <output id=\"found\" aria-live=\"polite\">"
                "</output></p>\n<div class=\"wide tall\" role=\"region\" "
                "aria-label=\"Ranks\" tabindex=\"0\">\n");
    ranks_add_head(text, page, &columns);
    for (int32_t r = 0; r < mapping->rank_count && r < RANKS_ROWS; r++)
        ranks_add_row(text, page, &columns, r);
    nw_text_add(text, "</tbody></table>\n");
    nw_page_wide_end(text);
    return NW_OK;
}
