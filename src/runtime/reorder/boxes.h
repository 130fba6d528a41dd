/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A grid on a machine whose parts are all alike: boxes within boxes. Every part
 * of a level gets a box of the same shape. So a few divisions give the element
 * of a vertex and the vertex of an element, and no rank needs an array of all
 * others.
 */
#ifndef NW_REORDER_BOXES_H
#define NW_REORDER_BOXES_H

#include "runtime/reorder/grid.h"

#include <nodewise/topology.h>

#define NW_BOX_LEVELS 24
#define NW_BOX_DIMS 8

/* Parts of level l hold size[l] elements that stand in a row; two elements
 * whose smallest common part is of level l are distance[l] apart. Level 0 is
 * single elements, level count - 1 everything. */
struct nw_levels {
    int count;
    int32_t size[NW_BOX_LEVELS];
    double distance[NW_BOX_LEVELS];
};

/* False if the parts of some level differ in size, or distances do not
 * follow from common parts. O(elements). */
bool nw_levels_of(const nw_topology *machine, struct nw_levels *out);

/* Dimensions of one vertex are left out. */
struct nw_boxes {
    struct nw_levels levels;
    int dims;
    int32_t size[NW_BOX_DIMS], stride[NW_BOX_DIMS];
    int32_t shape[NW_BOX_LEVELS][NW_BOX_DIMS]; /* of the box of each level */
};

/* The boxes with least bytes x distance among all such. False if nothing
 * divides, or there would be too many shapes to try. */
bool nw_boxes_find(const struct nw_levels *levels, const struct nw_cart *cart,
                   const double *weight, struct nw_boxes *out);
/* The vertex of an element, -1 where it has none; the element of a vertex. */
int32_t nw_boxes_vertex(const struct nw_boxes *boxes, int32_t element);
int32_t nw_boxes_element(const struct nw_boxes *boxes, int32_t vertex);

#endif
