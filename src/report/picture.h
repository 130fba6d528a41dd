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

/* The picture shows all nodes and switches. */
bool nw_picture_is_whole(const nw_topology *topology);

/* One node of each type instead of all. */
NW_MUST_CHECK nw_status nw_picture_samples(struct nw_text *text,
                                           const struct nw_picture *picture);
/* The machine's name and counts, and a legend of the colours: the scale of
 * congestion, or each kind that the machine has. Ends above NW_PICTURE_TOP. */
#define NW_PICTURE_TOP 76.0
void nw_picture_heading(struct nw_text *text, const struct nw_picture *picture,
                        double width);

/* Letters of the longest of these names, of which some may be NULL. */
#define NW_LETTER_WIDTH 5.8
#define NW_MOST_LETTERS 64
int nw_picture_letters(char *const *names, int32_t count);

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
/* How far the middle of the curve between two devices is pulled to the right
 * and down: aside if one is above the other. */
void nw_node_layout_bend(const struct nw_node_layout *layout,
                         const int32_t end[2], double bend[2]);
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

struct nw_picture_path {
    double width;
    struct nw_text words;
};

/* Congestion of a link in its worse direction, 0 where not asked for. */
double nw_picture_congestion(const struct nw_picture *picture, int32_t link);
/* Opens a tooltip for a link: name, figures, congestion. */
void nw_picture_tip(struct nw_text *text, const struct nw_picture *picture,
                    int32_t link);
/* A link as a line along an SVG path, with a margin so that what it passes over
 * does not hide it. Frees the path. */
void nw_picture_wire(struct nw_text *text, const struct nw_picture *picture,
                     int32_t link, struct nw_picture_path path);

#endif
