/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the data from which the page's script describes the cell of a heat map
 * that the reader selects by mouse or keyboard. The data are the rank at each
 * position, and the bytes and lengths of routes of each cell that has traffic.
 * For a difference of two maps, the data name these maps instead. */
#include "base/array.h"
#include "cost/endpoints.h"
#include "report/page/page.h"
#include "report/heat_map_panel.h"
#include "topology/topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Lengths of the shortest and of the longest route that messages of a cell
 * take; high is -1 for a cell without messages. */
struct heat_links {
    /* [cells x cells] lengths in links; if the topology is a distance matrix or
     * a hierarchy, the distances that it gives */
    double *low, *high;
};

/* Includes a route's length in the range of a cell; `first` says that it is the
 * cell's first route. */
static void heat_data_meet(struct heat_links *links, size_t cell,
                           double distance, bool first)
{
    links->low[cell] = first ? distance : fmin(links->low[cell], distance);
    links->high[cell] = first ? distance : fmax(links->high[cell], distance);
}

static nw_status heat_data_measure(const struct nw_page *page,
                                   const struct nw_page_panel *what,
                                   const struct nw_heat *heat,
                                   struct heat_links *links)
{
    const struct nw_report_input *input = page->input;
    const nw_pattern *pattern = input->pattern;
    const int32_t *place =
        nw_page_order(page, what->mapping, what->layer)->place;
    struct nw_endpoints ends = {0};
    nw_status status = nw_endpoints_find(
        input->topology, pattern, input->mapping[what->mapping].mapping, &ends);

    for (int32_t src = 0; !status && src < pattern->rank_count; src++)
        for (size_t e = pattern->row[src]; e < pattern->row[src + 1]; e++) {
            size_t cell = (size_t)(place[src] / heat->bin) * heat->cells +
                          (size_t)(place[pattern->dst[e]] / heat->bin);
            struct nw_end end[2];

            if (nw_layer_of((enum nw_kind)pattern->kind[e]) != what->layer)
                continue;
            status = nw_endpoints_of_edge(&ends, pattern, src, e, end);
            if (status)
                break;
            heat_data_meet(
                links, cell,
                nw_topology_distance(input->topology, end[0], end[1]),
                links->high[cell] < 0);
        }
    nw_endpoints_fini(&ends);
    return status;
}

static nw_status heat_data_links(const struct nw_page *page,
                                 const struct nw_page_panel *what,
                                 const struct nw_heat *heat,
                                 struct heat_links *links)
{
    size_t count = (size_t)heat->cells * heat->cells;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(count, links->low), NW_ARRAY(count, links->high));

    for (size_t i = 0; !status && i < count; i++)
        links->high[i] = -1;
    return status ? status : heat_data_measure(page, what, heat, links);
}

/* Appends "row column bytes low high;" for each cell that has traffic. */
static void heat_data_cells(struct nw_text *text, const struct nw_heat *heat,
                            const struct heat_links *links)
{
    nw_text_add(text, "data-cells=\"");
    for (int32_t row = 0; row < heat->cells; row++)
        for (int32_t column = 0; column < heat->cells; column++) {
            size_t cell = (size_t)row * heat->cells + (size_t)column;

            if (heat->bytes[cell] > 0)
                nw_text_format(text, "%d %d %.4g %g %g;", row, column,
                               heat->bytes[cell], links->low[cell],
                               links->high[cell]);
        }
    nw_text_add(text, "\" ");
}

/* Appends the rank at each position of the sorted order. */
static nw_status heat_data_order(struct nw_text *text,
                                 const struct nw_page_order *order,
                                 int32_t ranks)
{
    int32_t *rank;
    nw_status status = nw_alloc((size_t)ranks, sizeof *rank, &rank);

    if (status)
        return status;
    for (int32_t r = 0; r < ranks; r++)
        rank[order->place[r]] = r;
    nw_text_add(text, "data-ranks=\"");
    for (int32_t i = 0; i < ranks; i++) {
        nw_text_add(text, i ? " " : "");
        nw_text_add_number(text, rank[i]);
    }
    nw_text_add(text, "\" ");
    free(rank);
    return NW_OK;
}

static void heat_data_square(struct nw_text *text, const char *id,
                             const struct nw_heat *heat)
{
    nw_text_format(text,
                   "id=\"%s\" data-heat=\"%g %g %g\" data-count=\"%d\" "
                   "data-bin=\"%d\" ",
                   id, NW_PANEL_LEFT, NW_PANEL_TOP, NW_PANEL_SIDE, heat->cells,
                   heat->bin);
}

nw_status nw_page_heat_data(struct nw_text *text, const struct nw_page *page,
                            const struct nw_page_panel *what)
{
    const struct nw_page_order *order =
        nw_page_order(page, what->mapping, what->layer);
    const nw_topology *topology = page->input->topology;
    struct heat_links links = {0};
    const struct nw_heat *heat = &order->heat;
    nw_status status = NW_OK;
    char id[48];

    snprintf(id, sizeof id, "map%d-%zu%s", (int)what->layer, what->mapping,
             what->difference ? "-less" : "");
    heat_data_square(text, id, heat);
    if (what->difference)
        nw_text_format(text,
                       "data-before=\"map%d-0\" data-after=\"map%d-%zu\" ",
                       (int)what->layer, (int)what->layer, what->mapping);
    else
        status = heat_data_links(page, what, heat, &links);
    if (!status && !what->difference) {
        nw_text_format(text, "data-unit=\"%s\" ",
                       topology->matrix || topology->depth_distance ? "distance"
                                                                    : "link");
        heat_data_cells(text, heat, &links);
        if (heat->ranks <= NW_PAGE_MOST_RANKS)
            status = heat_data_order(text, order, heat->ranks);
    }
    free(links.low);
    free(links.high);
    return status;
}
