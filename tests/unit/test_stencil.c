/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of grids that are divided for trees: what is computed from boxes
 * without looking at a cell equals what sorting all cells and summing all edges
 * gives. */
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
    int32_t size[NW_STENCIL_DIMS];
    double bytes[NW_STENCIL_DIMS];
    int32_t arity[3]; /* of the tree, the widest first */
};

static int32_t cells_of(const struct grid *grid)
{
    int32_t cells = 1;

    for (int d = 0; d < grid->dims; d++)
        cells *= grid->size[d];
    return cells;
}

/* Adds the edges to both neighbours along each dimension. */
static void edge(const struct grid *grid, struct nw_assignment *assignment)
{
    size_t at = 0;

    for (int32_t p = 0; p < assignment->count; p++) {
        int32_t stride = assignment->count;

        for (int d = 0; d < grid->dims; d++) {
            int32_t x;

            stride /= grid->size[d];
            x = p / stride % grid->size[d];
            for (int32_t by = -1; by <= 1; by += 2)
                if (x + by >= 0 && x + by < grid->size[d])
                    assignment->edge[at++] = (struct nw_undirected_edge){
                        p + by * stride, grid->bytes[d]};
        }
        assignment->row[p + 1] = at;
    }
}

static void open_assignment(const struct grid *grid,
                            struct nw_hierarchy *hierarchy,
                            struct nw_assignment *assignment)
{
    int32_t n = cells_of(grid), *place;
    int32_t slots = grid->arity[0] * grid->arity[1] * grid->arity[2];
    double *gap;
    bool is_hierarchy;

    MUST(nw_alloc((size_t)slots, sizeof *gap, &gap));
    MUST(nw_alloc((size_t)slots, sizeof *place, &place));
    for (int32_t s = 0; s < slots; s++) {
        bool inner = (s + 1) % grid->arity[2];
        bool middle = (s + 1) % (grid->arity[1] * grid->arity[2]);

        place[s] = s;
        gap[s] = inner ? 1 : middle ? 10 : 100;
    }
    MUST(nw_hierarchy_from_gaps(hierarchy, gap, place, slots, &is_hierarchy));
    assert_true(is_hierarchy);
    *assignment = (struct nw_assignment){
        .hierarchy = hierarchy, .threads = 2, .count = n};
    MUST(nw_alloc((size_t)n + 1, sizeof *assignment->row, &assignment->row));
    MUST(nw_alloc(2 * (size_t)(n * grid->dims), sizeof *assignment->edge,
                  &assignment->edge));
    edge(grid, assignment);
    free(gap);
    free(place);
}

static void assert_alike(const struct grid *grid)
{
    struct nw_hierarchy hierarchy;
    struct nw_assignment assignment;
    struct nw_stencil stencil;
    int32_t *slot[2];
    bool found;

    open_assignment(grid, &hierarchy, &assignment);
    MUST(nw_stencil_find(&assignment, &stencil, &found));
    assert_true(found && stencil.uniform);
    for (int i = 0; i < 2; i++)
        MUST(nw_alloc((size_t)assignment.count, sizeof **slot, &slot[i]));
    for (int way = 0; way < 16; way++) {
        const struct nw_stencil_cut cut = {.kind = way};

        stencil.uniform = true;
        MUST(nw_stencil_coordinate_bisection(&assignment, &stencil, cut,
                                             slot[0]));
        if (way & NW_STENCIL_LAYERS) /* this way asks the boxes where to
                                        divide clusters */
            continue;
        stencil.uniform = false; /* then boxes are not used */
        MUST(nw_stencil_coordinate_bisection(&assignment, &stencil, cut,
                                             slot[1]));
        assert_memory_equal(slot[0], slot[1],
                            (size_t)assignment.count * sizeof **slot);
    }
    free(slot[0]);
    free(slot[1]);
    nw_assignment_fini(&assignment);
    nw_hierarchy_fini(&hierarchy);
}

static void test_boxes_are_parted_as_sorted_cells(void **state)
{
    static const struct grid grids[] = {
        {1, {60}, {1}, {3, 4, 5}},
        {2, {16, 16}, {1, 1}, {4, 8, 8}},
        {2, {24, 18}, {1, 3}, {4, 9, 12}},
        {3, {8, 8, 8}, {1, 1, 1}, {8, 4, 16}},
        {3, {6, 10, 12}, {1, 10, 2}, {5, 12, 12}}, /* thirds, some of which
                                                      are not whole numbers */
        {3, {7, 11, 5}, {3, 1, 1}, {4, 10, 10}},   /* some slots stay free */
        {4, {4, 4, 6, 8}, {1, 2, 1, 4}, {8, 12, 8}},
        {2, {192, 128}, {1, 1}, {12, 32, 64}}, /* on several threads */
    };

    (void)state;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        assert_alike(&grids[i]);
}

/* The bytes between the clusters of `width` slots; `cells` gets the number of
 * cells of each. */
static double across(const struct nw_assignment *assignment,
                     const int32_t *slot, int32_t width, int32_t *cells)
{
    double bytes = 0;

    for (int32_t p = 0; p < assignment->count; p++) {
        cells[slot[p] / width]++;
        for (size_t b = assignment->row[p]; b < assignment->row[p + 1]; b++)
            if (slot[assignment->edge[b].peer] / width != slot[p] / width)
                bytes += assignment->edge[b].bytes;
    }
    return bytes;
}

/* A grid of 6 x 5 cells has two columns of width 3, which are divided into
 * pieces of 6 cells. Each column has two pieces of 3 x 2 with 7 pairs of
 * neighbours inside. The rest of both columns is a bar of 6 x 1 with 5 pairs
 * inside. Of 25 + 24 pairs, 16 are between pieces. */
