/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws a pattern: the heat maps of its layers side by side. */
#include <nodewise/report.h>

#include "base/status.h"
#include "report/heat_map.h"
#include "report/heat_map_panel.h"
#include "report/svg.h"

#include <stdio.h>

#define MOST_CELLS 256

nw_status nw_report_pattern_svg(const nw_pattern *pattern, char **out)
{
    struct nw_text text = {0};
    struct nw_svg_frame frame = {.height = NW_PANEL_HEIGHT, .alone = true};
    char title[64];
    int used = 0, drawn = 0;
    nw_status status = NW_OK;

    for (int layer = 0; layer < NW_LAYER_COUNT; layer++)
        used += nw_layer_is_used(pattern, (enum nw_layer)layer);
    snprintf(title, sizeof title, "Traffic between %d rank%s",
             pattern->rank_count, nw_plural((uint64_t)pattern->rank_count));
    frame.title = title;
    frame.width = (used ? used : 1) * NW_PANEL_WIDTH;
    nw_svg_begin(&text, &frame);
    for (int layer = 0; !status && layer < NW_LAYER_COUNT; layer++)
        if (nw_layer_is_used(pattern, (enum nw_layer)layer) ||
            (!used && !layer))
            status = nw_panel_layer(&text,
                                    &(struct nw_heat_what){pattern,
                                                           (enum nw_layer)layer,
                                                           NULL, MOST_CELLS},
                                    drawn++ * NW_PANEL_WIDTH);
    nw_svg_end(&text);
    return nw_text_take_if(status, &text, out);
}
