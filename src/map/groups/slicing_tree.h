/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides a grid of ranks by a slicing tree, whose inner nodes bisect their
 * cells. A part of the division is a box, or the cells that remain of a larger
 * box after a smaller box is cut out. If all parts were boxes, the boxes inside
 * the grid would exchange the most bytes, because all of their sides face other
 * parts. With remainders, the largest number of bytes that a part exchanges can
 * be smaller.
 */
#ifndef NW_MAP_GROUPS_SLICING_TREE_H
#define NW_MAP_GROUPS_SLICING_TREE_H

#include "map/groups/division.h"
#include "map/stencil/grid.h"

/* Replaces the division of the ranks by a better one if a short search finds
 * it. Part p takes at most as many ranks as it has slots: first[p + 1] -
 * first[p]. The loads are the bytes that each part exchanges with others. */
NW_MUST_CHECK nw_status nw_slicing_tree(const struct nw_slots *slots,
                                        const struct nw_stencil *stencil,
                                        const int32_t *first,
                                        struct nw_best_division *division);

/* Returns true if all parts have the same number of slots and no slot stays
 * free. `first` is that of nw_slicing_tree; first[0] is 0. */
bool nw_slicing_tree_is_even(const struct nw_slots *slots, const int32_t *first,
                             int32_t parts);

#endif
