/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of grids whose processes have arbitrary numbers: the grids are found
 * with their sizes, and are divided as well as can be computed by hand. */
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
#define EDGES_MAX 80
#define BYTES 3

/* Which cells are partners: those that differ by one in at most so many
 * dimensions, or in one dimension by up to two. */
enum kind { FACES = 1, EDGES, DIAGONALS = NW_STENCIL_DIMS, TWO_FAR };

struct grid {
    int dims, size[NW_STENCIL_DIMS];
    bool round[NW_STENCIL_DIMS];
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

/* The cell at an offset; -1 if that is beyond a border or is not a partner. */
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

/* Makes an assignment of the processes of a grid with random numbers, in which
 * process i has slot i. */
static void open_assignment(const struct grid *grid,
                            const struct nw_hierarchy *hierarchy,
                            struct nw_assignment *assignment)
{
    size_t n = (size_t)cells_of(grid), at = 0;
    int32_t *number, *cell;
    struct nw_random random;

    *assignment = (struct nw_assignment){
        .hierarchy = hierarchy, .threads = 2, .count = (int32_t)n};
    MUST(nw_alloc(n + 1, sizeof *assignment->row, &assignment->row));
    MUST(nw_alloc(n * EDGES_MAX, sizeof *assignment->edge, &assignment->edge));
    MUST(nw_alloc(n, sizeof *assignment->slot, &assignment->slot));
    MUST(nw_alloc(n, sizeof *assignment->at, &assignment->at));
    MUST(nw_alloc(n, sizeof *assignment->process, &assignment->process));
    MUST(nw_alloc(n, sizeof *assignment->fixed, &assignment->fixed));
    MUST(nw_alloc(n, sizeof *number, &number));
    MUST(nw_alloc(n, sizeof *cell, &cell));
    for (size_t i = 0; i < n; i++)
        cell[i] = assignment->slot[i] = assignment->process[i] = (int32_t)i;
    nw_random_init(&random, n + grid->seed);
    nw_random_shuffle(&random, cell, n);
    for (size_t i = 0; i < n; i++)
        number[cell[i]] = (int32_t)i;
    for (size_t i = 0; i < n; i++) {
        for (int code = 0; code < CODES; code++) {
            int32_t to = partner(grid, cell[i], code);

            if (to >= 0)
                assignment->edge[at++] =
                    (struct nw_undirected_edge){number[to], BYTES};
        }
        assignment->row[i + 1] = at;
        assignment->at[i] = hierarchy->code[i];
    }
    free(number);
    free(cell);
}

static void open_hierarchy(int32_t slots, struct nw_hierarchy *hierarchy)
{
    double *gap;
    int32_t *place;
    bool is_hierarchy;

    MUST(nw_alloc((size_t)slots, sizeof *gap, &gap));
    MUST(nw_alloc((size_t)slots, sizeof *place, &place));
    for (int32_t s = 0; s < slots; s++) {
        place[s] = s;
        gap[s] = (s + 1) % 8 ? 1 : (s + 1) % 64 ? 10 : 100;
    }
    MUST(nw_hierarchy_from_gaps(hierarchy, gap, place, slots, &is_hierarchy));
    assert_true(is_hierarchy);
    free(gap);
    free(place);
}

static int by_size(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

static void assert_sizes(const struct nw_stencil *stencil,
                         const struct grid *grid)
{
    struct grid sorted = *grid;
    int found[NW_STENCIL_DIMS];

    assert_int_equal(stencil->dims, grid->dims);
    for (int d = 0; d < grid->dims; d++)
        found[d] = stencil->size[d];
    qsort(found, (size_t)grid->dims, sizeof *found, by_size);
    qsort(sorted.size, (size_t)grid->dims, sizeof *found, by_size);
    assert_memory_equal(found, sorted.size, (size_t)grid->dims * sizeof *found);
}

static void assert_found(const struct grid *grid)
{
    struct nw_assignment assignment;
    struct nw_hierarchy hierarchy;
    struct nw_stencil stencil;
    int32_t n = cells_of(grid), *order;
    bool found;

    open_hierarchy(n, &hierarchy);
    open_assignment(grid, &hierarchy, &assignment);
    MUST(nw_alloc((size_t)n, sizeof *order, &order));
    MUST(nw_stencil_find_unordered(&assignment, order, &found));
    assert_true(found);
    MUST(nw_assignment_renumber(&assignment, order));
    assert_memory_equal(assignment.name, order, (size_t)n * sizeof *order);
    for (int32_t i = 0; i < n; i++)
        assert_int_equal(assignment.slot[i], order[i]);
    MUST(nw_stencil_find(&assignment, &stencil, &found));
    assert_true(found && stencil.uniform);
    assert_sizes(&stencil, grid);
    free(order);
    nw_assignment_fini(&assignment);
    nw_hierarchy_fini(&hierarchy);
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
        {3, {25, 23, 22}, {false}, DIAGONALS}, /* divided among threads */
    };

    (void)state;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        assert_found(&grids[i]);
}

/* The result is boxes of 4 x 4 x 4 that consist of boxes of 2 x 2 x 2. Between
 * two layers of cells are 64 pairs of neighbours. In each dimension, the pairs
 * of one such plane cost 100 per byte, those of two planes cost 10, and those
 * of four planes cost 1. */
static void test_what_was_dealt_anew_is_cut_as_before(void **state)
{
    static const struct grid grid = {3, {8, 8, 8}, {false}, FACES};
    struct nw_best_embedding try = {0};
    struct nw_assignment assignment;
    struct nw_hierarchy hierarchy;

    (void)state;
    open_hierarchy(512, &hierarchy);
    open_assignment(&grid, &hierarchy, &assignment);
    try.cost = nw_assignment_cost(&assignment);
    MUST(nw_assignment_best_embedding(&assignment, &try));
    assert_true(try.found);
    assert_float_equal(nw_assignment_cost(&assignment),
                       3 * 64 * (100 + 2 * 10 + 4 * 1) * BYTES, 1e-6);
    nw_assignment_fini(&assignment);
    nw_hierarchy_fini(&hierarchy);
}

/* The grid has 3840 edges. A box of 8 cells is a cube of 2 in three dimensions
 * and contains 12 edges. A box of 64 cells is 4 x 2 x 2 x 2 x 2 and contains
 * 176 edges; a box of 4 x 4 x 2 x 2 would contain 160. */
static void test_five_dimensions_lie_in_boxes(void **state)
{
    static const struct grid grid = {5, {4, 4, 4, 4, 4}, {false}, FACES};
    struct nw_best_embedding try = {0};
    struct nw_assignment assignment;
    struct nw_hierarchy hierarchy;

    (void)state;
    open_hierarchy(1024, &hierarchy);
    open_assignment(&grid, &hierarchy, &assignment);
    try.cost = nw_assignment_cost(&assignment);
    MUST(nw_assignment_best_embedding(&assignment, &try));
    assert_true(try.found && try.boxed);
    assert_int_equal(try.stencil.dims, 5);
    assert_float_equal(
        nw_assignment_cost(&assignment),
        (128 * 12 + (16 * 176 - 128 * 12) * 10 + (3840 - 16 * 176) * 100) *
            BYTES,
        1e-6);
    nw_assignment_fini(&assignment);
    nw_hierarchy_fini(&hierarchy);
}

/* Chains of few cells can be taken for grids of three or four dimensions by
 * chance: with any numbers, all edges but those from one group of eight to the
 * next cost 1 per byte. */
static void test_short_chains_are_no_other_grid(void **state)
{
    struct grid grid = {1, {0}, {false}, FACES, 0};

    (void)state;
    for (grid.size[0] = 16; grid.size[0] <= 56; grid.size[0] += 2)
        for (grid.seed = 0; grid.seed < 20; grid.seed++) {
            int ends = (grid.size[0] - 1) / 8;
            struct nw_best_embedding try = {0};
            struct nw_assignment assignment;
            struct nw_hierarchy hierarchy;

            open_hierarchy(grid.size[0], &hierarchy);
            open_assignment(&grid, &hierarchy, &assignment);
            try.cost = nw_assignment_cost(&assignment);
            MUST(nw_assignment_best_embedding(&assignment, &try));
            assert_true(try.found);
            assert_int_equal(try.stencil.dims, 1);
            assert_float_equal(nw_assignment_cost(&assignment),
                               (grid.size[0] - 1 + 9 * ends) * BYTES, 1e-6);
            nw_assignment_fini(&assignment);
            nw_hierarchy_fini(&hierarchy);
        }
}

/* If two pairs exchange partners, all degrees stay, but the graph is no longer
 * a grid. */
static void test_what_is_no_grid_keeps_its_numbers(void **state)
{
    static const struct grid grid = {2, {20, 20}, {true, true}, FACES};
    struct nw_best_embedding try = {0};
    struct nw_assignment assignment;
    struct nw_hierarchy hierarchy;
    struct nw_undirected_edge *edge;
    int32_t a = 0, b, c = 200, d;

    (void)state;
    open_hierarchy(400, &hierarchy);
    open_assignment(&grid, &hierarchy, &assignment);
    edge = assignment.edge;
    b = edge[assignment.row[a]].peer;
    d = edge[assignment.row[c]].peer;
    for (size_t i = 0; i < assignment.row[400]; i++) {
        int32_t p = (int32_t)(i / 4), q = edge[i].peer;

        if ((p == a && q == b) || (p == d && q == c))
            edge[i].peer = p == a ? c : b;
        else if ((p == b && q == a) || (p == c && q == d))
            edge[i].peer = p == b ? d : a;
    }
    try.cost = nw_assignment_cost(&assignment);
    MUST(nw_assignment_best_embedding(&assignment, &try));
    assert_false(try.found);
    assert_null(assignment.name);
    nw_assignment_fini(&assignment);
    nw_hierarchy_fini(&hierarchy);
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
