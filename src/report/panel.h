/* SPDX-License-Identifier: BSD-3-Clause */
/* One heat map with all that a reader needs around it: title, axes, legend. */
#ifndef NW_REPORT_PANEL_H
#define NW_REPORT_PANEL_H

#include "report/heat_map.h"

#define NW_PANEL_WIDTH 420
#define NW_PANEL_HEIGHT 470
#define NW_PANEL_LEFT 52.0 /* of its square of cells */
#define NW_PANEL_TOP 56.0
#define NW_PANEL_SIDE 340.0

struct nw_panel {
    struct nw_heat_what heat;
    double x, y;          /* its upper left corner */
    const char *title;    /* NULL: the layer's name */
    const char *subtitle; /* NULL: its total */
    double low, high;     /* ends of the scale; 0: its own */
    const int32_t *minus; /* shows the difference to the map with this place of
                             each rank; or NULL */
    const int32_t *block; /* as nw_heat_square */
    int32_t block_count;
};

NW_MUST_CHECK nw_status nw_panel_draw(struct nw_text *text,
                                      const struct nw_panel *panel);

#endif
