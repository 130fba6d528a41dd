/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the title, axes and legend around a heat map. */
#include "report/heat_map_panel.h"
#include "report/svg.h"

#include <stdio.h>

static void draw_axes(struct nw_text *text, const struct nw_panel *panel)
{
    const struct nw_heat *heat = panel->heat;
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

/* Writes the labels for both ends of the colour scale. Leaves them unchanged if
 * all cells are zero. */
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

static void draw_words(struct nw_text *text, const struct nw_panel *panel)
{
    double left = panel->x + NW_PANEL_LEFT, top = panel->y + NW_PANEL_TOP;
    const struct nw_heat *heat = panel->heat;
    char low[32] = "none", high[32] = "";

    nw_svg_label(text, (struct nw_svg_label){left, panel->y + 18, "strong"},
                 "%s", panel->title);
    nw_svg_label(text,
                 (struct nw_svg_label){left, panel->y + 34, "small faint"},
                 "%s", panel->subtitle);
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

void nw_panel_draw(struct nw_text *text, const struct nw_panel *panel)
{
    nw_text_add(text, "<g>\n");
    draw_words(text, panel);
    nw_heat_draw(text, panel->heat,
                 &(struct nw_heat_square){
                     panel->x + NW_PANEL_LEFT, panel->y + NW_PANEL_TOP,
                     NW_PANEL_SIDE, panel->block, panel->block_count});
    draw_axes(text, panel);
    nw_text_add(text, "</g>\n");
}

nw_status nw_panel_layer(struct nw_text *text, const struct nw_heat_what *what,
                         double x)
{
    char title[32], subtitle[80], total[32];
    struct nw_heat heat;
    nw_status status = nw_heat_bin(what, &heat);

    if (status)
        return status;
    snprintf(title, sizeof title, "%s layer", nw_layer_name(what->layer));
    nw_format_quantity(heat.total, NW_UNIT_BYTES, total, sizeof total);
    snprintf(subtitle, sizeof subtitle, "%s from rank (down) to rank (across)",
             total);
    nw_panel_draw(
        text, &(struct nw_panel){
                  .heat = &heat, .x = x, .title = title, .subtitle = subtitle});
    nw_heat_fini(&heat);
    return NW_OK;
}
