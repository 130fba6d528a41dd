/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the heat maps of the report. The ranks of a map are in the order of
 * their GPUs or cores under the mapping. All maps of a layer have the same
 * scale, except differences. */
#include "report/page/page.h"
#include "base/array.h"
#include "base/c_locale.h"
#include "report/heat_map_panel.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 64
#define ALONE_CELLS 64

/* Sets the ends of the scale of `heat` to the lowest and highest values of the
 * cells with traffic in one layer, over all mappings. */
static void find_scale(const struct nw_page *page, enum nw_layer layer,
                       struct nw_heat *heat)
{
    for (size_t m = 0; m < page->input->mapping_count; m++) {
        const struct nw_heat *other = &nw_page_order(page, m, layer)->heat;

        if (other->low > 0 && (heat->low <= 0 || other->low < heat->low))
            heat->low = other->low;
        heat->high = fmax(heat->high, other->high);
    }
}

/* Writes the bytes of a map and, if the ranks are on several nodes (or
 * packages), the share that stays inside them. */
static void heat_maps_describe(const struct nw_page_order *order, char *out,
                               size_t size)
{
    char bytes[32];

    nw_format_quantity(order->bytes, NW_UNIT_BYTES, bytes, sizeof bytes);
    if (order->block_count && order->bytes > 0)
        nw_snprintf(out, size, "%s, %.0f %% of it inside a %s", bytes,
                    100 * order->inside / order->bytes,
                    order->one_node ? "package" : "node");
    else
        snprintf(out, size, "%s", bytes);
}

#define MOST_LETTERS 36

/* Shortens a long name at its beginning, since the ends of names differ more
 * often. */
static void heat_maps_shorten(const char *name, char out[MOST_LETTERS + 8])
{
    size_t length = strlen(name);
    const char *from = name;

    if (length > MOST_LETTERS)
        from += length - MOST_LETTERS;
    while (((unsigned char)*from & 0xc0) == 0x80)
        from++; /* do not cut a character */
    snprintf(out, MOST_LETTERS + 8, "%s%s", from > name ? "..." : "", from);
}

/* Draws the panel of `heat`: the map of a mapping, or a difference of two maps.
 */
static void maps_draw_panel(struct nw_text *text, const struct nw_page *page,
                            const struct nw_page_panel *what,
                            const struct nw_heat *heat)
{
    const struct nw_page_order *order =
        nw_page_order(page, what->mapping, what->layer);
    char name[MOST_LETTERS + 8], title[128], subtitle[128];

    heat_maps_shorten(page->input->mapping[what->mapping].name, name);
    snprintf(title, sizeof title, "%s: %s",
             what->difference ? "difference" : name,
             nw_layer_name(what->layer));
    heat_maps_describe(order, subtitle, sizeof subtitle);
    nw_panel_draw(
        text,
        &(struct nw_panel){
            .heat = heat,
            .x = what->x,
            .y = what->y,
            .title = title,
            .subtitle = what->difference
                            ? "more (+) or less (-) than under the default"
                            : subtitle,
            .block = order->block,
            .block_count =
                order->block_count < MOST_BLOCKS ? order->block_count : 0,
        });
}

static nw_status maps_panel(struct nw_text *text, const struct nw_page *page,
                            const struct nw_page_panel *what)
{
    struct nw_heat heat = nw_page_order(page, what->mapping, what->layer)->heat;
    struct nw_heat less;
    nw_status status;

    if (!what->difference) {
        find_scale(page, what->layer, &heat);
        maps_draw_panel(text, page, what, &heat);
        return NW_OK;
    }
    status = nw_heat_subtract(&heat, &nw_page_order(page, 0, what->layer)->heat,
                              &less);
    if (status)
        return status;
    maps_draw_panel(text, page, what, &less);
    nw_heat_fini(&less);
    return NW_OK;
}

/* Appends the SVG of a panel with the attributes that the script reads. */
static nw_status maps_draw(struct nw_text *text, const struct nw_page *page,
                           const struct nw_page_panel *panel)
{
    const char *name = page->input->mapping[panel->mapping].name;
    struct nw_text data = {0};
    char title[200];
    nw_status status = nw_page_heat_data(&data, page, panel);

    snprintf(title, sizeof title,
             panel->difference
                 ? "Traffic of the %s layer under %.*s, less that of the "
                   "default"
                 : "Traffic of the %s layer under %.*s",
             nw_layer_name(panel->layer), nw_svg_whole(name, 60), name);
    if (!status) {
        nw_svg_begin(text,
                     &(struct nw_svg_frame){NW_PANEL_WIDTH, NW_PANEL_HEIGHT,
                                            title, false, data.data});
        status = maps_panel(text, page, panel);
        nw_svg_end(text);
    }
    text->failed |= data.failed;
    nw_text_fini(&data);
    return status;
}

