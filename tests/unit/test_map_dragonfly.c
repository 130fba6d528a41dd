/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids divided over the groups of a dragonfly whose links between groups are
 * so slow that they alone count: the best of all divisions is found; where
 * nothing less is asked for than there is, and elsewhere, ranks stay. */
#include <nodewise/map.h>

#include "map/groups/dragonfly.h"
#include "support/slots.h"

#include <math.h>

#include <stdlib.h>
#include <string.h>

#define RANKS 12
#define GROUPS 3
#define ROOM 4    /* ranks of a group, one a node */
#define SLOW 1e-9 /* s a byte between two groups */

static enum nw_paired pair(struct seated *bench, double below)
{
    struct nw_aim aim = {.first = NW_OBJECTIVE_CONGESTION,
                         .second = NW_OBJECTIVE_HOP_BYTES};
    enum nw_paired paired;

    MUST(nw_seats_pair(&bench->seats, &aim, below, &paired));
    return paired;
}

static void check_unmoved(const struct seated *bench)
{
    seated_check(&bench->seats);
    for (int32_t r = 0; r < bench->seats.rank_count; r++)
        assert_int_equal(bench->seats.seat[r], r);
}

static void check_most(const struct seated *bench, double expected)
{
    struct nw_ledger ledger;
    double most;

    MUST(nw_ledger_init(&ledger, &bench->seats,
                        (struct nw_ledger_wants){.links = true}));
    most = nw_ledger_most(&ledger);
    nw_ledger_fini(&ledger);
    assert_true(fabs(most - expected) <= 1e-6 * expected);
}

/* s of the fullest of the ways from one group to another. */
static double fullest(const struct nw_seats *seats, const int *group)
{
    double load[GROUPS][GROUPS] = {{0}}, most = 0;

    for (int r = 0; r < RANKS; r++)
        for (size_t t = seats->row[r]; t < seats->row[r + 1]; t++)
            load[group[r]][group[seats->tie[t].peer]] += seats->tie[t].out;
    for (int p = 0; p < GROUPS; p++)
        for (int q = 0; q < GROUPS; q++)
            most = p == q ? most : fmax(most, load[p][q]);
    return most * SLOW;
}

/* The least of all divisions. */
static double least_fullest(const struct nw_seats *seats, int *group, int rank,
                            int *room)
{
    double least = INFINITY;

    if (rank == RANKS)
        return fullest(seats, group);
    for (int p = 0; p < GROUPS; p++) {
        if (!room[p])
            continue;
        room[p]--;
        group[rank] = p;
        least = fmin(least, least_fullest(seats, group, rank + 1, room));
        room[p]++;
    }
    return least;
}

static double best_of_all(const struct nw_seats *seats)
{
    int group[RANKS], room[GROUPS] = {ROOM, ROOM, ROOM};

    return least_fullest(seats, group, 0, room);
}

/* Two squares and a row: two bonds between each two. No group has more than
 * four bonds inside, so five of the 17 are between three pairs at least. */
static void squares_and_a_row(void **state)
{
    struct seated bench;

    (void)state;
    seated_begin(&bench, "dragonfly_slow.yaml",
                 generate("stencil2d5:dims=4x3,bytes=1000"));
    assert_int_equal(pair(&bench, INFINITY), NW_PAIRED);
    seated_check(&bench.seats);
    check_most(&bench, 2000 * SLOW);
    seated_end(&bench);
}

static void check_best(const char *specification)
{
    struct seated bench;
    double least;

    seated_begin(&bench, "dragonfly_slow.yaml", generate(specification));
    least = best_of_all(&bench.seats);
    assert_int_equal(pair(&bench, least), NW_PAIRED_IN_VAIN);
    check_unmoved(&bench);
    assert_int_equal(pair(&bench, least * 1.01), NW_PAIRED);
    seated_check(&bench.seats);
    check_most(&bench, least);
    seated_end(&bench);
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
    struct seated bench;
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 1);
    seated_begin(&bench, "dragonfly_slow.yaml",
                 random_graph(&random, RANKS, 48));
    assert_int_equal(pair(&bench, INFINITY), NW_PAIRED_NOT);
    check_unmoved(&bench);
    seated_end(&bench);
    seated_begin(&bench, "three_switches.yaml",
                 generate("stencil2d5:dims=4x3,bytes=1000"));
    assert_int_equal(pair(&bench, INFINITY), NW_PAIRED_NOT);
    check_unmoved(&bench);
    seated_end(&bench);
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
