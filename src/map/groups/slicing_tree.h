/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A grid carved into parts: boxes, what boxes leave, and steps. The
 * fullest part of such a division may send less than that of any division into
 * boxes alone, where those in the middle have less of the grid's rim.
 */
#ifndef NW_MAP_GROUPS_SLICING_TREE_H
#define NW_MAP_GROUPS_SLICING_TREE_H

#include "map/groups/switch_groups.h"
#include "map/stencil/grid.h"

/* A division of ranks into parts, and what its fullest part sends. */
struct nw_best_division {
    int32_t parts;
    int32_t *part;       /* [ranks] */
    double least, total; /* bytes of the fullest and of all, both ways */
};

/* Replaces the division by a better one, where a short search finds it. Part p
 * takes as many ranks as there are seats from first[p] up to the next one's. */
NW_MUST_CHECK nw_status nw_slicing_tree(const struct nw_slots *slots,
                                        const struct nw_stencil *stencil,
                                        const int32_t *first,
                                        struct nw_best_division *division);

/* Takes over what is better: less in the fullest part, then in all. */
void nw_best_division_keep(struct nw_best_division *division,
                           const int32_t *part, const double *leaving,
                           int32_t ranks);

#endif
