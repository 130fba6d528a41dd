/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides a grid by a slicing tree into boxes and the remainders of boxes. The
 * busiest part of such a division may send less than with boxes alone, because
 * the inner boxes have less of the grid's boundary.
 */
#ifndef NW_MAP_GROUPS_SLICING_TREE_H
#define NW_MAP_GROUPS_SLICING_TREE_H

#include "map/groups/switch_groups.h"
#include "map/stencil/grid.h"

/* A division of ranks into parts, and what its busiest part sends. */
struct nw_best_division {
    int32_t parts;
    int32_t *part; /* [ranks] */
    double least,
        total; /* bytes of the busiest part and of all, both directions */
};

/* Replaces the division by a better one if a short search finds it. Part p
 * takes as many ranks as there are slots from first[p] to the next part's
 * first. */
NW_MUST_CHECK nw_status nw_slicing_tree(const struct nw_slots *slots,
                                        const struct nw_stencil *stencil,
                                        const int32_t *first,
                                        struct nw_best_division *division);

/* Takes over `part` if it is better: less in the busiest part, then in total.
 */
void nw_best_division_keep(struct nw_best_division *division,
                           const int32_t *part, const double *leaving,
                           int32_t ranks);

#endif
