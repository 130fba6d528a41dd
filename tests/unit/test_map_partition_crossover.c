/* SPDX-License-Identifier: BSD-3-Clause */
/* Two seatings grafted together: the halves of a machine, each seated in two
 * ways, cost what the better way of each half costs, priced pair by pair. */
#include "base/random.h"
#include "map/hierarchy/partition_crossover.h"
#include "support/machine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HALF 12
#define COUNT (2 * HALF)
#define SPARE 2 /* free seats of each half */
#define SLOTS (2 * (HALF + SPARE))
#define CASES 400

struct fixture {
    struct nw_hierarchy hierarchy;
    struct nw_assignment assignment;
    double bytes[COUNT][COUNT];
    int32_t slot[2][COUNT];
};

/* Pairs or threes of seats, two of those a cluster or so, two halves. */
static void grow_hierarchy(struct fixture *it, struct nw_random *random)
{
    int32_t place[SLOTS];
    double gap[SLOTS];
    bool is_hierarchy;

    for (int32_t s = 0; s < SLOTS; s++) {
        place[s] = s;
        gap[s] = s + 1 == SLOTS / 2 ? 7 : nw_random_below(random, 2) ? 1 : 3;
    }
    MUST(nw_hierarchy_from_gaps(&it->hierarchy, gap, place, SLOTS,
                                &is_hierarchy));
    assert_true(is_hierarchy);
}

static void add_edges(struct fixture *it, struct nw_random *random, int edges)
{
    struct nw_assignment *assignment = &it->assignment;

    memset(it->bytes, 0, sizeof it->bytes);
    for (int i = 0; i < edges; i++) {
        int32_t a = (int32_t)nw_random_below(random, COUNT);
        int32_t b = (int32_t)nw_random_below(random, COUNT);

        if (a != b)
            it->bytes[a][b] = it->bytes[b][a] =
                1 + (double)nw_random_below(random, 9);
    }
    for (int32_t a = 0; a < COUNT; a++) {
        size_t at = assignment->row[a];

        for (int32_t b = 0; b < COUNT; b++)
            if (it->bytes[a][b] > 0)
                assignment->edge[at++] =
                    (struct nw_undirected_edge){b, it->bytes[a][b]};
        assignment->row[a + 1] = at;
    }
}

/* Each half within itself; now and then a few alone leave the first way. */
static void slot_halves(struct fixture *it, struct nw_random *random)
{
    int32_t order[HALF + SPARE];

    for (int way = 0; way < 2; way++)
        for (int32_t half = 0; half < 2; half++) {
            for (int32_t i = 0; i < HALF + SPARE; i++)
                order[i] = half * (HALF + SPARE) + i;
            nw_random_shuffle(random, order, HALF + SPARE);
            memcpy(it->slot[way] + (size_t)half * HALF, order,
                   HALF * sizeof *order);
        }
    if (nw_random_below(random, 2)) {
        memcpy(it->slot[1], it->slot[0], sizeof it->slot[1]);
        for (int32_t p = 0; p < COUNT; p += HALF) {
            it->slot[1][p] = it->slot[0][p + 1];
            it->slot[1][p + 1] = it->slot[0][p];
        }
    }
}

/* Pair by pair, by the smallest subtree that holds both. */
static double price(const struct fixture *it, const int32_t *slot)
{
    const struct nw_hierarchy *hierarchy = &it->hierarchy;
    double sum = 0;

    for (int32_t a = 0; a < COUNT; a++)
        for (int32_t b = 0; b < COUNT; b++) {
            int level = 0;

            while (hierarchy->cluster[level][slot[a]] !=
                   hierarchy->cluster[level][slot[b]])
                level++;
            sum += it->bytes[a][b] * hierarchy->distance[level];
        }
    return sum / 2;
}

/* The least of the four ways to seat two halves. */
static double least(const struct fixture *it)
{
    int32_t mixed[COUNT];
    double found = INFINITY;

    for (int left = 0; left < 2; left++)
        for (int right = 0; right < 2; right++) {
            double cost;

            memcpy(mixed, it->slot[left], HALF * sizeof *mixed);
            memcpy(mixed + HALF, it->slot[right] + HALF, HALF * sizeof *mixed);
            cost = price(it, mixed);
            found = cost < found ? cost : found;
        }
    return found;
}

static void begin(struct fixture *it, uint64_t seed)
{
    struct nw_random random;

    nw_random_init(&random, seed);
    grow_hierarchy(it, &random);
    it->assignment =
        (struct nw_assignment){.hierarchy = &it->hierarchy, .count = COUNT};
    MUST(nw_alloc(COUNT + 1, sizeof(size_t), &it->assignment.row));
    MUST(nw_alloc((size_t)COUNT * COUNT, sizeof(struct nw_undirected_edge),
                  &it->assignment.edge));
    MUST(nw_alloc(COUNT, sizeof(int32_t), &it->assignment.slot));
    MUST(nw_alloc(COUNT, sizeof(uint64_t), &it->assignment.at));
    MUST(nw_alloc(SLOTS, sizeof(int32_t), &it->assignment.process));
    MUST(nw_alloc(SLOTS, sizeof(bool), &it->assignment.fixed));
    add_edges(it, &random, 20 + (int)nw_random_below(&random, 60));
    slot_halves(it, &random);
    nw_assignment_set(&it->assignment, it->slot[0]);
}

static void end(struct fixture *it)
{
    nw_assignment_fini(&it->assignment);
    nw_hierarchy_fini(&it->hierarchy);
}

static void assert_assigned(const struct nw_assignment *assignment)
{
    int32_t taken = 0;

    for (int32_t p = 0; p < COUNT; p++)
        assert_int_equal(assignment->process[assignment->slot[p]], p);
    for (int32_t s = 0; s < SLOTS; s++)
        taken += assignment->process[s] >= 0;
    assert_int_equal(taken, COUNT);
}

static void test_each_half_is_as_the_better_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct fixture it;
        double cost;

        begin(&it, seed);
        cost = price(&it, it.slot[0]);
        MUST(nw_partition_crossover(&it.assignment, it.slot[1], &cost));
        assert_assigned(&it.assignment);
        assert_true(price(&it, it.assignment.slot) == cost);
        assert_true(cost <= least(&it));
        end(&it);
    }
}

/* Who is fixed stays, and nobody comes to a seat that is kept free. */
static void test_what_is_fixed_stays(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct fixture it;
        double cost;

        begin(&it, seed);
        for (int32_t s = 0; s < SLOTS; s++) {
            int32_t p = it.assignment.process[s];

            it.assignment.fixed[s] = p < 0 ? true : it.slot[1][p] == s;
        }
        for (int32_t p = 0; p < COUNT; p++)
            if (it.assignment.process[it.slot[1][p]] < 0)
                it.assignment.fixed[it.slot[1][p]] = false;
        cost = price(&it, it.slot[0]);
        MUST(nw_partition_crossover(&it.assignment, it.slot[1], &cost));
        assert_assigned(&it.assignment);
        for (int32_t s = 0; s < SLOTS; s++)
            if (it.assignment.fixed[s] && it.assignment.process[s] >= 0)
                assert_int_equal(it.slot[0][it.assignment.process[s]], s);
            else if (it.assignment.fixed[s])
                assert_int_equal(it.assignment.process[s], -1);
        end(&it);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_half_is_as_the_better_one),
        cmocka_unit_test(test_what_is_fixed_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
