/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stencil folded onto the machine: the numbers of cells and of seats are
 * taken apart into the same prime digits, and each digit of the one becomes a
 * digit of the other. Foldings of grids into tori, dragonflies and fat trees
 * that no exchange of nodes finds are among these, and they are few.
 */
#ifndef NW_MAP_CONGESTION_DIGIT_EMBEDDING_H
#define NW_MAP_CONGESTION_DIGIT_EMBEDDING_H

#include "map/congestion/objectives.h"
#include "map/stencil/grid.h"

/* Seats the ranks by the best folding that a short search finds, better than
 * the seating or not. *found is false, and the seats stay, where the ranks are
 * on no grid, or not all seats are alike and taken by ranks that may move. */
NW_MUST_CHECK nw_status
nw_slots_embed_digits(struct nw_slots *slots,
                      const struct nw_objectives *objectives, bool *found);

/* The grid that the ranks are on, none left out; *found is false where there is
 * none. */
NW_MUST_CHECK nw_status nw_slots_find_grid(const struct nw_slots *slots,
                                           struct nw_stencil *stencil,
                                           bool *found);

#endif
