/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids cut on trees: what boxes say without looking at a cell is what comes of
 * sorting all cells and adding up all bonds. */
#include "base/array.h"
#include "map/stencil/grid.h"
#include "support/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct grid {
    int dims;
    int32_t size[NW_TILE_DIMS];
    double bytes[NW_TILE_DIMS];
    int32_t arity[3]; /* of the tree, the widest first */
};

static int32_t cells_of(const struct grid *grid)
{
    int32_t cells = 1;

    for (int d = 0; d < grid->dims; d++)
        cells *= grid->size[d];
    return cells;
}

/* Bonds to both neighbours along each dimension. */
static void bond(const struct grid *grid, struct nw_layout *layout)
{
    size_t at = 0;

    for (int32_t p = 0; p < layout->count; p++) {
        int32_t stride = layout->count;

        for (int d = 0; d < grid->dims; d++) {
            int32_t x;

            stride /= grid->size[d];
            x = p / stride % grid->size[d];
            for (int32_t by = -1; by <= 1; by += 2)
                if (x + by >= 0 && x + by < grid->size[d])
                    layout->bond[at++] =
                        (struct nw_bond){p + by * stride, grid->bytes[d]};
        }
        layout->row[p + 1] = at;
    }
}

static void open_layout(const struct grid *grid, struct nw_tree *tree,
                        struct nw_layout *layout)
{
    int32_t n = cells_of(grid), *place;
    int32_t seats = grid->arity[0] * grid->arity[1] * grid->arity[2];
    double *gap;
    bool is_tree;

    MUST(nw_alloc((size_t)seats, sizeof *gap, &gap));
    MUST(nw_alloc((size_t)seats, sizeof *place, &place));
    for (int32_t s = 0; s < seats; s++) {
        bool inner = (s + 1) % grid->arity[2];
        bool middle = (s + 1) % (grid->arity[1] * grid->arity[2]);

        place[s] = s;
        gap[s] = inner ? 1 : middle ? 10 : 100;
    }
    MUST(nw_tree_from_gaps(tree, gap, place, seats, &is_tree));
    assert_true(is_tree);
    *layout = (struct nw_layout){.tree = tree, .threads = 2, .count = n};
    MUST(nw_alloc((size_t)n + 1, sizeof *layout->row, &layout->row));
    MUST(nw_alloc(2 * (size_t)(n * grid->dims), sizeof *layout->bond,
                  &layout->bond));
    bond(grid, layout);
    free(gap);
    free(place);
}

static void assert_alike(const struct grid *grid)
{
    struct nw_tree tree;
    struct nw_layout layout;
    struct nw_tiling tiling;
    int32_t *seat[2];
    bool found;

    open_layout(grid, &tree, &layout);
    MUST(nw_tiling_find(&layout, &tiling, &found));
    assert_true(found && tiling.uniform);
    for (int i = 0; i < 2; i++)
        MUST(nw_alloc((size_t)layout.count, sizeof **seat, &seat[i]));
    for (int way = 0; way < 16; way++) {
        tiling.uniform = true;
        MUST(nw_tiling_cut(&layout, &tiling, way, seat[0]));
        if (way & NW_TILE_LAYERS) /* asks boxes where to part clusters */
            continue;
        tiling.uniform = false; /* then nothing is known of boxes */
        MUST(nw_tiling_cut(&layout, &tiling, way, seat[1]));
        assert_memory_equal(seat[0], seat[1],
                            (size_t)layout.count * sizeof **seat);
    }
    free(seat[0]);
    free(seat[1]);
    nw_layout_fini(&layout);
    nw_tree_fini(&tree);
}

static void test_boxes_are_parted_as_sorted_cells(void **state)
{
    static const struct grid grids[] = {
        {1, {60}, {1}, {3, 4, 5}},
        {2, {16, 16}, {1, 1}, {4, 8, 8}},
        {2, {24, 18}, {1, 3}, {4, 9, 12}},
        {3, {8, 8, 8}, {1, 1, 1}, {8, 4, 16}},
        {3, {6, 10, 12}, {1, 10, 2}, {5, 12, 12}}, /* thirds, not all whole */
        {3, {7, 11, 5}, {3, 1, 1}, {4, 10, 10}},   /* seats free */
        {4, {4, 4, 6, 8}, {1, 2, 1, 4}, {8, 12, 8}},
        {2, {192, 128}, {1, 1}, {12, 32, 64}}, /* on several threads */
    };

    (void)state;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        assert_alike(&grids[i]);
}

