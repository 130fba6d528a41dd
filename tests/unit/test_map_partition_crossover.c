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
#define SEATS (2 * (HALF + SPARE))
#define CASES 400

struct fixture {
    struct nw_tree tree;
    struct nw_layout layout;
    double bytes[COUNT][COUNT];
    int32_t seat[2][COUNT];
};

/* Pairs or threes of seats, two of those a cluster or so, two halves. */
static void grow_tree(struct fixture *it, struct nw_random *random)
{
    int32_t place[SEATS];
    double gap[SEATS];
    bool is_tree;

    for (int32_t s = 0; s < SEATS; s++) {
        place[s] = s;
        gap[s] = s + 1 == SEATS / 2 ? 7 : nw_random_below(random, 2) ? 1 : 3;
    }
    MUST(nw_tree_from_gaps(&it->tree, gap, place, SEATS, &is_tree));
    assert_true(is_tree);
}

static void add_bonds(struct fixture *it, struct nw_random *random, int bonds)
{
    struct nw_layout *layout = &it->layout;

    memset(it->bytes, 0, sizeof it->bytes);
    for (int i = 0; i < bonds; i++) {
        int32_t a = (int32_t)nw_random_below(random, COUNT);
        int32_t b = (int32_t)nw_random_below(random, COUNT);

        if (a != b)
            it->bytes[a][b] = it->bytes[b][a] =
                1 + (double)nw_random_below(random, 9);
    }
    for (int32_t a = 0; a < COUNT; a++) {
        size_t at = layout->row[a];

        for (int32_t b = 0; b < COUNT; b++)
            if (it->bytes[a][b] > 0)
                layout->bond[at++] = (struct nw_bond){b, it->bytes[a][b]};
        layout->row[a + 1] = at;
    }
}

/* Each half within itself; now and then a few alone leave the first way. */
static void seat_halves(struct fixture *it, struct nw_random *random)
{
    int32_t order[HALF + SPARE];

    for (int way = 0; way < 2; way++)
        for (int32_t half = 0; half < 2; half++) {
            for (int32_t i = 0; i < HALF + SPARE; i++)
                order[i] = half * (HALF + SPARE) + i;
            nw_random_shuffle(random, order, HALF + SPARE);
            memcpy(it->seat[way] + (size_t)half * HALF, order,
                   HALF * sizeof *order);
        }
    if (nw_random_below(random, 2)) {
        memcpy(it->seat[1], it->seat[0], sizeof it->seat[1]);
        for (int32_t p = 0; p < COUNT; p += HALF) {
            it->seat[1][p] = it->seat[0][p + 1];
            it->seat[1][p + 1] = it->seat[0][p];
        }
    }
}

/* Pair by pair, by the smallest subtree that holds both. */
static double price(const struct fixture *it, const int32_t *seat)
{
    const struct nw_tree *tree = &it->tree;
    double sum = 0;

    for (int32_t a = 0; a < COUNT; a++)
        for (int32_t b = 0; b < COUNT; b++) {
            int level = 0;

            while (tree->cluster[level][seat[a]] !=
                   tree->cluster[level][seat[b]])
                level++;
            sum += it->bytes[a][b] * tree->distance[level];
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

            memcpy(mixed, it->seat[left], HALF * sizeof *mixed);
            memcpy(mixed + HALF, it->seat[right] + HALF, HALF * sizeof *mixed);
            cost = price(it, mixed);
            found = cost < found ? cost : found;
        }
    return found;
}

static void begin(struct fixture *it, uint64_t seed)
{
    struct nw_random random;

    nw_random_init(&random, seed);
    grow_tree(it, &random);
    it->layout = (struct nw_layout){.tree = &it->tree, .count = COUNT};
    MUST(nw_alloc(COUNT + 1, sizeof(size_t), &it->layout.row));
    MUST(nw_alloc((size_t)COUNT * COUNT, sizeof(struct nw_bond),
                  &it->layout.bond));
    MUST(nw_alloc(COUNT, sizeof(int32_t), &it->layout.seat));
    MUST(nw_alloc(COUNT, sizeof(uint64_t), &it->layout.at));
    MUST(nw_alloc(SEATS, sizeof(int32_t), &it->layout.process));
    MUST(nw_alloc(SEATS, sizeof(bool), &it->layout.fixed));
    add_bonds(it, &random, 20 + (int)nw_random_below(&random, 60));
    seat_halves(it, &random);
    nw_layout_seat(&it->layout, it->seat[0]);
}

static void end(struct fixture *it)
{
    nw_layout_fini(&it->layout);
    nw_tree_fini(&it->tree);
}

static void assert_seated(const struct nw_layout *layout)
{
    int32_t taken = 0;

    for (int32_t p = 0; p < COUNT; p++)
        assert_int_equal(layout->process[layout->seat[p]], p);
    for (int32_t s = 0; s < SEATS; s++)
        taken += layout->process[s] >= 0;
    assert_int_equal(taken, COUNT);
}

static void test_each_half_is_as_the_better_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct fixture it;
        double cost;

        begin(&it, seed);
        cost = price(&it, it.seat[0]);
        MUST(nw_graft(&it.layout, it.seat[1], &cost));
        assert_seated(&it.layout);
        assert_true(price(&it, it.layout.seat) == cost);
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
        for (int32_t s = 0; s < SEATS; s++) {
            int32_t p = it.layout.process[s];

            it.layout.fixed[s] = p < 0 ? true : it.seat[1][p] == s;
        }
        for (int32_t p = 0; p < COUNT; p++)
            if (it.layout.process[it.seat[1][p]] < 0)
                it.layout.fixed[it.seat[1][p]] = false;
        cost = price(&it, it.seat[0]);
        MUST(nw_graft(&it.layout, it.seat[1], &cost));
        assert_seated(&it.layout);
        for (int32_t s = 0; s < SEATS; s++)
            if (it.layout.fixed[s] && it.layout.process[s] >= 0)
                assert_int_equal(it.seat[0][it.layout.process[s]], s);
            else if (it.layout.fixed[s])
                assert_int_equal(it.layout.process[s], -1);
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
