/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides a grid into boxes within boxes, for a machine whose parts at each
 * level are all alike. Every part of a level gets a box of the same shape. So
 * the vertex of an element, and the element of a vertex, follow from a few
 * divisions, and no rank needs an array over all ranks.
 */
#ifndef NW_REORDER_BOXES_H
#define NW_REORDER_BOXES_H

#include "runtime/reorder/grid.h"

#include <nodewise/topology.h>

#define NW_BOX_LEVELS 24
#define NW_BOX_DIMS 8

/* The levels of a machine. A part of level l is size[l] consecutive elements.
 * distance[l] is the distance between two elements whose smallest common part
 * is of level l. Level 0 is single elements; level count - 1 is the whole
 * machine. */
struct nw_levels {
    int count;
    int32_t size[NW_BOX_LEVELS];
    double distance[NW_BOX_LEVELS];
};

/* Finds the levels of the machine. Returns false if the parts of a level differ
 * in size, or if distances do not follow from common parts. O(elements). */
bool nw_levels_of(const nw_topology *machine, struct nw_levels *out);

/* A grid divided into boxes. Dimensions with one vertex are left out. */
struct nw_boxes {
    struct nw_levels levels;
    int dims;
    int32_t size[NW_BOX_DIMS], stride[NW_BOX_DIMS];
    int32_t shape[NW_BOX_LEVELS][NW_BOX_DIMS]; /* of the box of each level */
};

/* Finds the boxes with the least bytes x distance. Returns false if the grid
 * cannot be divided, or if there are too many shapes to try. */
bool nw_boxes_find(const struct nw_levels *levels, const struct nw_cart *cart,
                   const double *weight, struct nw_boxes *out);
/* nw_boxes_vertex returns the vertex that an element gets, or -1 if the element
 * gets none. nw_boxes_element returns the element of a vertex. */
int32_t nw_boxes_vertex(const struct nw_boxes *boxes, int32_t element);
int32_t nw_boxes_element(const struct nw_boxes *boxes, int32_t vertex);

#endif
