/* SPDX-License-Identifier: BSD-3-Clause */
/* The heat maps of the report: ranks in the order of where each mapping puts
 * them, on one scale. */
#include "report/page.h"
#include "base/c_locale.h"
#include "report/panel.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_BLOCKS 64
#define PAGE_CELLS 128
#define ALONE_CELLS 64

/* The scale all mappings of a layer share. */
static nw_status find_scale(const struct nw_page *page,
                            const struct nw_page_panel *what, double *low,
                            double *high)
{
    nw_status status = NW_OK;

    *low = *high = 0;
    for (size_t m = 0; !status && m < page->input->mapping_count; m++) {
        struct nw_heat heat;

        status = nw_heat_bin(
            &(struct nw_heat_what){page->input->pattern, what->layer,
                                   nw_page_order(page, m, what->layer)->place,
                                   what->most_cells},
            &heat);
        if (status)
            break;
        if (heat.low > 0 && (*low <= 0 || heat.low < *low))
            *low = heat.low;
        *high = fmax(*high, heat.high);
        nw_heat_fini(&heat);
    }
    return status;
}

static void describe(const struct nw_page_order *order, char *out, size_t size)
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

/* The end of a long name distinguishes it better than its beginning. */
static void shorten(const char *name, char out[MOST_LETTERS + 8])
{
    size_t length = strlen(name);
    const char *from = name;

    if (length > MOST_LETTERS)
        from += length - MOST_LETTERS;
    while (((unsigned char)*from & 0xc0) == 0x80)
        from++; /* not inside a character */
    snprintf(out, MOST_LETTERS + 8, "%s%s", from > name ? "..." : "", from);
}

nw_status nw_page_panel(struct nw_text *text, const struct nw_page *page,
                        const struct nw_page_panel *what)
{
    const struct nw_page_order *order =
        nw_page_order(page, what->mapping, what->layer);
    char name[MOST_LETTERS + 8], title[128], subtitle[128];
    struct nw_panel panel = {
        .heat = {page->input->pattern, what->layer, order->place,
                 what->most_cells},
        .x = what->x,
        .y = what->y,
        .title = title,
        .subtitle = subtitle,
        .block = order->block,
        .block_count =
            order->block_count < MOST_BLOCKS ? order->block_count : 0,
    };
    nw_status status = find_scale(page, what, &panel.low, &panel.high);

    if (status)
        return status;
    shorten(page->input->mapping[what->mapping].name, name);
    snprintf(title, sizeof title, "%s: %s", name, nw_layer_name(what->layer));
    describe(order, subtitle, sizeof subtitle);
    return nw_panel_draw(text, &panel);
}

static nw_status add_figure(struct nw_text *text, const struct nw_page *page,
                            size_t mapping, enum nw_layer layer)
{
    const char *name = page->input->mapping[mapping].name;
    char title[160];
    nw_status status;

    snprintf(title, sizeof title, "Traffic of the %s layer under %.*s",
             nw_layer_name(layer), nw_svg_whole(name, 60), name);
    nw_svg_begin(text, &(struct nw_svg_frame){NW_PANEL_WIDTH, NW_PANEL_HEIGHT,
                                              title, false});
    status = nw_page_panel(
        text, page, &(struct nw_page_panel){mapping, layer, 0, 0, PAGE_CELLS});
    nw_svg_end(text);
    return status;
}

nw_status nw_page_maps(struct nw_text *text, const struct nw_page *page)
{
    nw_status status = NW_OK;

    nw_text_add(
        text,
        "<section><h2>Where the traffic lies</h2>\n"
        "<p>Senders go down, receivers across, both in the order of the cores "
        "or GPUs they are placed on; thin lines part the nodes (in a single "
        "node the packages). Dark cells inside the blocks on the diagonal are "
        "traffic that stays inside; what lies outside crosses the network. "
        "The scale is logarithmic and the same for all maps of a layer.</p>\n");
    for (int layer = 0; layer < NW_LAYER_COUNT; layer++) {
        if (!page->used[layer])
            continue;
        nw_text_add(text, "<div class=\"row\">\n");
        for (size_t m = 0; !status && m < page->input->mapping_count; m++)
            status = add_figure(text, page, m, (enum nw_layer)layer);
        nw_text_add(text, "</div>\n");
    }
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
                                              true});
    for (int layer = 0; !status && layer < NW_LAYER_COUNT; layer++) {
        if (!page->used[layer])
            continue;
        for (size_t m = 0; !status && m < n; m++)
            status = nw_page_panel(
                text, page,
                &(struct nw_page_panel){m, (enum nw_layer)layer,
                                        (double)m * NW_PANEL_WIDTH,
                                        row * NW_PANEL_HEIGHT, ALONE_CELLS});
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
    nw_status status = nw_page_init(&page, input);

    for (int layer = 0; layer < NW_LAYER_COUNT; layer++)
        rows += page.used[layer];
    if (!status)
        status = draw_rows(&text, &page, rows ? rows : 1);
    nw_page_fini(&page);
    if (status)
        nw_text_fini(&text);
    else
        status = nw_text_take(&text, out);
    return status;
}
