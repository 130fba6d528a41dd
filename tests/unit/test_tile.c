/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids cut on trees: what boxes say without looking at a cell is what comes of
 * sorting all cells and adding up all bonds. */
#include "base/array.h"
#include "map/tile.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes_are_parted_as_sorted_cells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
