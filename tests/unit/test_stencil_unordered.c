/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids whose processes are numbered anyhow: dealt anew, they are found again
 * with the sizes they had, and cut as well as can be counted by hand. */
#include "base/array.h"
#include "base/random.h"
#include "map/stencil/grid.h"
#include "support/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REACH 2
#define RANGE (2 * REACH + 1)
#define CODES 3125 /* offsets of at most that in 5 dimensions */
#define BONDS_MOST 80
#define BYTES 3

/* Partners differ by one in so many dimensions at most, or in one by up to
 * two. */
enum kind { FACES = 1, EDGES, DIAGONALS = NW_TILE_DIMS, TWO_FAR };

struct grid {
    int dims, size[NW_TILE_DIMS];
    bool round[NW_TILE_DIMS];
    enum kind kind;
    uint64_t seed;
};

static int32_t cells_of(const struct grid *grid)
{
    int32_t cells = 1;

    for (int d = 0; d < grid->dims; d++)
        cells *= grid->size[d];
    return cells;
}

/* The cell at an offset, or -1: beyond a border, none, or not a partner. */
static int32_t partner(const struct grid *grid, int32_t cell, int code)
{
    int32_t to = 0, stride = 1;
    int moved = 0, far = 0;

    for (int d = 0; d < grid->dims; d++, code /= RANGE) {
        int32_t size = grid->size[d], move = code % RANGE - REACH;
        int32_t x = cell % size + move;

        if ((x < 0 || x >= size) && !grid->round[d])
            return -1;
        moved += move != 0;
        far += abs(move) > 1;
        to += (x + size) % size * stride;
        stride *= size;
        cell /= size;
    }
    if (grid->kind == TWO_FAR)
        return code || moved != 1 ? -1 : to;
    return code || !moved || far || moved > (int)grid->kind ? -1 : to;
}

/* Processes of a grid under numbers dealt anew, the first as seated first. */
static void open_layout(const struct grid *grid, const struct nw_tree *tree,
                        struct nw_layout *layout)
{
    size_t n = (size_t)cells_of(grid), at = 0;
    int32_t *number, *cell;
    struct nw_random random;

    *layout =
        (struct nw_layout){.tree = tree, .threads = 2, .count = (int32_t)n};
    MUST(nw_alloc(n + 1, sizeof *layout->row, &layout->row));
    MUST(nw_alloc(n * BONDS_MOST, sizeof *layout->bond, &layout->bond));
    MUST(nw_alloc(n, sizeof *layout->seat, &layout->seat));
    MUST(nw_alloc(n, sizeof *layout->at, &layout->at));
    MUST(nw_alloc(n, sizeof *layout->process, &layout->process));
    MUST(nw_alloc(n, sizeof *layout->fixed, &layout->fixed));
    MUST(nw_alloc(n, sizeof *number, &number));
    MUST(nw_alloc(n, sizeof *cell, &cell));
    for (size_t i = 0; i < n; i++)
        cell[i] = layout->seat[i] = layout->process[i] = (int32_t)i;
    nw_random_init(&random, n + grid->seed);
    nw_random_shuffle(&random, cell, n);
    for (size_t i = 0; i < n; i++)
        number[cell[i]] = (int32_t)i;
    for (size_t i = 0; i < n; i++) {
        for (int code = 0; code < CODES; code++) {
            int32_t to = partner(grid, cell[i], code);

            if (to >= 0)
                layout->bond[at++] = (struct nw_bond){number[to], BYTES};
        }
        layout->row[i + 1] = at;
        layout->at[i] = tree->code[i];
    }
    free(number);
    free(cell);
}

static void open_tree(int32_t seats, struct nw_tree *tree)
{
    double *gap;
    int32_t *place;
    bool is_tree;

    MUST(nw_alloc((size_t)seats, sizeof *gap, &gap));
    MUST(nw_alloc((size_t)seats, sizeof *place, &place));
    for (int32_t s = 0; s < seats; s++) {
        place[s] = s;
        gap[s] = (s + 1) % 8 ? 1 : (s + 1) % 64 ? 10 : 100;
    }
    MUST(nw_tree_from_gaps(tree, gap, place, seats, &is_tree));
    assert_true(is_tree);
    free(gap);
    free(place);
}

