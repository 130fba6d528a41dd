/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second lower bound beside that of least_cut.c, for grids with too many
 * possible rows of heights.
 *
 * A field of heights is a stack of layers, each of which is within the one
 * below it. The marked cells are those in a frame of some rows and columns
 * around the grid, or those inside the frame; at least one part has no more
 * marked cells than the mean. For each number of cells in the frame and each
 * number inside the frame, the least cut of a layer with those numbers is
 * computed exactly. Then the cheapest stack of layers is found in which neither
 * number increases from one layer to the next above. The stack need not satisfy
 * the condition that each layer is within the one below it. The result is
 * therefore a lower bound of the bytes that the part sends.
 */
#include "least_layers.h"
#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_MOST 3
#define COLUMNS_MOST 10
#define WORK_MOST 1e8
#define NEVER 30000

struct stack {
    int height, rows, columns;
    int up, along, across; /* weights of edges upwards, between rows, between
                              columns */
    int cells;
    int frame[2];   /* thickness of the frame in rows and columns, at each
                       end */
    bool inside;    /* whether the cells inside the frame are the marked ones */
    int layer;      /* largest number of cells of a layer */
    int most;       /* number of marked cells that a part may have */
    uint16_t *edge; /* [2^columns][layer + 1][most + 1] least cut up to a
                       cell, by the last cells of each column */
    uint16_t *cut;  /* [layer + 1][most + 1] least cut of a layer, by its
                       unmarked and marked cells */
    uint16_t *least; /* [layer + 1][most + 1][cells + 1][most + 1] least cut
                        of a stack, by the unmarked and the marked cells of
                        its last layer, then by those of the whole stack */
    uint16_t *next;
};

static void lower(uint16_t *value, int other)
{
    if (other < *value)
        *value = (uint16_t)other;
}

static void fill(uint16_t *table, size_t count)
{
    for (size_t i = 0; i < count; i++)
        table[i] = NEVER;
}

/* --- one layer --- */

static bool is_counted(const struct stack *stack, int row, int column)
{
    bool inside = row >= stack->frame[0] && column >= stack->frame[1] &&
                  row < stack->rows - stack->frame[0] &&
                  column < stack->columns - stack->frame[1];

    return inside == stack->inside;
}

static int count_all(const struct stack *stack)
{
    int count = 0;

    for (int row = 0; row < stack->rows; row++)
        for (int column = 0; column < stack->columns; column++)
            count += is_counted(stack, row, column);
    return count * stack->height;
}

static size_t layer_size(const struct stack *stack)
{
    return ((size_t)stack->layer + 1) * ((size_t)stack->most + 1);
}

/* Adds a cell to the table: it belongs to the layer or not, after the last cell
 * of its column, which did or did not. */
static void add_cell(struct stack *stack, int row, int column, size_t mask)
{
    size_t width = (size_t)stack->most + 1;
    uint16_t *off = stack->edge + mask * layer_size(stack);
    uint16_t *on = off + ((size_t)1 << column) * layer_size(stack);
    bool left = column && mask >> (column - 1) & 1;
    int counts = is_counted(stack, row, column);
    int turn = row ? stack->along : 0;
    int to_on = column && !left ? stack->across : 0;
    int to_off = left ? stack->across : 0;

    for (int n = stack->layer; n >= 0; n--)
        for (int m = stack->most; m >= 0; m--) {
            size_t at = (size_t)n * width + (size_t)m;
            size_t before = at - width - (size_t)counts;

            lower(&off[at], on[at] + turn);
            lower(&off[at], NEVER);
            off[at] = (uint16_t)(off[at] + to_off);
            on[at] = NEVER;
            if (n && m >= counts) {
                lower(&on[at], on[before] + to_on);
                lower(&on[at], off[before] + turn + to_on);
            }
        }
}

static void cut_layers(struct stack *stack)
{
    size_t masks = (size_t)1 << stack->columns, size = layer_size(stack);

    fill(stack->edge, masks * size);
    stack->edge[0] = 0;
    for (int row = 0; row < stack->rows; row++)
        for (int column = 0; column < stack->columns; column++)
            for (size_t mask = 0; mask < masks; mask++)
                if (!(mask >> column & 1))
                    add_cell(stack, row, column, mask);
    fill(stack->cut, size);
    for (size_t i = 0; i < masks * size; i++)
        lower(&stack->cut[i % size], stack->edge[i]);
}

/* --- stacks of layers --- */

static size_t index_of(const struct stack *stack, int others, int counted)
{
    return ((size_t)others * ((size_t)stack->most + 1) + (size_t)counted) *
           ((size_t)stack->cells + 1) * ((size_t)stack->most + 1);
}

static size_t stack_size(const struct stack *stack)
{
    return index_of(stack, stack->layer + 1, 0);
}