static void test_pieces_reach_round_from_column_to_column(void **state)
{
    static const struct grid grid = {2, {6, 5}, {1, 1}, {5, 3, 2}};
    static const struct nw_stencil_columns columns = {.along = 1,
                                                      .count = {2, 1}};
    int32_t cells[5] = {0}, slot[30];
    struct nw_hierarchy hierarchy;
    struct nw_assignment assignment;
    struct nw_stencil stencil;
    bool found;

    (void)state;
    open_assignment(&grid, &hierarchy, &assignment);
    MUST(nw_stencil_find(&assignment, &stencil, &found));
    assert_true(found);
    MUST(nw_stencil_coordinate_bisection(
        &assignment, &stencil, (struct nw_stencil_cut){.columns = &columns},
        slot));
    assert_true(across(&assignment, slot, 6, cells) == 2 * 16);
    for (int c = 0; c < 5; c++)
        assert_int_equal(cells[c], 6);
    nw_assignment_fini(&assignment);
    nw_hierarchy_fini(&hierarchy);
}

/* The sum of the differences of the coordinates of two cells. */
static int32_t apart(const struct nw_stencil *stencil, int32_t a, int32_t b)
{
    int32_t sum = 0;

    for (int d = 0; d < stencil->dims; d++)
        sum += abs(nw_stencil_coordinate(stencil, a, d) -
                   nw_stencil_coordinate(stencil, b, d));
    return sum;
}

/* Columns contain every cell once, and continue from one column to the next
 * where both meet: no farther than across a layer of each. */
static void test_columns_hold_every_cell_once(void **state)
{
    static const struct nw_stencil stencil = {
        .dims = 4, .size = {5, 4, 7, 3}, .stride = {84, 21, 3, 1}};
    struct nw_stencil_columns columns[20];
    int count = nw_stencil_columns(&stencil, 11, 20, columns);

    (void)state;
    assert_int_equal(count, 20);
    for (int i = 0; i < count; i++) {
        int32_t cell[420], seen[420] = {0}, across = 1;

        for (int d = 0; d < 4; d++)
            if (d != columns[i].along)
                across += 2 * (stencil.size[d] / columns[i].count[d] + 1);
        nw_stencil_follow_columns(&stencil, &columns[i], cell);
        for (int32_t c = 0; c < 420; c++) {
            assert_int_equal(seen[cell[c]]++, 0);
            assert_true(!c || apart(&stencil, cell[c - 1], cell[c]) <= across);
        }
    }
}

/* A dimension of two cells is found as a dimension, and not taken for every
 * second edge of a longer one. */
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
        struct nw_hierarchy hierarchy;
        struct nw_assignment assignment;
        struct nw_stencil stencil;
        bool found;

        open_assignment(&grids[i], &hierarchy, &assignment);
        MUST(nw_stencil_find(&assignment, &stencil, &found));
        assert_true(found && stencil.uniform);
        assert_int_equal(stencil.dims, grids[i].dims);
        assert_memory_equal(stencil.size, grids[i].size,
                            (size_t)stencil.dims * sizeof *stencil.size);
        nw_assignment_fini(&assignment);
        nw_hierarchy_fini(&hierarchy);
    }
}

/* The cost of an assignment in boxes, with each pair counted once. */
static double cost_in_boxes(const struct grid *grid,
                            const struct nw_assignment *assignment,
                            const struct nw_stencil *stencil)
{
    int32_t *slot, *cells, inner = grid->arity[2];
    double sum;
    bool done;

    MUST(nw_alloc((size_t)assignment->count, sizeof *slot, &slot));
    MUST(nw_alloc((size_t)assignment->count, sizeof *cells, &cells));
    MUST(nw_stencil_nested_boxes(assignment, stencil, slot, &done));
    assert_true(done);
    sum = across(assignment, slot, 1, cells) +
          9 * across(assignment, slot, inner, cells) +
          90 * across(assignment, slot, inner * grid->arity[1], cells);
    free(slot);
    free(cells);
    return sum / 2;
}

/* Cubes within cubes: of 1344 pairs, 576 are between cubes of eight cells and
 * 192 between those of 64. */
static void test_nothing_is_below_cubes_in_cubes(void **state)
{
    static const struct grid grids[] = {
        {3, {8, 8, 8}, {1, 1, 1}, {8, 8, 8}},
        {3, {9, 8, 7}, {1, 1, 1}, {9, 8, 7}},
        {2, {24, 18}, {1, 3}, {4, 9, 12}},
    };

    (void)state;
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        struct nw_hierarchy hierarchy;
        struct nw_assignment assignment;
        struct nw_stencil stencil;
        double least;
        bool found;

        open_assignment(&grids[g], &hierarchy, &assignment);
        MUST(nw_stencil_find(&assignment, &stencil, &found));
        assert_true(found);
        least = nw_stencil_lower_bound(&assignment, &stencil);
        if (!g)
            assert_float_equal(least, 1344 + 9 * 576 + 90 * 192, 1e-3);
        assert_true(least > 0);
        assert_true(least <
                    cost_in_boxes(&grids[g], &assignment, &stencil) + 1e-6);
        stencil.periodic[1] = true; /* rings have no bound */
        assert_false(nw_stencil_lower_bound(&assignment, &stencil) > 0);
        nw_assignment_fini(&assignment);
        nw_hierarchy_fini(&hierarchy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes_are_parted_as_sorted_cells),
        cmocka_unit_test(test_pieces_reach_round_from_column_to_column),
        cmocka_unit_test(test_columns_hold_every_cell_once),
        cmocka_unit_test(test_dimensions_of_two_are_found),
        cmocka_unit_test(test_nothing_is_below_cubes_in_cubes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