static int by_size(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

static void assert_sizes(const struct nw_tiling *tiling,
                         const struct grid *grid)
{
    struct grid sorted = *grid;
    int found[NW_TILE_DIMS];

    assert_int_equal(tiling->dims, grid->dims);
    for (int d = 0; d < grid->dims; d++)
        found[d] = tiling->size[d];
    qsort(found, (size_t)grid->dims, sizeof *found, by_size);
    qsort(sorted.size, (size_t)grid->dims, sizeof *found, by_size);
    assert_memory_equal(found, sorted.size, (size_t)grid->dims * sizeof *found);
}

static void assert_found(const struct grid *grid)
{
    struct nw_layout layout;
    struct nw_tree tree;
    struct nw_tiling tiling;
    int32_t n = cells_of(grid), *order;
    bool found;

    open_tree(n, &tree);
    open_layout(grid, &tree, &layout);
    MUST(nw_alloc((size_t)n, sizeof *order, &order));
    MUST(nw_tiling_order(&layout, order, &found));
    assert_true(found);
    MUST(nw_layout_renumber(&layout, order));
    assert_memory_equal(layout.name, order, (size_t)n * sizeof *order);
    for (int32_t i = 0; i < n; i++)
        assert_int_equal(layout.seat[i], order[i]);
    MUST(nw_tiling_find(&layout, &tiling, &found));
    assert_true(found && tiling.uniform);
    assert_sizes(&tiling, grid);
    free(order);
    nw_layout_fini(&layout);
    nw_tree_fini(&tree);
}

static void test_grids_dealt_anew_are_found(void **state)
{
    static const struct grid grids[] = {
        {1, {200}, {false}, FACES},
        {1, {200}, {true}, FACES},
        {2, {17, 23}, {false}, FACES},
        {2, {17, 24}, {true, true}, FACES},
        {2, {19, 12}, {false}, DIAGONALS},
        {2, {19, 12}, {true, false}, DIAGONALS},
        {3, {9, 7, 8}, {false}, FACES},
        {3, {9, 7, 8}, {true, false, true}, FACES},
        {3, {9, 7, 8}, {false}, DIAGONALS},
        {3, {9, 7, 8}, {true, true, true}, DIAGONALS},
        {4, {6, 5, 7, 4}, {false}, FACES},
        {4, {6, 5, 7, 4}, {true, true, false, false}, FACES},
        {5, {5, 4, 5, 3, 4}, {false}, FACES},
        {3, {9, 7, 8}, {false}, EDGES},
        {3, {9, 7, 8}, {true, false, true}, EDGES},
        {4, {6, 5, 7, 4}, {false}, EDGES},
        {4, {6, 5, 7, 4}, {true, false, true, false}, EDGES},
        {4, {6, 5, 7, 4}, {false}, DIAGONALS},
        {2, {19, 12}, {false}, TWO_FAR},
        {3, {9, 7, 8}, {false}, TWO_FAR},
        {3, {9, 7, 8}, {true, false, true}, TWO_FAR},
        {4, {6, 5, 7, 9}, {false}, TWO_FAR},
        {3, {25, 23, 22}, {false}, DIAGONALS}, /* shared out to threads */
    };

    (void)state;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        assert_found(&grids[i]);
}

/* Boxes of 4 x 4 x 4 and in them of 2 x 2 x 2: of the planes between layers of
 * 64 pairs, one a dimension costs 100 a byte, two cost 10, four cost 1. */
static void test_what_was_dealt_anew_is_cut_as_before(void **state)
{
    static const struct grid grid = {3, {8, 8, 8}, {false}, FACES};
    struct nw_tile_try try = {0};
    struct nw_layout layout;
    struct nw_tree tree;

    (void)state;
    open_tree(512, &tree);
    open_layout(&grid, &tree, &layout);
    try.cost = nw_layout_cost(&layout);
    MUST(nw_layout_tile(&layout, &try));
    assert_true(try.found);
    assert_float_equal(nw_layout_cost(&layout),
                       3 * 64 * (100 + 2 * 10 + 4 * 1) * BYTES, 1e-6);
    nw_layout_fini(&layout);
    nw_tree_fini(&tree);
}

/* Of 3840 bonds a box of 8 cells keeps 12 as a cube of 2 in three dimensions,
 * one of 64 keeps 176 as 4 x 2 x 2 x 2 x 2, where 4 x 4 x 2 x 2 would keep 160.
 */
static void test_five_dimensions_lie_in_boxes(void **state)
{
    static const struct grid grid = {5, {4, 4, 4, 4, 4}, {false}, FACES};
    struct nw_tile_try try = {0};
    struct nw_layout layout;
    struct nw_tree tree;

    (void)state;
    open_tree(1024, &tree);
    open_layout(&grid, &tree, &layout);
    try.cost = nw_layout_cost(&layout);
    MUST(nw_layout_tile(&layout, &try));
    assert_true(try.found && try.boxed);
    assert_int_equal(try.tiling.dims, 5);
    assert_float_equal(
        nw_layout_cost(&layout),
        (128 * 12 + (16 * 176 - 128 * 12) * 10 + (3840 - 16 * 176) * 100) *
            BYTES,
        1e-6);
    nw_layout_fini(&layout);
    nw_tree_fini(&tree);
}

/* Chains of few cells fit on grids of three or four dimensions by chance: under
 * any numbers all bonds but those from one eight to the next cost 1 a byte. */
static void test_short_chains_are_no_other_grid(void **state)
{
    struct grid grid = {1, {0}, {false}, FACES, 0};

    (void)state;
    for (grid.size[0] = 16; grid.size[0] <= 56; grid.size[0] += 2)
        for (grid.seed = 0; grid.seed < 20; grid.seed++) {
            int ends = (grid.size[0] - 1) / 8;
            struct nw_tile_try try = {0};
            struct nw_layout layout;
            struct nw_tree tree;

            open_tree(grid.size[0], &tree);
            open_layout(&grid, &tree, &layout);
            try.cost = nw_layout_cost(&layout);
            MUST(nw_layout_tile(&layout, &try));
            assert_true(try.found);
            assert_int_equal(try.tiling.dims, 1);
            assert_float_equal(nw_layout_cost(&layout),
                               (grid.size[0] - 1 + 9 * ends) * BYTES, 1e-6);
            nw_layout_fini(&layout);
            nw_tree_fini(&tree);
        }
}

/* Two pairs that change partners keep their degrees. */
static void test_what_is_no_grid_keeps_its_numbers(void **state)
{
    static const struct grid grid = {2, {20, 20}, {true, true}, FACES};
    struct nw_tile_try try = {0};
    struct nw_layout layout;
    struct nw_tree tree;
    struct nw_bond *bond;
    int32_t a = 0, b, c = 200, d;

    (void)state;
    open_tree(400, &tree);
    open_layout(&grid, &tree, &layout);
    bond = layout.bond;
    b = bond[layout.row[a]].peer;
    d = bond[layout.row[c]].peer;
    for (size_t i = 0; i < layout.row[400]; i++) {
        int32_t p = (int32_t)(i / 4), q = bond[i].peer;

        if ((p == a && q == b) || (p == d && q == c))
            bond[i].peer = p == a ? c : b;
        else if ((p == b && q == a) || (p == c && q == d))
            bond[i].peer = p == b ? d : a;
    }
    try.cost = nw_layout_cost(&layout);
    MUST(nw_layout_tile(&layout, &try));
    assert_false(try.found);
    assert_null(layout.name);
    nw_layout_fini(&layout);
    nw_tree_fini(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grids_dealt_anew_are_found),
        cmocka_unit_test(test_what_was_dealt_anew_is_cut_as_before),
        cmocka_unit_test(test_five_dimensions_lie_in_boxes),
        cmocka_unit_test(test_short_chains_are_no_other_grid),
        cmocka_unit_test(test_what_is_no_grid_keeps_its_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
