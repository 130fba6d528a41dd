/* SPDX-License-Identifier: BSD-3-Clause */
/* The picture of a machine: nodes as nested boxes, the network above them,
 * coloured by what things are or by the congestion of their links. */
#ifndef NW_REPORT_PICTURE_H
#define NW_REPORT_PICTURE_H

#include "base/text.h"
#include "topology/topology.h"

struct nw_picture {
    const nw_topology *topology;
    const double *congestion; /* [2 x links], s; NULL: colours by kind */
    double high;              /* top of the scale; 0: the most there is */
    bool alone;               /* brings its style and background */
    const char *title;
};
NW_MUST_CHECK nw_status nw_picture_draw(struct nw_text *text,
                                        struct nw_picture *picture);

/* One node of each type instead of all. */
NW_MUST_CHECK nw_status nw_picture_samples(struct nw_text *text,
                                           const struct nw_picture *picture);
/* The machine's name, counts and, where coloured by congestion, the scale. */
void nw_picture_heading(struct nw_text *text, const struct nw_picture *picture,
                        double width);

/* --- the inside of a node --- */

/* Where the boxes of a node type are, relative to the node's corner. Vertices
 * that would only frame one thing are left out: width 0. */
struct nw_node_layout {
    double *x, *y, *width, *height;
    int32_t *owner; /* the box a vertex is drawn in, -1 for the node */
    double unit;    /* side of a core */
    bool summary;   /* too many cores to draw: one box */
};
NW_MUST_CHECK nw_status nw_node_layout_new(const struct nw_node_type *type,
                                           double unit,
                                           struct nw_node_layout *layout);
void nw_node_layout_fini(struct nw_node_layout *layout);

/* One layout for each type; free with nw_picture_free_types, after a failure
 * too. */
NW_MUST_CHECK nw_status nw_picture_types(const nw_topology *topology,
                                         double unit,
                                         struct nw_node_layout **out);
void nw_picture_free_types(const nw_topology *topology,
                           struct nw_node_layout *layouts);

struct nw_node_place {
    int32_t node;
    double x, y;
};
void nw_picture_node(struct nw_text *text, const struct nw_picture *picture,
                     const struct nw_node_layout *layout,
                     struct nw_node_place place);

/* Congestion of a link in its worse direction, 0 where not asked for. */
double nw_picture_congestion(const struct nw_picture *picture, int32_t link);
/* Opens a tooltip for a link: name, figures, congestion. */
void nw_picture_tip(struct nw_text *text, const struct nw_picture *picture,
                    int32_t link);

#endif
