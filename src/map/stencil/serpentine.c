/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the cells of a grid in order, column by column. The grid is divided
 * evenly into columns across all dimensions but one; the order goes upwards in
 * one column and downwards in the next. The order is cut into pieces, one for
 * each child of the root. Each piece is nearly a box, whatever its size, since
 * it may continue from the end of one column into the next. */
#include "map/stencil/grid.h"

#include <stdlib.h>
#include <string.h>

/* --- search for the best divisions of the grid into columns --- */

/* A search for the best divisions of the grid into columns. */
struct serpentine_choice {
    const struct nw_stencil *stencil;
    double each;                            /* number of cells in a piece */
    struct nw_stencil_columns trial, *best; /* trial: division being tried;
                                               best: [most] best divisions so
                                               far, best first */
    int count, most; /* count: divisions in best[]; most: how many best[] can
                        hold */
};

/* Inserts the trial into the sorted list of the best divisions if it is good
 * enough. `kept`: bytes inside one of its pieces. */
static void serpentine_note(struct serpentine_choice *choice, double kept)
{
    struct nw_stencil_columns *best = choice->best;
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

/* Computes the bytes inside one piece of the trial and inserts the trial into
 * the list of the best. Skips a trial whose pieces would be shorter than one
 * layer of a column or longer than the column. */
static void serpentine_weigh(struct serpentine_choice *choice)
{
    const struct nw_stencil *stencil = choice->stencil;
    const struct nw_stencil_columns *trial = &choice->trial;
    double shape[NW_STENCIL_DIMS], length = choice->each;

    for (int d = 0; d < stencil->dims; d++)
        if (d != trial->along) {
            shape[d] = (double)stencil->size[d] / trial->count[d];
            length /= shape[d];
        }
    if (length < 1 || length > stencil->size[trial->along])
        return;
    shape[trial->along] = length;
    serpentine_note(choice, nw_stencil_inside_about(stencil, shape));
}

/* Tries all numbers of columns in each of the dimensions d, d + 1, ... */
static void serpentine_try_counts(struct serpentine_choice *choice, int d)
{
    const struct nw_stencil *stencil = choice->stencil;
    int32_t most = d == choice->trial.along ? 1 : stencil->size[d];

    for (int32_t n = 1; n <= most; n++) {
        choice->trial.count[d] = n;
        if (d + 1 < stencil->dims)
            serpentine_try_counts(choice, d + 1);
        else
            serpentine_weigh(choice);
    }
}

int nw_stencil_columns(const struct nw_stencil *stencil, double each, int most,
                       struct nw_stencil_columns *out)
{
    struct serpentine_choice choice = {stencil, each, {0}, out, 0, most};

    for (int along = 0; most > 0 && along < stencil->dims; along++) {
        choice.trial.along = along;
        serpentine_try_counts(&choice, 0);
    }
    return choice.count;
}

/* --- the order of the cells --- */

/* Returns the lowest coordinate, in dimension d, of the column that is number
 * `number` in that dimension. */
static int32_t serpentine_column_begin(const struct nw_stencil *stencil,
                                       const struct nw_stencil_columns *columns,
                                       int d, int32_t number)
{
    return (int32_t)((int64_t)stencil->size[d] * number / columns->count[d]);
}

/* State while the cells are written to the list, column by column. */
struct serpentine_walk {
    const struct nw_stencil *stencil;
    int slowest; /* dimension along which columns run */
    bool down;   /* the present column is followed downwards */
    /* range of the present column in the other dimensions: low .. high - 1 */
    int32_t low[NW_STENCIL_DIMS], high[NW_STENCIL_DIMS];
    int32_t *cell; /* element of the output to write next */
};

/* Writes the cells of one layer of the present column, by recursion over the
 * dimensions from d on. `process`: sum of coordinate x stride over the
 * dimensions before d and the dimension along the column. */
static void serpentine_walk_layer(struct serpentine_walk *walk, int d,
                                  int32_t process)
{
    if (d == walk->stencil->dims) {
        *walk->cell++ = process;
        return;
    }
    if (d == walk->slowest) {
        serpentine_walk_layer(walk, d + 1, process);
        return;
    }
    for (int32_t x = walk->low[d]; x < walk->high[d]; x++)
        serpentine_walk_layer(walk, d + 1,
                              process + x * walk->stencil->stride[d]);
}

/* Writes the cells of the present column, layer by layer, and reverses the
 * direction for the next column. */
static void serpentine_walk_column(struct serpentine_walk *walk)
{
    int32_t size = walk->stencil->size[walk->slowest];

    for (int32_t i = 0; i < size; i++) {
        int32_t x = walk->down ? size - 1 - i : i;

        serpentine_walk_layer(walk, 0,
                              x * walk->stencil->stride[walk->slowest]);
    }
    walk->down = !walk->down;
}

/* Columns are taken back and forth in every dimension, so that consecutive
 * columns are adjacent. */
void nw_stencil_follow_columns(const struct nw_stencil *stencil,
                               const struct nw_stencil_columns *columns,
                               int32_t *cell)
{
    struct serpentine_walk walk = {stencil, columns->along, false, {0}, {0},
                                   cell};
    int32_t all = 1;

    for (int d = 0; d < stencil->dims; d++)
        all *= columns->count[d];
    for (int32_t i = 0; i < all; i++) {
        int32_t rest = i;

        for (int d = stencil->dims; d-- > 0;) {
            int32_t count = columns->count[d], at = rest % count;

            rest /= count;
            at = rest % 2 ? count - 1 - at : at;
            walk.low[d] = serpentine_column_begin(stencil, columns, d, at);
            walk.high[d] = serpentine_column_begin(stencil, columns, d, at + 1);
        }
        serpentine_walk_column(&walk);
    }
}
