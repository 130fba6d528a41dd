/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of grids that are divided over the groups of a dragonfly. The links
 * between groups are so slow that only they matter, and the best of all
 * divisions is found. Ranks stay if no smaller congestion than the present one
 * is requested, and on other networks. */
#include <nodewise/map.h>

#include "map/groups/dragonfly.h"
#include "support/slots.h"

#include <math.h>

#include <stdlib.h>
#include <string.h>

#define RANKS 12
#define GROUPS 3
#define CAPACITY 4 /* ranks of a group, one per node */
#define SLOW 1e-9  /* seconds per byte between two groups */

static enum nw_dragonfly_result pair(struct assigned *bench, double below)
{
    struct nw_objectives objectives = {.first = NW_OBJECTIVE_CONGESTION,
                                       .second = NW_OBJECTIVE_HOP_BYTES};
    enum nw_dragonfly_result paired;

    MUST(nw_slots_divide_dragonfly(&bench->slots, &objectives, below, &paired));
    return paired;
}

static void check_unmoved(const struct assigned *bench)
{
    assigned_check(&bench->slots);
    for (int32_t r = 0; r < bench->slots.rank_count; r++)
        assert_int_equal(bench->slots.slot[r], r);
}

static void check_most(const struct assigned *bench, double expected)
{
    struct nw_link_loads loads;
    double most;

    MUST(nw_link_loads_init(&loads, &bench->slots,
                            (struct nw_link_loads_wants){.links = true}));
    most = nw_link_loads_max(&loads);
    nw_link_loads_fini(&loads);
    assert_true(fabs(most - expected) <= 1e-6 * expected);
}

/* The time in seconds of the most loaded of the connections from one group to
 * another. */
static double fullest(const struct nw_slots *slots, const int *group)
{
    double load[GROUPS][GROUPS] = {{0}}, most = 0;

    for (int r = 0; r < RANKS; r++)
        for (size_t t = slots->row[r]; t < slots->row[r + 1]; t++)
            load[group[r]][group[slots->edge[t].peer]] += slots->edge[t].out;
    for (int p = 0; p < GROUPS; p++)
        for (int q = 0; q < GROUPS; q++)
            most = p == q ? most : fmax(most, load[p][q]);
    return most * SLOW;
}

/* The least such time of all divisions of the ranks from `rank` on. */
static double least_fullest(const struct nw_slots *slots, int *group, int rank,
                            int *capacity)
{
    double least = INFINITY;

    if (rank == RANKS)
        return fullest(slots, group);
    for (int p = 0; p < GROUPS; p++) {
        if (!capacity[p])
            continue;
        capacity[p]--;
        group[rank] = p;
        least = fmin(least, least_fullest(slots, group, rank + 1, capacity));
        capacity[p]++;
    }
    return least;
}

static double best_of_all(const struct nw_slots *slots)
{
    int group[RANKS], capacity[GROUPS] = {CAPACITY, CAPACITY, CAPACITY};

    return least_fullest(slots, group, 0, capacity);
}

/* The division into two squares and a row has two edges between each two
 * groups. No group can have more than four edges inside, so that at least five
 * of the 17 edges are between the three pairs of groups. */
static void squares_and_a_row(void **state)
{
    struct assigned bench;

    (void)state;
    assigned_begin(&bench, "dragonfly_slow.yaml",
                   generate("stencil2d5:dims=4x3,bytes=1000"));
    assert_int_equal(pair(&bench, INFINITY), NW_DRAGONFLY_DIVIDED);
    assigned_check(&bench.slots);
    check_most(&bench, 2000 * SLOW);
    assigned_end(&bench);
}

static void check_best(const char *specification)
{
    struct assigned bench;
    double least;

    assigned_begin(&bench, "dragonfly_slow.yaml", generate(specification));
    least = best_of_all(&bench.slots);
    assert_int_equal(pair(&bench, least), NW_DRAGONFLY_NO_GAIN);
    check_unmoved(&bench);
    assert_int_equal(pair(&bench, least * 1.01), NW_DRAGONFLY_DIVIDED);
    assigned_check(&bench.slots);
    check_most(&bench, least);
    assigned_end(&bench);
}

static void divisions_are_the_best(void **state)
{
    (void)state;
    check_best("stencil2d5:dims=4x3,bytes=1000,weights=5:2");
    check_best("stencil2d5:dims=6x2,bytes=1000,weights=1:3");
    check_best("stencil3d7:dims=3x2x2,bytes=1000,weights=1:2:4");
    check_best("stencil3d27:dims=3x2x2,bytes=1000");
}

static void others_are_left_alone(void **state)
{
    struct assigned bench;
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 1);
    assigned_begin(&bench, "dragonfly_slow.yaml",
                   random_graph(&random, RANKS, 48));
    assert_int_equal(pair(&bench, INFINITY), NW_DRAGONFLY_NONE);
    check_unmoved(&bench);
    assigned_end(&bench);
    assigned_begin(&bench, "three_switches.yaml",
                   generate("stencil2d5:dims=4x3,bytes=1000"));
    assert_int_equal(pair(&bench, INFINITY), NW_DRAGONFLY_NONE);
    check_unmoved(&bench);
    assigned_end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_and_a_row),
        cmocka_unit_test(divisions_are_the_best),
        cmocka_unit_test(others_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
