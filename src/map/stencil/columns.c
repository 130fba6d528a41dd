/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells one after the other through columns: the grid is divided across all
 * dimensions but one, evenly, and one column followed up, the next one down.
 * What is cut off that row in pieces may reach round from one column into the
 * next, and so is nearly a box whatever the sizes. */
#include "map/stencil/grid.h"

#include <stdlib.h>
#include <string.h>

/* --- which --- */

struct columns_choice {
    const struct nw_tiling *tiling;
    double each; /* cells of a piece */
    struct nw_tile_columns trial, *best;
    int count, most;
};

/* Keeps the best in order. */
static void note(struct columns_choice *choice, double kept)
{
    struct nw_tile_columns *best = choice->best;
    int at = choice->count;

    if (at == choice->most && kept <= best[at - 1].kept)
        return;
    if (at == choice->most)
        at--;
    else
        choice->count++;
    for (; at && best[at - 1].kept < kept; at--)
        best[at] = best[at - 1];
    best[at] = choice->trial;
    best[at].kept = kept;
}

static void weigh(struct columns_choice *choice)
{
    const struct nw_tiling *tiling = choice->tiling;
    const struct nw_tile_columns *trial = &choice->trial;
    double shape[NW_TILE_DIMS], length = choice->each;

    for (int d = 0; d < tiling->dims; d++)
        if (d != trial->along) {
            shape[d] = (double)tiling->size[d] / trial->count[d];
            length /= shape[d];
        }
    if (length < 1 || length > tiling->size[trial->along])
        return;
    shape[trial->along] = length;
    note(choice, nw_tiling_inside_about(tiling, shape));
}

static void try_counts(struct columns_choice *choice, int d)
{
    const struct nw_tiling *tiling = choice->tiling;
    int32_t most = d == choice->trial.along ? 1 : tiling->size[d];

    for (int32_t n = 1; n <= most; n++) {
        choice->trial.count[d] = n;
        if (d + 1 < tiling->dims)
            try_counts(choice, d + 1);
        else
            weigh(choice);
    }
}

int nw_tiling_columns(const struct nw_tiling *tiling, double each, int most,
                      struct nw_tile_columns *out)
{
    struct columns_choice choice = {tiling, each, {0}, out, 0, most};

    for (int along = 0; most > 0 && along < tiling->dims; along++) {
        choice.trial.along = along;
        try_counts(&choice, 0);
    }
    return choice.count;
}

/* --- their cells in order --- */

/* Dimension d of the columns begins here. */
static int32_t column_begin(const struct nw_tiling *tiling,
                            const struct nw_tile_columns *columns, int d,
                            int32_t number)
{
    return (int32_t)((int64_t)tiling->size[d] * number / columns->count[d]);
}

/* A box, a cell at a time; `down` follows the slowest dimension back. */
struct walk {
    const struct nw_tiling *tiling;
    int slowest;
    bool down;
    int32_t low[NW_TILE_DIMS], high[NW_TILE_DIMS];
    int32_t *cell;
};

static void walk_layer(struct walk *walk, int d, int32_t process)
{
    if (d == walk->tiling->dims) {
        *walk->cell++ = process;
        return;
    }
    if (d == walk->slowest) {
        walk_layer(walk, d + 1, process);
        return;
    }
    for (int32_t x = walk->low[d]; x < walk->high[d]; x++)
        walk_layer(walk, d + 1, process + x * walk->tiling->stride[d]);
}

static void walk_column(struct walk *walk)
{
    int32_t size = walk->tiling->size[walk->slowest];

    for (int32_t i = 0; i < size; i++) {
        int32_t x = walk->down ? size - 1 - i : i;

        walk_layer(walk, 0, x * walk->tiling->stride[walk->slowest]);
    }
    walk->down = !walk->down;
}

/* Column after column, each beside the last. */
void nw_tiling_follow(const struct nw_tiling *tiling,
                      const struct nw_tile_columns *columns, int32_t *cell)
{
    struct walk walk = {tiling, columns->along, false, {0}, {0}, cell};
    int32_t all = 1;

    for (int d = 0; d < tiling->dims; d++)
        all *= columns->count[d];
    for (int32_t i = 0; i < all; i++) {
        int32_t rest = i;

        for (int d = tiling->dims; d-- > 0;) {
            int32_t count = columns->count[d], at = rest % count;

            rest /= count;
            at = rest % 2 ? count - 1 - at : at;
            walk.low[d] = column_begin(tiling, columns, d, at);
            walk.high[d] = column_begin(tiling, columns, d, at + 1);
        }
        walk_column(&walk);
    }
}
