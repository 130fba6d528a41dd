/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells one after the other along a snake through the grid, slots filled in
 * that order: where one dimension outweighs the others, lines of it need not
 * end where clusters do. */
#include "map/stencil/grid.h"

#include <stdlib.h>

/* Bytes of the edges along a dimension alone. */
static double boustrophedon_weight_of(const struct nw_stencil *stencil, int d)
{
    double sum = 0;

    for (int i = 0; i < stencil->offsets; i++) {
        bool alone = stencil->offset[i][d] != 0;

        for (int e = 0; e < stencil->dims; e++)
            alone &= e == d || !stencil->offset[i][e];
        sum += alone ? stencil->bytes[i] : 0;
    }
    return sum;
}

/* The dimensions, heaviest first. */
static void boustrophedon_rank_dimensions(const struct nw_stencil *stencil,
                                          int *dim)
{
    for (int d = 0; d < stencil->dims; d++) {
        int at = d;

        for (; at && boustrophedon_weight_of(stencil, dim[at - 1]) <
                         boustrophedon_weight_of(stencil, d);
             at--)
            dim[at] = dim[at - 1];
        dim[at] = d;
    }
}

/* The one of so many of `left` dimensions, which is taken out. */
static int boustrophedon_take_out(int *dim, int left, int at)
{
    int chosen = dim[at];

    for (; at + 1 < left; at++)
        dim[at] = dim[at + 1];
    return chosen;
}

bool nw_stencil_is_isotropic(const struct nw_stencil *stencil)
{
    for (int d = 1; d < stencil->dims; d++)
        if (boustrophedon_weight_of(stencil, d) !=
            boustrophedon_weight_of(stencil, 0))
            return false;
    return true;
}

int nw_stencil_boustrophedon_count(const struct nw_stencil *stencil)
{
    int count = 1;

    for (int d = 2; d <= stencil->dims; d++)
        count *= d;
    return count;
}

void nw_stencil_boustrophedon(const struct nw_stencil *stencil, int number,
                              int32_t count, int32_t *slot)
{
    int left[NW_STENCIL_DIMS], order[NW_STENCIL_DIMS]; /* the fastest first */

    boustrophedon_rank_dimensions(stencil, left);
    for (int d = 0; d < stencil->dims; d++) {
        int choices = stencil->dims - d;

        order[d] = boustrophedon_take_out(left, choices, number % choices);
        number /= choices;
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t rest = i, cell = 0;

        for (int d = 0; d < stencil->dims; d++) {
            int32_t size = stencil->size[order[d]], x = rest % size;

            rest /= size;
            cell += stencil->stride[order[d]] * (rest % 2 ? size - 1 - x : x);
        }
        slot[cell] = i;
    }
}
