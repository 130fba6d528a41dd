/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of power diagrams, which make round parts: the sizes of the parts stay
 * for any points, clouds of points that are far apart become one part each, and
 * parts of a ring are arcs. */
#include "base/random.h"
#include "map/stencil/power_diagram.h"
#include "support/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX 4000
#define PARTS_MAX 70

static float at[NW_STENCIL_DIMS][MAX];
static int32_t part[MAX];

static struct nw_power_diagram round_of(int32_t n, int32_t parts, int dims)
{
    struct nw_power_diagram round = {.n = n,
                                     .parts = parts,
                                     .dims = dims,
                                     .seed = 1,
                                     .threads = 1,
                                     .part = part};

    for (int d = 0; d < dims; d++)
        round.at[d] = at[d];
    return round;
}

/* The cells of a grid or random points, in parts of nearly equal or random
 * sizes. */
static struct nw_power_diagram random_round(struct nw_random *random)
{
    int32_t parts = 2 + (int32_t)nw_random_below(random, PARTS_MAX - 1);
    int32_t n = parts + (int32_t)nw_random_below(random, MAX - parts + 1);
    int dims = 1 + (int)nw_random_below(random, NW_STENCIL_DIMS);
    struct nw_power_diagram round = round_of(n, parts, dims);
    bool cells = nw_random_below(random, 2), even = nw_random_below(random, 2);

    for (int d = 0; d < dims; d++) {
        round.ring[d] = nw_random_below(random, 3) ? 0 : 10;
        for (int32_t i = 0; i < n; i++)
            at[d][i] = cells ? (float)nw_random_below(random, 10)
                             : (float)(10 * nw_random_unit(random));
    }
    for (int32_t i = 0; i < n; i++)
        part[i] = even || i < parts
                      ? i % parts
                      : (int32_t)nw_random_below(random, (uint64_t)parts);
    round.seed = nw_random_next(random);
    return round;
}

static void count_parts(int32_t n, int32_t parts, int32_t *size)
{
    memset(size, 0, (size_t)parts * sizeof *size);
    for (int32_t i = 0; i < n; i++) {
        assert_in_range(part[i], 0, parts - 1);
        size[part[i]]++;
    }
}

static void test_sizes_stay(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 5);
    for (int i = 0; i < 60; i++) {
        struct nw_power_diagram round = random_round(&random);
        int32_t before[PARTS_MAX], after[PARTS_MAX];

        count_parts(round.n, round.parts, before);
        MUST(nw_power_diagram(&round));
        count_parts(round.n, round.parts, after);
        assert_memory_equal(before, after,
                            (size_t)round.parts * sizeof *before);
    }
}

static void test_threads_change_nothing(void **state)
{
    static int32_t start[MAX], alone[MAX];
    struct nw_random random;
    struct nw_power_diagram round;

    (void)state;
    nw_random_init(&random, 6);
    do
        round = random_round(&random);
    while ((double)round.n * round.parts < 120000);
    memcpy(start, part, sizeof start);
    MUST(nw_power_diagram(&round));
    memcpy(alone, part, sizeof alone);
    memcpy(part, start, sizeof part);
    round.threads = 3;
    MUST(nw_power_diagram(&round));
    assert_memory_equal(alone, part, (size_t)round.n * sizeof *part);
}

static void test_clouds_part(void **state)
{
    const int32_t each = 50;
    struct nw_power_diagram round = round_of(2 * each, 2, 3);
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 7);
    for (int32_t i = 0; i < 2 * each; i++) {
        part[i] = i % 2;
        for (int d = 0; d < 3; d++)
            at[d][i] = (float)(nw_random_unit(&random) + (i < each ? 0 : 20));
    }
    MUST(nw_power_diagram(&round));
    for (int32_t i = 1; i < each; i++) {
        assert_int_equal(part[i], part[0]);
        assert_int_equal(part[each + i], part[each]);
    }
}

/* A part that contains the place where the coordinates of the ring wrap around
 * is one arc, too. */
static void test_rings_part_in_arcs(void **state)
{
    const int32_t n = 60, parts = 4;
    struct nw_power_diagram round = round_of(n, parts, 1);
    int borders = 0;

    (void)state;
    round.ring[0] = (float)n;
    for (int32_t i = 0; i < n; i++) {
        at[0][i] = (float)i;
        part[i] = (i + 7) / (n / parts) % parts;
    }
    MUST(nw_power_diagram(&round));
    for (int32_t i = 0; i < n; i++)
        borders += part[i] != part[(i + 1) % n];
    assert_int_equal(borders, parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_stay),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_clouds_part),
        cmocka_unit_test(test_rings_part_in_arcs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