/* Bytes between the clusters of `width` seats, and cells of each. */
static double across(const struct nw_layout *layout, const int32_t *seat,
                     int32_t width, int32_t *cells)
{
    double bytes = 0;

    for (int32_t p = 0; p < layout->count; p++) {
        cells[seat[p] / width]++;
        for (size_t b = layout->row[p]; b < layout->row[p + 1]; b++)
            if (seat[layout->bond[b].peer] / width != seat[p] / width)
                bytes += layout->bond[b].bytes;
    }
    return bytes;
}

/* 60 clusters of 32 seats hold 1800 cells as 30 each, as boxes of 2 x 3 x 5
 * are; as few as hold them are 57, which no layers divide. */
static void test_evenly_clusters_hold_the_same(void **state)
{
    static const struct grid grid = {3, {10, 12, 15}, {1, 1, 1}, {60, 8, 4}};
    int32_t cells[2][60] = {{0}}, *seat;
    struct nw_tree tree;
    struct nw_layout layout;
    struct nw_tiling tiling;
    double bytes[2];
    bool found;

    (void)state;
    open_layout(&grid, &tree, &layout);
    assert_true(nw_tiling_may_even(&layout));
    MUST(nw_tiling_find(&layout, &tiling, &found));
    assert_true(found);
    MUST(nw_alloc((size_t)layout.count, sizeof *seat, &seat));
    for (int even = 0; even < 2; even++) {
        int way = NW_TILE_LAYERS | (even ? NW_TILE_EVENLY : 0);

        MUST(nw_tiling_cut(&layout, &tiling, way, seat));
        bytes[even] = across(&layout, seat, 32, cells[even]);
    }
    for (int c = 0; c < 60; c++)
        assert_int_equal(cells[1][c], 30);
    assert_int_equal(cells[0][57] + cells[0][58] + cells[0][59], 0);
    assert_true(bytes[1] < bytes[0]);
    free(seat);
    nw_layout_fini(&layout);
    nw_tree_fini(&tree);
}

static void test_full_or_prime_grids_have_no_other_even_way(void **state)
{
    static const struct grid grids[] = {
        {2, {24, 18}, {1, 3}, {4, 9, 12}},
        {1, {59}, {1}, {3, 4, 5}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        struct nw_tree tree;
        struct nw_layout layout;

        open_layout(&grids[i], &tree, &layout);
        assert_false(nw_tiling_may_even(&layout));
        nw_layout_fini(&layout);
        nw_tree_fini(&tree);
    }
}

/* Two columns 3 wide through 6 x 5 cells, in pieces of 6: two of 3 x 2 in each,
 * with 7 pairs inside, and what is left of both, a bar of 6 x 1, with 5. Of 25
 * + 24 pairs 16 are across. */
static void test_pieces_reach_round_from_column_to_column(void **state)
{
    static const struct grid grid = {2, {6, 5}, {1, 1}, {5, 3, 2}};
    static const struct nw_tile_columns columns = {.along = 1, .count = {2, 1}};
    int32_t cells[5] = {0}, seat[30];
    struct nw_tree tree;
    struct nw_layout layout;
    struct nw_tiling tiling;
    bool found;

    (void)state;
    open_layout(&grid, &tree, &layout);
    MUST(nw_tiling_find(&layout, &tiling, &found));
    assert_true(found);
    MUST(nw_tiling_cut_columns(&layout, &tiling, &columns, seat));
    assert_true(across(&layout, seat, 6, cells) == 2 * 16);
    for (int c = 0; c < 5; c++)
        assert_int_equal(cells[c], 6);
    nw_layout_fini(&layout);
    nw_tree_fini(&tree);
}

/* Coordinates by which two cells differ, added up. */
static int32_t apart(const struct nw_tiling *tiling, int32_t a, int32_t b)
{
    int32_t sum = 0;

    for (int d = 0; d < tiling->dims; d++)
        sum += abs(nw_tiling_at(tiling, a, d) - nw_tiling_at(tiling, b, d));
    return sum;
}

/* And from one column to the next at the end where both meet: no farther than
 * across a layer of each. */
static void test_columns_hold_every_cell_once(void **state)
{
    static const struct nw_tiling tiling = {
        .dims = 4, .size = {5, 4, 7, 3}, .stride = {84, 21, 3, 1}};
    struct nw_tile_columns columns[20];
    int count = nw_tiling_columns(&tiling, 11, 20, columns);

    (void)state;
    assert_int_equal(count, 20);
    for (int i = 0; i < count; i++) {
        int32_t cell[420], seen[420] = {0}, across = 1;

        for (int d = 0; d < 4; d++)
            if (d != columns[i].along)
                across += 2 * (tiling.size[d] / columns[i].count[d] + 1);
        nw_tiling_follow(&tiling, &columns[i], cell);
        for (int32_t c = 0; c < 420; c++) {
            assert_int_equal(seen[cell[c]]++, 0);
            assert_true(!c || apart(&tiling, cell[c - 1], cell[c]) <= across);
        }
    }
}

/* Two cells side by side are a dimension of their own, not every second bond of
 * a longer one. */
static void test_dimensions_of_two_are_found(void **state)
{
    static const struct grid grids[] = {
        {3, {16, 16, 2}, {1, 1, 1}, {8, 8, 8}},
        {3, {7, 2, 5}, {1, 3, 2}, {5, 2, 7}},
        {4, {12, 2, 12, 2}, {1, 1, 1, 1}, {4, 12, 12}},
        {5, {2, 2, 2, 2, 2}, {1, 1, 1, 1, 1}, {2, 4, 4}},
        {4, {64, 2, 8, 6}, {1, 1, 1, 1}, {6, 32, 32}}, /* several threads */
    };

    (void)state;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        struct nw_tree tree;
        struct nw_layout layout;
        struct nw_tiling tiling;
        bool found;

        open_layout(&grids[i], &tree, &layout);
        MUST(nw_tiling_find(&layout, &tiling, &found));
        assert_true(found && tiling.uniform);
        assert_int_equal(tiling.dims, grids[i].dims);
        assert_memory_equal(tiling.size, grids[i].size,
                            (size_t)tiling.dims * sizeof *tiling.size);
        nw_layout_fini(&layout);
        nw_tree_fini(&tree);
    }
}

