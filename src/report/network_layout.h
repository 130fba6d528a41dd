/* SPDX-License-Identifier: BSD-3-Clause */
/* Positions of switches and nodes in the picture of a machine. */
#ifndef NW_REPORT_NETWORK_LAYOUT_H
#define NW_REPORT_NETWORK_LAYOUT_H

#include "report/picture.h"

/* The layout of nodes and switches. Each node is placed below the switch of its
 * first NIC, in a block with the other nodes of this switch; without a network,
 * all nodes form one block. Switches form levels above the nodes. In a tree, a
 * switch is above all of its children; otherwise its level is its distance in
 * links from the nearest switch that has nodes, or 0 if no path leads to one.
 */
struct nw_network_layout {
    /* size of the area that each node gets, with its margins and name */
    double node_width, node_height;
    /* [nodes] upper left corner of the area; the caller moves node_x to the
     * node's box */
    double *node_x, *node_y;
    double *node_box; /* [nodes] width of the node's box; the caller sets it */
    double *switch_x, *switch_y; /* [switches] centre of each switch */
    double switch_width;
    double level_height; /* distance between levels */
    double line_room;    /* smallest distance of two lines at the edge of a
                            switch */
    int32_t *level;      /* [switches] 0: the level nearest the nodes */
    int32_t level_count;
    double node_top; /* top of the first row of nodes */
    double width, height;
};
#define NW_SWITCH_HEIGHT 20.0

NW_MUST_CHECK nw_status nw_network_layout_new(const nw_topology *topology,
                                              double node_width,
                                              double node_height,
                                              struct nw_network_layout *layout);
/* Returns by how much the control points of the curve between two switches of
 * the same level lie above the switches. The curve itself rises to 3/4 of this.
 */
double nw_network_layout_arc(const struct nw_network_layout *layout, int32_t a,
                             int32_t b);
/* Returns the x coordinate at which link `link` meets switch `s`. All links of
 * a switch have separate positions along its upper or lower edge, sorted by
 * their other ends. */
double nw_network_layout_place(const struct nw_network *network,
                               const struct nw_network_layout *layout,
                               int32_t link, int32_t s);
void nw_network_layout_fini(struct nw_network_layout *layout);

#endif