static nw_status maps_add_figure(struct nw_text *text,
                                 const struct nw_page *page,
                                 const struct nw_page_panel *panel)
{
    nw_status status;

    nw_text_format(text, "<figure class=\"panel v%zu\">\n",
                   panel->difference ? page->input->mapping_count
                                     : panel->mapping);
    status = maps_draw(text, page, panel);
    nw_text_add(text, "<output class=\"cell\" aria-live=\"polite\"></output>"
                      "</figure>\n");
    return status;
}

/* Appends the maps of one layer under all mappings and, if there are several,
 * the difference between the last one and the first. */
static nw_status maps_add_layer(struct nw_text *text,
                                const struct nw_page *page, enum nw_layer layer)
{
    size_t n = page->input->mapping_count;
    char name[16], label[64];
    const char **title;
    nw_status status = nw_alloc(n + 1, sizeof *title, &title);

    if (status)
        return status;
    for (size_t m = 0; m < n; m++)
        title[m] = page->input->mapping[m].name;
    title[n] = "difference";
    snprintf(name, sizeof name, "heat%d", (int)layer);
    snprintf(label, sizeof label, "Heat maps of the %s layer",
             nw_layer_name(layer));
    nw_page_views(text,
                  &(struct nw_page_views){name, label, title, n > 1 ? n + 1 : n,
                                          n > 1 ? n + 1 : n});
    for (size_t m = 0; !status && m < n; m++)
        status = maps_add_figure(
            text, page, &(struct nw_page_panel){m, layer, 0, 0, false});
    if (!status && n > 1)
        status = maps_add_figure(
            text, page, &(struct nw_page_panel){n - 1, layer, 0, 0, true});
    nw_page_views_end(text);
    free(title);
    return status;
}

nw_status nw_page_maps(struct nw_text *text, const struct nw_page *page)
{
    nw_status status = NW_OK;

    nw_text_add(
        text,
        "<section id=\"traffic\"><h2>Where the traffic lies</h2>\n"
        "<p>Rows are senders and columns are receivers, both in the order of "
        "the cores or GPUs they are placed on. Thin lines separate the nodes "
        "(in a single node the packages). Traffic in the blocks on the "
        "diagonal stays inside a node; all other traffic crosses the network. "
        "The scale is logarithmic and the same for all maps of a layer.</p>\n");
    for (int layer = 0; !status && layer < NW_LAYER_COUNT; layer++)
        if (page->used[layer])
            status = maps_add_layer(text, page, (enum nw_layer)layer);
    nw_text_add(text, "</section>\n");
    return status;
}

static nw_status draw_rows(struct nw_text *text, const struct nw_page *page,
                           int rows)
{
    size_t n = page->input->mapping_count;
    nw_status status = NW_OK;
    int row = 0;

    nw_svg_begin(text, &(struct nw_svg_frame){(double)n * NW_PANEL_WIDTH,
                                              rows * NW_PANEL_HEIGHT,
                                              "Traffic by place, before and "
                                              "after",
                                              true, NULL});
    for (int layer = 0; !status && layer < NW_LAYER_COUNT; layer++) {
        if (!page->used[layer])
            continue;
        for (size_t m = 0; !status && m < n; m++)
            status = maps_panel(
                text, page,
                &(struct nw_page_panel){m, (enum nw_layer)layer,
                                        (double)m * NW_PANEL_WIDTH,
                                        row * NW_PANEL_HEIGHT, false});
        row++;
    }
    nw_svg_end(text);
    return status;
}

nw_status nw_report_before_after_svg(const struct nw_report_input *input,
                                     char **out)
{
    struct nw_text text = {0};
    struct nw_page page;
    int rows = 0;
    nw_status status = nw_page_init(&page, input, ALONE_CELLS);

    for (int layer = 0; layer < NW_LAYER_COUNT; layer++)
        rows += page.used[layer];
    if (!status)
        status = draw_rows(&text, &page, rows ? rows : 1);
    nw_page_fini(&page);
    return nw_text_take_if(status, &text, out);
}
