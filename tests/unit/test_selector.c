/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the choice between two ways, with made-up times. */
#include "base/selector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Runs `turns` turns in which the two ways take the given times; returns how
 * often way 1 was taken. */
static int play(struct nw_selector *selector, int turns, uint64_t zero,
                uint64_t one)
{
    int taken = 0;

    for (int i = 0; i < turns; i++) {
        bool timed = false;
        int way = nw_selector_pick(selector, &timed);

        if (timed)
            nw_selector_took(selector, way, way ? one : zero);
        taken += way;
    }
    return taken;
}

static void test_better_way_is_kept_to(void **state)
{
    struct nw_selector fast = {0}, slow = {0}, alike = {0};

    (void)state;
    assert_int_equal(play(&fast, 100, 6000, 500), 96);
    assert_int_equal(play(&slow, 100, 500, 6000), 4);
    /* way 1 is faster by less than a twentieth, so that way 0 stays */
    assert_int_equal(play(&alike, 100, 1000, 990), 4);
}

static void test_one_slow_turn_changes_nothing(void **state)
{
    struct nw_selector selector = {0};
    bool timed = false;

    (void)state;
    (void)play(&selector, 8, 6000, 500);
    for (int i = 0; i < 3; i++)
        nw_selector_took(&selector, 1, 100000000);
    assert_int_equal(nw_selector_pick(&selector, &timed), 1);
    assert_false(timed);
}

/* A disturbance of one method does not favour the other method, which is not
 * better. */
static void test_a_disturbed_way_is_kept_to(void **state)
{
    struct nw_selector selector = {0};

    (void)state;
    (void)play(&selector, 8, 1000, 960);
    for (int i = 0; i < 3; i++)
        nw_selector_took(&selector, 0, 2000);
    assert_int_equal(nw_selector_best(&selector), 0);
    assert_false(nw_selector_leads(&selector, 20));
    assert_true(nw_selector_leads(&selector, 26));
}

static void test_what_got_worse_is_left(void **state)
{
    struct nw_selector selector = {0};

    (void)state;
    (void)play(&selector, 100, 6000, 500);
    (void)play(&selector, 256 * 60, 6000, 20000);
    assert_int_equal(nw_selector_best(&selector), 0);
}

static void test_what_lost_is_told(void **state)
{
    struct nw_selector classes[2] = {0};

    (void)state;
    (void)play(classes, 7, 1000, 2600);
    assert_false(nw_selector_is_hopeless(classes, 1)); // not yet sure
    (void)play(classes, 1, 1000, 2600);
    assert_true(nw_selector_is_hopeless(classes, 1));
}

static void test_turns_do_not_run_over(void **state)
{
    struct nw_selector selector = {0};

    (void)state;
    (void)play(&selector, 8, 6000, 500);
    selector.turns = UINT32_MAX - 2;
    (void)play(&selector, 10, 6000, 500);
    assert_true(selector.turns > 8);
    assert_int_equal(nw_selector_best(&selector), 1);
    nw_selector_took(&selector, 0, 0);
    assert_int_equal(selector.least_ns[0], 1);
    for (int i = 0; i < 1000; i++)
        nw_selector_took(&selector, 0, UINT64_MAX);
    assert_true(selector.least_ns[0] > 1u << 30);
}

/* The class of a size is the least c with bytes <= 2^c, but at most the last
 * class. */
static void test_a_class_is_a_power_of_two(void **state)
{
    static const uint64_t bytes[] = {0,
                                     1,
                                     2,
                                     3,
                                     4,
                                     5,
                                     8,
                                     9,
                                     1024,
                                     1025,
                                     (uint64_t)1 << 19,
                                     ((uint64_t)1 << 19) + 1,
                                     UINT64_MAX};
    static const int classes[] = {0, 0, 1, 2, 2, 3, 3, 4, 10, 11, 19, 20, 20};

    (void)state;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        assert_int_equal(nw_selector_class(bytes[i], 21), classes[i]);
    assert_int_equal(nw_selector_class(UINT64_MAX, 80), 64);
    assert_int_equal(nw_selector_class(7, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_better_way_is_kept_to),
        cmocka_unit_test(test_one_slow_turn_changes_nothing),
        cmocka_unit_test(test_a_disturbed_way_is_kept_to),
        cmocka_unit_test(test_what_got_worse_is_left),
        cmocka_unit_test(test_what_lost_is_told),
        cmocka_unit_test(test_turns_do_not_run_over),
        cmocka_unit_test(test_a_class_is_a_power_of_two),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
