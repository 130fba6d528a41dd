/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stencil folded onto the machine: the numbers of cells and of seats are
 * taken apart into the same prime digits, and each digit of the one becomes a
 * digit of the other. Foldings of grids into tori, dragonflies and fat trees
 * that no exchange of nodes finds are among these, and they are few.
 */
#ifndef NW_MAP_FOLD_H
#define NW_MAP_FOLD_H

#include "map/aim.h"

/* Seats the ranks by the best folding that a short search finds, better than
 * the seating or not. *found is false, and the seats stay, where the ranks are
 * on no grid, or not all seats are alike and taken by ranks that may move. */
NW_MUST_CHECK nw_status nw_seats_fold(struct nw_seats *seats,
                                      const struct nw_aim *aim, bool *found);

#endif
