/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Embeds a grid by digits: the numbers of cells and of slots are split into the
 * same prime factors, and each digit of a cell number becomes a digit of a slot
 * number. These embeddings include the foldings of grids into tori, dragonflies
 * and fat trees, which swaps of nodes do not find, and there are few of them.
 */
#ifndef NW_MAP_CONGESTION_DIGIT_EMBEDDING_H
#define NW_MAP_CONGESTION_DIGIT_EMBEDDING_H

#include "map/congestion/objectives.h"
#include "map/stencil/grid.h"

/* Assigns the ranks by the best digit embedding that a short search finds, even
 * if that assignment is worse than the present one. Sets *found to false and
 * changes nothing in these cases:
 * - the ranks do not form a grid;
 * - the sizes of the grid have other prime factors than the slots;
 * - there is only one host, or the hosts have different numbers of slots;
 * - a slot is free, a rank is fixed or a rank uses a GPU;
 * - the pattern has too many edges, or the budget has ended. */
NW_MUST_CHECK nw_status
nw_slots_embed_digits(struct nw_slots *slots,
                      const struct nw_objectives *objectives, bool *found);

/* Finds the grid that all ranks together form; sets *found to false if they
 * form none. */
NW_MUST_CHECK nw_status nw_slots_find_grid(const struct nw_slots *slots,
                                           struct nw_stencil *stencil,
                                           bool *found);

#endif