/* Of one seating in boxes, each pair once. */
static double cost_in_boxes(const struct grid *grid,
                            const struct nw_layout *layout,
                            const struct nw_tiling *tiling)
{
    int32_t *seat, *cells, inner = grid->arity[2];
    double sum;
    bool done;

    MUST(nw_alloc((size_t)layout->count, sizeof *seat, &seat));
    MUST(nw_alloc((size_t)layout->count, sizeof *cells, &cells));
    MUST(nw_tiling_boxes(layout, tiling, seat, &done));
    assert_true(done);
    sum = across(layout, seat, 1, cells) +
          9 * across(layout, seat, inner, cells) +
          90 * across(layout, seat, inner * grid->arity[1], cells);
    free(seat);
    free(cells);
    return sum / 2;
}

/* Cubes in cubes: 1344 pairs, of which 576 lie between those of eight cells
 * and 192 between those of 64. */
static void test_nothing_is_below_cubes_in_cubes(void **state)
{
    static const struct grid grids[] = {
        {3, {8, 8, 8}, {1, 1, 1}, {8, 8, 8}},
        {3, {9, 8, 7}, {1, 1, 1}, {9, 8, 7}},
        {2, {24, 18}, {1, 3}, {4, 9, 12}},
    };

    (void)state;
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        struct nw_tree tree;
        struct nw_layout layout;
        struct nw_tiling tiling;
        double least;
        bool found;

        open_layout(&grids[g], &tree, &layout);
        MUST(nw_tiling_find(&layout, &tiling, &found));
        assert_true(found);
        least = nw_tiling_least(&layout, &tiling);
        if (!g)
            assert_float_equal(least, 1344 + 9 * 576 + 90 * 192, 1e-3);
        assert_true(least > 0);
        assert_true(least < cost_in_boxes(&grids[g], &layout, &tiling) + 1e-6);
        tiling.periodic[1] = true; /* of rings nothing is known */
        assert_false(nw_tiling_least(&layout, &tiling) > 0);
        nw_layout_fini(&layout);
        nw_tree_fini(&tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes_are_parted_as_sorted_cells),
        cmocka_unit_test(test_evenly_clusters_hold_the_same),
        cmocka_unit_test(test_full_or_prime_grids_have_no_other_even_way),
        cmocka_unit_test(test_pieces_reach_round_from_column_to_column),
        cmocka_unit_test(test_columns_hold_every_cell_once),
        cmocka_unit_test(test_dimensions_of_two_are_found),
        cmocka_unit_test(test_nothing_is_below_cubes_in_cubes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
