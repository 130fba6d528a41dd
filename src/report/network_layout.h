/* SPDX-License-Identifier: BSD-3-Clause */
/* Where switches and nodes go in the picture of a machine. */
#ifndef NW_REPORT_NETWORK_LAYOUT_H
#define NW_REPORT_NETWORK_LAYOUT_H

#include "report/picture.h"

/* Nodes below their first switch, in a block of columns; switches in levels
 * above: in a tree above all switches below them, else by how many links they
 * are from one that has nodes. */
struct nw_network_layout {
    double node_width, node_height; /* of a place, its margins and name in it */
    double *node_x, *node_y;        /* [nodes] upper left corner */
    double *node_box;               /* [nodes] width, for the caller to set */
    double *switch_x, *switch_y;    /* [switches] centre */
    double switch_width;
    double level_height; /* from a level to the next */
    double line_room;    /* between two lines at an edge of a switch */
    int32_t *level;      /* [switches] 0 nearest the nodes */
    int32_t level_count;
    double node_top; /* of the first row of nodes */
    double width, height;
};
#define NW_SWITCH_HEIGHT 20.0

NW_MUST_CHECK nw_status nw_network_layout_new(const nw_topology *topology,
                                              double node_width,
                                              double node_height,
                                              struct nw_network_layout *layout);
/* How far above two switches of one level the line between them is pulled. */
double nw_network_layout_arc(const struct nw_network_layout *layout, int32_t a,
                             int32_t b);
/* Where link `link` of the network leaves switch `s`: each link has a place of
 * its own along the upper or the lower edge, in the order of its other ends. */
double nw_network_layout_place(const struct nw_network *network,
                               const struct nw_network_layout *layout,
                               int32_t link, int32_t s);
void nw_network_layout_fini(struct nw_network_layout *layout);

#endif
