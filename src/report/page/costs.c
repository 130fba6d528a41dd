/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the figures of the report: the main gains, then all costs side by
 * side, then bytes by level. */
#include "report/page/page.h"
#include "base/c_locale.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One column of the cost table. value() returns the figure of a mapping; a
 * negative one is unknown. */
struct figure {
    const char *title, *what;
    double (*value)(const struct nw_page *page, size_t mapping);
    enum nw_unit unit;
    bool of_layer; /* the figure of one layer, shown only if there are
                      several */
};

static double hop_bytes(const struct nw_page *page, size_t m)
{
    return page->cost[m].hop_bytes.value;
}

static double host_hop_bytes(const struct nw_page *page, size_t m)
{
    return page->cost[m].host_hop_bytes.value;
}

static double gpu_hop_bytes(const struct nw_page *page, size_t m)
{
    return page->cost[m].gpu_hop_bytes.value;
}

static double costs_congestion(const struct nw_page *page, size_t m)
{
    return page->cost[m].has_congestion ? page->cost[m].max_congestion : -1;
}

static double congestion_host(const struct nw_page *page, size_t m)
{
    return page->cost[m].has_congestion ? page->cost[m].max_congestion_host
                                        : -1;
}

static double congestion_gpu(const struct nw_page *page, size_t m)
{
    return page->cost[m].has_congestion ? page->cost[m].max_congestion_gpu : -1;
}

static double costs_latency(const struct nw_page *page, size_t m)
{
    return page->cost[m].latency;
}

static double costs_simulated(const struct nw_page *page, size_t m)
{
    return page->input->mapping[m].seconds;
}

/* Returns the bytes between nodes, or between packages if the machine is a
 * single node. */
static double costs_crossing(const struct nw_page *page, size_t m)
{
    double bytes = 0;

    for (int layer = 0; layer < NW_LAYER_COUNT; layer++) {
        const struct nw_page_order *order =
            nw_page_order(page, m, (enum nw_layer)layer);

        bytes += order->bytes - order->inside;
    }
    return bytes;
}

static const struct figure figures[] = {
    {"max congestion", "the busiest link, all layers", costs_congestion,
     NW_UNIT_TIME, false},
    {"congestion, host", "max congestion of the host layer", congestion_host,
     NW_UNIT_TIME, true},
    {"congestion, GPU", "max congestion of the GPU layer", congestion_gpu,
     NW_UNIT_TIME, true},
    {"hop-bytes", "bytes times distance", hop_bytes, NW_UNIT_BYTES, false},
    {"hop-bytes, host", "hop-bytes of the host layer", host_hop_bytes,
     NW_UNIT_BYTES, true},
    {"hop-bytes, GPU", "hop-bytes of the GPU layer", gpu_hop_bytes,
     NW_UNIT_BYTES, true},
    {"bytes that leave", "a node; in a single node, a package", costs_crossing,
     NW_UNIT_BYTES, false},
    {"latency", "messages times route latency", costs_latency, NW_UNIT_TIME,
     false},
    {"simulated", "time of one exchange", costs_simulated, NW_UNIT_TIME, false},
};
#define FIGURE_COUNT (sizeof figures / sizeof *figures)

static const char *format_figure(const struct figure *figure, double value,
                                 char out[32])
{
    if (value < 0)
        snprintf(out, 32, "-");
    else
        nw_format_quantity(value, figure->unit, out, 32);
    return out;
}

static bool costs_has_layers(const struct nw_page *page)
{
    int used = 0;

    for (int layer = 0; layer < NW_LAYER_COUNT; layer++)
        used += page->used[layer];
    return used > 1;
}

/* Returns true if the column is shown: the value of one of the mappings is
 * above 0, and a figure of one layer has other layers beside it. */
static bool is_known(const struct nw_page *page, const struct figure *figure)
{
    if (figure->of_layer && !costs_has_layers(page))
        return false;
    for (size_t m = 0; m < page->input->mapping_count; m++)
        if (figure->value(page, m) > 0)
            return true;
    return false;
}

/* Appends the change in percent, such as "-42.0 %", or "=" if it is smaller
 * than 0.05 %. Appends nothing if a value is unknown or `before` is 0. */
static void add_change(struct nw_text *text, double before, double after)
{
    double percent;

    if (before <= 0 || after < 0)
        return;
    percent = 100 * (after / before - 1);
    if (fabs(percent) < 0.05)
        nw_text_add(text, "<small>=</small>");
    else
        nw_text_format(text, "<small class=\"%s\">%+.1f %%</small>",
                       percent < 0 ? "good" : "bad", percent);
}

