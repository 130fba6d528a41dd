/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of slicing trees, which divide grids into parts. Small grids are
 * divided as well as by any division, with equal or unequal parts and with
 * spare space in parts. A grid of 12x12 cells is divided into six parts better
 * than into boxes, and as well as a division found by hand. */
#include "map/common/budget.h"
#include "map/groups/slicing_tree.h"
#include "support/machine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define RANKS_MAX 144
#define PARTS_MAX 6

struct grid {
    struct nw_stencil stencil;
    struct nw_problem problem;
    struct nw_budget budget;
    struct nw_slots slots;
    struct nw_directed_edge edge[4 * RANKS_MAX];
    size_t row[RANKS_MAX + 1];
    int32_t part[RANKS_MAX];
    int32_t first[PARTS_MAX + 1]; /* room of the parts */
};

static void add_edge(struct grid *grid, size_t *at, int32_t peer)
{
    grid->edge[(*at)++] =
        (struct nw_directed_edge){.peer = peer, .out = 1, .in = 1};
}

static void begin(struct grid *grid, int32_t rows, int32_t columns,
                  uint64_t steps)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    int32_t n = rows * columns;
    size_t at = 0;

    memset(grid, 0, sizeof *grid);
    options.steps = steps;
    nw_budget_init(&grid->budget, &options);
    grid->problem.options = options;
    grid->problem.budget = &grid->budget;
    grid->stencil = (struct nw_stencil){
        .dims = 2, .size = {rows, columns}, .stride = {columns, 1}};
    grid->slots.problem = &grid->problem;
    grid->slots.rank_count = n;
    grid->slots.row = grid->row;
    grid->slots.edge = grid->edge;
    for (int32_t r = 0; r < n; r++) {
        if (r >= columns)
            add_edge(grid, &at, r - columns);
        if (r % columns)
            add_edge(grid, &at, r - 1);
        if (r % columns < columns - 1)
            add_edge(grid, &at, r + 1);
        if (r + columns < n)
            add_edge(grid, &at, r + columns);
        grid->row[r + 1] = at;
    }
}

/* Divides the ranks in their order; returns what the part that sends most
 * sends. */
static double divide(struct grid *grid, struct nw_best_division *division,
                     int32_t parts, const int32_t *capacity)
{
    double leaving[RANKS_MAX] = {0};
    int32_t n = grid->slots.rank_count, part[RANKS_MAX];

    for (int32_t p = 0; p < parts; p++) {
        grid->first[p + 1] = grid->first[p] + capacity[p];
        for (int32_t r = grid->first[p]; r < n && r < grid->first[p + 1]; r++)
            part[r] = p;
    }
    for (int32_t r = 0; r < n; r++)
        for (size_t t = grid->row[r]; t < grid->row[r + 1]; t++)
            if (part[grid->edge[t].peer] != part[r])
                leaving[part[r]] += 2;
    *division = (struct nw_best_division){
        .parts = parts, .part = grid->part, .least = INFINITY};
    nw_best_division_keep(division, part, leaving, n);
    return division->least;
}

/* Checks that no part exceeds its capacity, and that the parts send what the
 * division reports. */
static void check_division(const struct grid *grid,
                           const struct nw_best_division *division)
{
    double leaving[RANKS_MAX] = {0}, most = 0;
    int32_t size[RANKS_MAX] = {0}, n = grid->slots.rank_count;

    for (int32_t r = 0; r < n; r++) {
        size[grid->part[r]]++;
        for (size_t t = grid->row[r]; t < grid->row[r + 1]; t++)
            if (grid->part[grid->edge[t].peer] != grid->part[r])
                leaving[grid->part[r]] += 2;
    }
    for (int32_t p = 0; p < division->parts; p++) {
        assert_true(size[p] <= grid->first[p + 1] - grid->first[p]);
        most = fmax(most, leaving[p]);
    }
    assert_float_equal(division->least, most, 1e-9);
}

static void try_all(const struct grid *grid, int32_t *part, int32_t rank,
                    int32_t *capacity, double *least)
{
    double leaving[3] = {0};
    int32_t n = grid->slots.rank_count;

    for (int p = 0; rank < n && p < 3; p++) {
        if (!capacity[p])
            continue;
        capacity[p]--;
        part[rank] = p;
        try_all(grid, part, rank + 1, capacity, least);
        capacity[p]++;
    }
    if (rank < n)
        return;
    for (int32_t r = 0; r < n; r++)
        for (size_t t = grid->row[r]; t < grid->row[r + 1]; t++)
            if (part[grid->edge[t].peer] != part[r])
                leaving[part[r]] += 2;
    *least = fmin(*least, fmax(leaving[0], fmax(leaving[1], leaving[2])));
}

static void small_ones_are_the_best(void **state)
{
    static const struct {
        int32_t rows, columns, capacity[3];
    } shape[] = {{4, 3, {4, 4, 4}}, {6, 2, {4, 4, 4}}, {3, 3, {3, 3, 3}},
                 {4, 3, {2, 7, 3}}, {6, 2, {1, 6, 5}}, {3, 3, {4, 4, 4}},
                 {4, 3, {3, 8, 5}}};

    (void)state;
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        int32_t part[RANKS_MAX], capacity[3];
        struct nw_best_division division;
        double least = INFINITY;
        struct grid grid;

        begin(&grid, shape[i].rows, shape[i].columns, 20000);
        divide(&grid, &division, 3, shape[i].capacity);
        MUST(
            nw_slicing_tree(&grid.slots, &grid.stencil, grid.first, &division));
        check_division(&grid, &division);
        memcpy(capacity, shape[i].capacity, sizeof capacity);
        try_all(&grid, part, 0, capacity, &least);
        assert_float_equal(division.least, least, 1e-9);
    }
}

/* With boxes of 6x4, the two in the middle have 6 + 6 + 4 edges outwards in
 * each direction. A box of 4x6 at the rim between two parts that reach around
 * it has 14, and these have 15. */
static void the_middle_keeps_to_the_rim(void **state)
{
    struct nw_best_division division;
    struct grid grid;

    (void)state;
    begin(&grid, 12, 12, 400000);
    assert_float_equal(
        divide(&grid, &division, 6, (int32_t[]){24, 24, 24, 24, 24, 24}), 48,
        1e-9);
    MUST(nw_slicing_tree(&grid.slots, &grid.stencil, grid.first, &division));
    check_division(&grid, &division);
    assert_true(division.least <= 30);
}

/* A division that is already optimal stays unchanged. */
static void better_ones_only(void **state)
{
    struct nw_best_division division;
    struct grid grid;

    (void)state;
    begin(&grid, 4, 1, 2000);
    divide(&grid, &division, 2, (int32_t[]){2, 2});
    MUST(nw_slicing_tree(&grid.slots, &grid.stencil, grid.first, &division));
    check_division(&grid, &division);
    assert_float_equal(division.least, 2, 1e-9);
    for (int32_t r = 0; r < 4; r++)
        assert_int_equal(grid.part[r], r / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones_are_the_best),
        cmocka_unit_test(the_middle_keeps_to_the_rim),
        cmocka_unit_test(better_ones_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
