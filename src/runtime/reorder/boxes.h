/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides a grid into boxes, these into smaller boxes, and so on, one size for
 * each level of the machine. All parts of a level of the machine must be alike,
 * and all get boxes of the same shape. So the vertex of an element, and the
 * element of a vertex, can be computed by a few divisions, and no rank needs an
 * array over all ranks.
 */
#ifndef NW_REORDER_BOXES_H
#define NW_REORDER_BOXES_H

#include "runtime/reorder/grid.h"

#include <nodewise/topology.h>

#define NW_BOX_LEVELS 24
#define NW_BOX_DIMS 8

/* The levels of a machine. A part of level l consists of size[l] consecutive
 * elements. distance[l] is the distance between two elements whose smallest
 * common part is of level l. The parts of level 0 are single elements; the only
 * part of level count - 1 is the whole machine. */
struct nw_levels {
    int count;
    int32_t size[NW_BOX_LEVELS];
    double distance[NW_BOX_LEVELS];
};

/* Finds the levels of the machine. Returns false if the parts of a level differ
 * in size, if there are too many levels, or if the distance of two elements
 * does not depend only on their smallest common part. This last condition is
 * examined only for the first part of each level. Takes time O(elements x
 * levels). */
bool nw_levels_of(const nw_topology *machine, struct nw_levels *out);

/* A grid divided into boxes. Dimensions with one vertex are left out. */
struct nw_boxes {
    struct nw_levels levels;
    int dims;
    int32_t size[NW_BOX_DIMS], stride[NW_BOX_DIMS];
    /* shape of the boxes of each level */
    int32_t shape[NW_BOX_LEVELS][NW_BOX_DIMS];
};

/* Finds the boxes with the least bytes x distance; weight[d] is the bytes
 * between neighbours in dimension d. Returns false if the grid cannot be
 * divided, if there are too many shapes to try, or if memory is exhausted. */
bool nw_boxes_find(const struct nw_levels *levels, const struct nw_cart *cart,
                   const double *weight, struct nw_boxes *out);
/* nw_boxes_vertex returns the vertex on an element; -1 for an element without a
 * vertex. nw_boxes_element returns the element of a vertex. */
int32_t nw_boxes_vertex(const struct nw_boxes *boxes, int32_t element);
int32_t nw_boxes_element(const struct nw_boxes *boxes, int32_t vertex);

#endif
