/* SPDX-License-Identifier: BSD-3-Clause */
/* The words around a heat map. */
#include "report/panel.h"
#include "report/svg.h"

#include <stdio.h>

static void draw_axes(struct nw_text *text, const struct nw_panel *panel,
                      const struct nw_heat *heat)
{
    double left = panel->x + NW_PANEL_LEFT, top = panel->y + NW_PANEL_TOP;
    int32_t ticks = heat->ranks < 4 ? heat->ranks : 4;

    for (int32_t i = 0; i < ticks; i++) {
        int32_t place = (int32_t)((int64_t)heat->ranks * i / ticks);
        double at = NW_PANEL_SIDE * ((double)place / heat->bin / heat->cells);

        nw_svg_label(text,
                     (struct nw_svg_label){left + at, top - 6, "small faint"},
                     "%d", place);
        nw_svg_label(
            text,
            (struct nw_svg_label){left - 6, top + at + 9, "small faint end"},
            "%d", place);
    }
}

/* The words at the ends of the scale. */
static void panel_ends(const struct nw_heat *heat, char low[32], char high[32])
{
    char words[30];

    if (!(heat->high > 0))
        return;
    nw_format_quantity(heat->high, NW_UNIT_BYTES, words, sizeof words);
    snprintf(high, 32, "%s%s", heat->difference ? "+" : "", words);
    if (!heat->difference)
        nw_format_quantity(heat->low, NW_UNIT_BYTES, words, sizeof words);
    snprintf(low, 32, "%s%s", heat->difference ? "-" : "",
             heat->difference || heat->low < heat->high ? words : "");
}

static void draw_words(struct nw_text *text, const struct nw_panel *panel,
                       const struct nw_heat *heat)
{
    double left = panel->x + NW_PANEL_LEFT, top = panel->y + NW_PANEL_TOP;
    const char *title = panel->title;
    char low[32] = "none", high[32] = "", total[32];

    nw_svg_label(text, (struct nw_svg_label){left, panel->y + 18, "strong"},
                 "%s%s", title ? title : nw_layer_name(panel->heat.layer),
                 title ? "" : " layer");
    nw_format_quantity(heat->total, NW_UNIT_BYTES, total, sizeof total);
    nw_svg_label(text,
                 (struct nw_svg_label){left, panel->y + 34, "small faint"},
                 "%s%s", panel->subtitle ? panel->subtitle : total,
                 panel->subtitle ? "" : " from rank (down) to rank (across)");
    panel_ends(heat, low, high);
    nw_svg_legend(
        text, &(struct nw_svg_legend){left - 8, top + NW_PANEL_SIDE + 14,
                                      heat->difference ? 'd' : 't', low, high});
    if (heat->bin > 1)
        nw_svg_label(text,
                     (struct nw_svg_label){left, top + NW_PANEL_SIDE + 44,
                                           "small faint"},
                     "a cell is %d x %d ranks", heat->bin, heat->bin);
}

static nw_status panel_subtract(const struct nw_panel *panel,
                                struct nw_heat *heat)
{
    struct nw_heat_what what = panel->heat;
    struct nw_heat before;
    nw_status status;

    what.place = panel->minus;
    status = nw_heat_bin(&what, &before);
    if (status) {
        nw_heat_fini(heat);
        return status;
    }
    nw_heat_subtract(heat, &before);
    nw_heat_fini(&before);
    return NW_OK;
}

nw_status nw_panel_draw(struct nw_text *text, const struct nw_panel *panel)
{
    struct nw_heat heat;
    nw_status status = nw_heat_bin(&panel->heat, &heat);

    if (!status && panel->minus)
        status = panel_subtract(panel, &heat);
    if (status)
        return status;
    if (panel->high > 0) {
        heat.low = panel->low;
        heat.high = panel->high;
    }
    nw_text_add(text, "<g>\n");
    draw_words(text, panel, &heat);
    nw_heat_draw(text, &heat,
                 &(struct nw_heat_square){
                     panel->x + NW_PANEL_LEFT, panel->y + NW_PANEL_TOP,
                     NW_PANEL_SIDE, panel->block, panel->block_count});
    draw_axes(text, panel, &heat);
    nw_text_add(text, "</g>\n");
    nw_heat_fini(&heat);
    return NW_OK;
}
