/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides the own cells of a piece into the interior, which an application may
 * compute before the ghost cells arrive, and the slabs of the shell. */
#include "halo/exchange/exchange.h"

static struct nw_halo_box interior_own_cells(const struct nw_halo_piece *piece)
{
    struct nw_halo_box box;

    for (int axis = 0; axis < 3; axis++) {
        box.low[axis] = piece->low_ghost[axis];
        box.high[axis] = piece->allocated[axis] - piece->high_ghost[axis];
    }
    return box;
}

/* Returns the box of own cells that can be computed before the ghost cells
 * arrive: on each side, as many layers of own cells are left out as there are
 * ghost layers. The box is empty if the piece is too thin. */
struct nw_halo_box nw_halo_interior(const nw_halo *halo, int32_t piece)
{
    const struct nw_halo_piece *own = nw_halo_piece_of(halo, piece);
    struct nw_halo_box box = interior_own_cells(own);

    for (int axis = 0; axis < 3; axis++) {
        box.low[axis] += own->low_ghost[axis];
        box.high[axis] -= own->high_ghost[axis];
        if (box.high[axis] < box.low[axis])
            box.high[axis] = box.low[axis];
    }
    return box;
}

/* Sets `out` to up to six boxes (slabs) that together contain all own cells
 * outside the interior, and returns their number. Slabs in z come first; each
 * later slab excludes the cells of the earlier ones. */
int32_t nw_halo_shell(const nw_halo *halo, int32_t piece,
                      struct nw_halo_box out[6])
{
    struct nw_halo_box left = interior_own_cells(nw_halo_piece_of(halo, piece));
    struct nw_halo_box inside = nw_halo_interior(halo, piece);
    int32_t count = 0;

    for (int axis = 2; axis >= 0; axis--) {
        struct nw_halo_box low = left, high = left;

        if (inside.low[axis] > left.high[axis])
            inside.low[axis] = inside.high[axis] = left.high[axis];
        low.high[axis] = inside.low[axis];
        high.low[axis] = inside.high[axis];
        if (low.low[axis] < low.high[axis])
            out[count++] = low;
        if (high.low[axis] < high.high[axis])
            out[count++] = high;
        left.low[axis] = inside.low[axis];
        left.high[axis] = inside.high[axis];
    }
    return count;
}