static void add_row(struct nw_text *text, const struct nw_page *page, size_t m)
{
    char words[32];

    nw_text_add(text, "<tr>");
    nw_page_element(text, "th scope=\"row\"", "%s",
                    page->input->mapping[m].name);
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        const struct figure *figure = &figures[i];
        double value = figure->value(page, m), before = figure->value(page, 0);

        if (!is_known(page, figure))
            continue;
        nw_text_add(text, "<td>");
        nw_svg_words(text, format_figure(figure, value, words));
        if (m)
            add_change(text, before, value);
        if (before > 0 && value >= 0)
            nw_text_format(
                text,
                "<span class=\"bar\"><i style=\"width:%.1f%%\"></i></span>",
                100 * fmin(1, value / before));
        nw_text_add(text, "</td>");
    }
    nw_text_add(text, "</tr>\n");
}

void nw_page_costs(struct nw_text *text, const struct nw_page *page)
{
    nw_text_add(text, "<section id=\"costs\"><h2>Costs</h2>\n");
    nw_page_wide(text, "Costs");
    nw_text_add(text, "<table><thead><tr><th scope=\"col\">mapping</th>");
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        if (is_known(page, &figures[i]))
            nw_text_format(text, "<th scope=\"col\" title=\"%s\">%s</th>",
                           figures[i].what, figures[i].title);
    nw_text_add(text, "</tr></thead>\n<tbody>\n");
    for (size_t m = 0; m < page->input->mapping_count; m++)
        add_row(text, page, m);
    nw_text_add(text, "</tbody></table>\n");
    nw_page_wide_end(text);
    nw_text_add(text, "</section>\n");
}

/* Appends a tile with the change from the first mapping to the last one in
 * percent, or "=" if it is smaller than 0.5 %. Appends nothing if a value is
 * unknown or the first one is 0. */
static void add_tile(struct nw_text *text, const struct nw_page *page,
                     const struct figure *figure)
{
    size_t last = page->input->mapping_count - 1;
    double before = figure->value(page, 0), after = figure->value(page, last);
    char from[32], to[32];

    if (before <= 0 || after < 0)
        return;
    nw_text_add(text, "<div class=\"tile\">");
    if (fabs(after / before - 1) < 0.005)
        nw_page_element(text, "b", "=");
    else
        nw_page_element(text, "b", "%+.0f %%", 100 * (after / before - 1));
    nw_page_element(text, "span", "%s", figure->title);
    nw_page_element(text, "small", "%s to %s",
                    format_figure(figure, before, from),
                    format_figure(figure, after, to));
    nw_text_add(text, "</div>\n");
}

void nw_page_tiles(struct nw_text *text, const struct nw_page *page)
{
    static const size_t shown[] = {0, 3, 6, 8};

    if (page->input->mapping_count < 2)
        return;
    nw_text_add(text, "<div class=\"row tiles\">\n");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        add_tile(text, page, &figures[shown[i]]);
    nw_text_add(text, "</div>\n");
}

static double level_bytes(const struct nw_page *page, size_t m, int32_t level)
{
    const struct nw_cost *cost = &page->cost[m];

    return (double)cost->level_bytes[0][level] +
           (double)cost->level_bytes[1][level];
}

static double levels_bytes(const struct nw_page *page, size_t m)
{
    double bytes = 0;

    for (int32_t level = 0; level < page->cost[m].level_count; level++)
        bytes += level_bytes(page, m, level);
    return bytes;
}

static void costs_add_level(struct nw_text *text, const struct nw_page *page,
                            int32_t level)
{
    double total = 0;
    char words[32];

    for (size_t m = 0; m < page->input->mapping_count; m++)
        total += level_bytes(page, m, level);
    if (total <= 0)
        return;
    nw_text_add(text, "<tr>");
    nw_page_element(text, "th scope=\"row\"", "%s",
                    nw_topology_level_name(page->input->topology, level));
    for (size_t m = 0; m < page->input->mapping_count; m++)
        nw_page_share(text,
                      nw_format_quantity(level_bytes(page, m, level),
                                         NW_UNIT_BYTES, words, sizeof words),
                      level_bytes(page, m, level), levels_bytes(page, m));
    nw_text_add(text, "</tr>\n");
}

void nw_page_levels(struct nw_text *text, const struct nw_page *page)
{
    nw_text_add(text,
                "<section id=\"levels\"><h2>How far the bytes go</h2>\n<p>"
                "Bytes by the smallest part that has both ends, or by the "
                "number of switches between their nodes.</p>\n");
    nw_page_wide(text, "Bytes by level");
    nw_text_add(text, "<table><thead><tr><th scope=\"col\">level</th>");
    for (size_t m = 0; m < page->input->mapping_count; m++)
        nw_page_element(text, "th scope=\"col\"", "%s",
                        page->input->mapping[m].name);
    nw_text_add(text, "</tr></thead>\n<tbody>\n");
    for (int32_t level = 0; level < page->cost[0].level_count; level++)
        costs_add_level(text, page, level);
    nw_text_add(text, "</tbody></table>\n");
    nw_page_wide_end(text);
    nw_text_add(text, "</section>\n");
}
