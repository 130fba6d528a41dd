/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws a machine: nodes as nested boxes, with the network above them. Colours
 * show the kinds of parts, or the congestion of links. */
#ifndef NW_REPORT_PICTURE_H
#define NW_REPORT_PICTURE_H

#include "base/text.h"
#include "topology/topology.h"

struct nw_picture {
    const nw_topology *topology;
    const double *congestion; /* [2 * links] congestion of each direction of
                                 each link in s; NULL: colour parts by kind */
    double high;              /* congestion in s at the top of the colour
                                 scale; 0: the highest that occurs */
    bool alone;               /* the picture is a file of its own, with style
                                 sheet and background */
    const char *title;
};
NW_MUST_CHECK nw_status nw_picture_draw(struct nw_text *text,
                                        struct nw_picture *picture);

/* Returns true if the picture shows all nodes and switches, since they are
 * few. */
bool nw_picture_is_whole(const nw_topology *topology);

/* Draws one node of each type, for machines that are too large to draw all
 * nodes. */
NW_MUST_CHECK nw_status nw_picture_samples(struct nw_text *text,
                                           const struct nw_picture *picture);
/* Draws the second level of NVLink domains, if there is one, below a picture of
 * the given width that ends at y: the domains, the upper domains, and the
 * uplinks between them. For many domains, draws only those of one upper
 * domain. */
void nw_picture_uplinks(struct nw_text *text, const struct nw_picture *picture,
                        double width, double y);
/* Returns the height that nw_picture_uplinks needs; 0 without a second level.
 */
double nw_picture_uplinks_height(const nw_topology *topology);
/* Draws the machine's name, its counts, and a legend: the scale of congestion,
 * if there is any, or the colour of each kind of part. The heading ends above
 * NW_PICTURE_TOP. */
#define NW_PICTURE_TOP 76.0
void nw_picture_heading(struct nw_text *text, const struct nw_picture *picture,
                        double width);

/* Returns the length of the longest name in bytes, but at most NW_MOST_LETTERS.
 * names[i] may be NULL. NW_LETTER_WIDTH is the width of a character in a
 * picture. */
#define NW_LETTER_WIDTH 5.8
#define NW_MOST_LETTERS 64
int nw_picture_letters(char *const *names, int32_t count);

/* --- the inside of a node --- */

/* Positions of the boxes of a node type, relative to the node's upper left
 * corner. Parts without a box have width 0: caches, for example, and parts
 * whose box would contain only one other box. */
struct nw_node_layout {
    double *x, *y, *width, *height;
    /* [vertices] vertex whose box contains this one; 0: the node; -1: this is
     * the node */
    int32_t *owner;
    double unit;  /* side of a core's box */
    bool summary; /* too many cores and GPUs to draw: show one box */
};
NW_MUST_CHECK nw_status nw_node_layout_new(const struct nw_node_type *type,
                                           double unit,
                                           struct nw_node_layout *layout);
/* Sets bend[] to the distances by which the control points of the curve between
 * two devices are moved to the right and down. If one device is above the
 * other, the curve bends to the right, else down. */
void nw_node_layout_bend(const struct nw_node_layout *layout,
                         const int32_t end[2], double bend[2]);
void nw_node_layout_fini(struct nw_node_layout *layout);

/* Creates a layout for each node type. Free the array with
 * nw_picture_free_types, even after a failure. */
NW_MUST_CHECK nw_status nw_picture_types(const nw_topology *topology,
                                         double unit,
                                         struct nw_node_layout **out);
void nw_picture_free_types(const nw_topology *topology,
                           struct nw_node_layout *layouts);

/* A node and the position of its upper left corner. */
struct nw_node_place {
    int32_t node;
    double x, y;
};
/* Draws one node. */
void nw_picture_node(struct nw_text *text, const struct nw_picture *picture,
                     const struct nw_node_layout *layout,
                     struct nw_node_place place);

/* An SVG path, as the text of the attribute d, and the width of its line. */
struct nw_picture_path {
    double width;
    struct nw_text words;
};

/* Returns the congestion of a link, in s, in the direction that has more; 0 if
 * the picture shows no congestion. */
double nw_picture_congestion(const struct nw_picture *picture, int32_t link);
/* Draws a link along an SVG path. A margin keeps the line visible where it
 * crosses other lines. Frees the path's text. */
void nw_picture_wire(struct nw_text *text, const struct nw_picture *picture,
                     int32_t link, struct nw_picture_path path);

#endif
