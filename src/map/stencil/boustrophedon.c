/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells one after the other along a snake through the grid, seats filled in
 * that order: where one dimension outweighs the others, lines of it need not
 * end where clusters do. */
#include "map/stencil/grid.h"

#include <stdlib.h>

/* Bytes of the bonds along a dimension alone. */
static double weight_of(const struct nw_tiling *tiling, int d)
{
    double sum = 0;

    for (int i = 0; i < tiling->steps; i++) {
        bool alone = tiling->step[i][d] != 0;

        for (int e = 0; e < tiling->dims; e++)
            alone &= e == d || !tiling->step[i][e];
        sum += alone ? tiling->bytes[i] : 0;
    }
    return sum;
}

/* The dimensions, heaviest first. */
static void rank_dimensions(const struct nw_tiling *tiling, int *dim)
{
    for (int d = 0; d < tiling->dims; d++) {
        int at = d;

        for (; at && weight_of(tiling, dim[at - 1]) < weight_of(tiling, d);
             at--)
            dim[at] = dim[at - 1];
        dim[at] = d;
    }
}

/* The one of so many of `left` dimensions, which is taken out. */
static int take_out(int *dim, int left, int at)
{
    int chosen = dim[at];

    for (; at + 1 < left; at++)
        dim[at] = dim[at + 1];
    return chosen;
}

bool nw_tiling_is_level(const struct nw_tiling *tiling)
{
    for (int d = 1; d < tiling->dims; d++)
        if (weight_of(tiling, d) != weight_of(tiling, 0))
            return false;
    return true;
}

int nw_tiling_snakes(const struct nw_tiling *tiling)
{
    int count = 1;

    for (int d = 2; d <= tiling->dims; d++)
        count *= d;
    return count;
}

void nw_tiling_snake(const struct nw_tiling *tiling, int number, int32_t count,
                     int32_t *seat)
{
    int left[NW_TILE_DIMS], order[NW_TILE_DIMS]; /* the fastest first */

    rank_dimensions(tiling, left);
    for (int d = 0; d < tiling->dims; d++) {
        int choices = tiling->dims - d;

        order[d] = take_out(left, choices, number % choices);
        number /= choices;
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t rest = i, cell = 0;

        for (int d = 0; d < tiling->dims; d++) {
            int32_t size = tiling->size[order[d]], x = rest % size;

            rest /= size;
            cell += tiling->stride[order[d]] * (rest % 2 ? size - 1 - x : x);
        }
        seat[cell] = i;
    }
}