static void put_on(struct stack *stack, int others, int counted)
{
    size_t width = (size_t)stack->most + 1;
    int n = others + counted;
    int cut = stack->cut[(size_t)n * width + (size_t)counted];
    const uint16_t *from = stack->least + index_of(stack, others, counted);
    uint16_t *to = stack->next + index_of(stack, others, counted);

    for (int cells = 0; cells + n <= stack->cells; cells++)
        for (int m = 0; m + counted <= stack->most; m++)
            lower(&to[(size_t)(cells + n) * width + (size_t)(m + counted)],
                  from[(size_t)cells * width + (size_t)m] + cut);
}

/* Propagates values to layers with fewer cells, which the next layer may
 * have. */
static void reach_down(struct stack *stack, size_t step, bool counted)
{
    size_t rows = stack_size(stack) / step;

    for (size_t row = rows - 1; row-- > 0;) {
        uint16_t *to = stack->least + row * step;

        if (counted && row % ((size_t)stack->most + 1) == (size_t)stack->most)
            continue;
        for (size_t i = 0; i < step; i++)
            lower(&to[i], to[i + step] + stack->up);
    }
}

static void add_layer(struct stack *stack)
{
    size_t size = stack_size(stack);

    fill(stack->next, size);
    for (int others = 0; others <= stack->layer; others++)
        for (int m = 0; m <= stack->most && others + m <= stack->layer; m++)
            put_on(stack, others, m);
    memcpy(stack->least, stack->next, size * sizeof *stack->next);
    reach_down(stack, index_of(stack, 0, 1), true);
    reach_down(stack, index_of(stack, 1, 0), false);
}

static int search(struct stack *stack)
{
    size_t size = stack_size(stack), all = index_of(stack, 0, 1);
    uint16_t least = NEVER;

    cut_layers(stack);
    fill(stack->least, size);
    for (size_t i = 0; i < size; i += all)
        stack->least[i] = 0;
    for (int i = 0; i < stack->height; i++)
        add_layer(stack);
    for (size_t i = 0; i < size; i += all)
        for (int m = 0; m <= stack->most; m++)
            lower(&least, stack->next[i + all - 1 - (size_t)m]);
    return least;
}

/* --- all frames --- */

static bool is_cheap(const struct stack *stack)
{
    double layer = (double)layer_size(stack);

    return stack->columns <= COLUMNS_MOST &&
           layer * stack->rows * stack->columns *
                   (double)(1 << stack->columns) <=
               WORK_MOST &&
           (double)stack_size(stack) * stack->height <= WORK_MOST;
}

static nw_status look(struct stack *stack, int *bound)
{
    size_t size = layer_size(stack);
    nw_status status;

    status =
        nw_alloc(size << stack->columns, sizeof *stack->edge, &stack->edge);
    if (!status)
        status = nw_alloc(size, sizeof *stack->cut, &stack->cut);
    if (!status)
        status =
            nw_alloc(stack_size(stack), sizeof *stack->least, &stack->least);
    if (!status)
        status = nw_alloc(stack_size(stack), sizeof *stack->next, &stack->next);
    if (!status) {
        int least = search(stack);

        if (least > *bound && least < NEVER)
            *bound = least;
    }
    free(stack->edge);
    free(stack->cut);
    free(stack->least);
    free(stack->next);
    return status;
}

static bool has_frame(const struct stack *stack)
{
    return (stack->frame[0] || stack->frame[1]) &&
           2 * stack->frame[0] < stack->rows &&
           2 * stack->frame[1] < stack->columns;
}

static nw_status look_at_frame(const struct stack *seen, int frame, int parts,
                               int *bound)
{
    struct stack stack = *seen;

    stack.frame[0] = frame / 2 % (FRAME_MOST + 1);
    stack.frame[1] = frame / 2 / (FRAME_MOST + 1);
    stack.inside = frame % 2;
    if (!has_frame(&stack))
        return NW_OK;
    stack.most = count_all(&stack) / parts;
    if (stack.most > stack.cells)
        stack.most = stack.cells;
    return is_cheap(&stack) ? look(&stack, bound) : NW_OK;
}

nw_status nw_least_layers(const int size[3], const int weight[3], int up,
                          int parts, int *bound)
{
    int a = (up + 1) % 3, b = (up + 2) % 3;
    int along = size[a] > size[b] ? a : b, across = a + b - along;
    int cells = size[0] * size[1] * size[2] / parts;
    int area = size[a] * size[b];
    struct stack stack = {.height = size[up],
                          .rows = size[along],
                          .columns = size[across],
                          .up = weight[up],
                          .along = weight[along],
                          .across = weight[across],
                          .cells = cells,
                          .layer = area < cells ? area : cells};
    nw_status status = NW_OK;

    for (int i = 0; !status && i < 2 * (FRAME_MOST + 1) * (FRAME_MOST + 1); i++)
        status = look_at_frame(&stack, i, parts, bound);
    return status;
}
