/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws a heat map with its title, axes and legend. */
#ifndef NW_REPORT_HEAT_MAP_PANEL_H
#define NW_REPORT_HEAT_MAP_PANEL_H

#include "report/heat_map.h"

#define NW_PANEL_WIDTH 420
#define NW_PANEL_HEIGHT 470
/* Position (left, top) and side of the square of cells in the panel. */
#define NW_PANEL_LEFT 52.0
#define NW_PANEL_TOP 56.0
#define NW_PANEL_SIDE 340.0

struct nw_panel {
    const struct nw_heat *heat;
    double x, y; /* upper left corner */
    const char *title, *subtitle;
    const int32_t *block; /* positions of ranks at which a node (or package)
                             begins; lines are drawn there */
    int32_t block_count;
};

void nw_panel_draw(struct nw_text *text, const struct nw_panel *panel);
/* Sums one layer and draws it as a panel at (x, 0). The title is the layer's
 * name, the subtitle has its total bytes. */
NW_MUST_CHECK nw_status nw_panel_layer(struct nw_text *text,
                                       const struct nw_heat_what *what,
                                       double x);

#endif
