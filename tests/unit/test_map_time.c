/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the division of time among searches. The clock of the test advances
 * whenever a search reads it. A search ends when its share of the time is over.
 * A search with a known share ends at a lower temperature than one that is cut
 * off. */
#include <nodewise/map.h>

#include "map/congestion/objectives.h"
#include "map/common/budget.h"
#include "base/random.h"
#include "support/slots.h"

static uint64_t looks;

static uint64_t look(void)
{
    return ++looks;
}

static struct nw_budget begin(uint64_t end)
{
    looks = 0;
    return (struct nw_budget){.effort = NW_EFFORT_DEFAULT,
                              .steps_most = UINT64_MAX,
                              .end_ns = end,
                              .now = look,
                              .threads = 1};
}

static void test_shares_nest(void **state)
{
    struct nw_budget budget = begin(1000);
    uint64_t former[2];

    (void)state;
    assert_int_equal(nw_budget_share(&budget, 0.5), 0); /* no shares were
                                                           begun */
    assert_true(nw_budget_spend(&budget, 1));
    nw_budget_begin_shares(&budget);
    looks = 100;
    former[0] = nw_budget_share(&budget, 0.5); /* to about 550 */
    former[1] = nw_budget_share(&budget, 0.1); /* to about 145 */
    looks = 140;
    assert_true(nw_budget_spend(&budget, 1));
    assert_true(nw_budget_elapsed(&budget, 100) > 0.8);
    looks = 150;
    assert_false(nw_budget_spend(&budget, 1));
    assert_float_equal(nw_budget_elapsed(&budget, 100), 1, 0);
    nw_budget_end_share(&budget, former[1]);
    assert_true(nw_budget_spend(&budget, 1));
    looks = 560;
    assert_false(nw_budget_spend(&budget, 1));
    assert_false(budget.stopped);
    nw_budget_end_share(&budget, former[0]);
    assert_true(nw_budget_spend(&budget, 1));
    looks = 1000;
    assert_false(nw_budget_spend(&budget, 1));
    assert_true(budget.stopped);
    assert_true(budget.hurried);
}

/* The part of the congestion that remains when the search has looked at the
 * clock `end` times. */
static double search(uint64_t end, bool shared, uint64_t seed)
{
    struct nw_budget budget = begin(end);
    struct nw_random random;
    struct nw_link_loads loads;
    struct assigned bench;
    struct nw_objectives objectives;
    double value;

    nw_random_init(&random, seed);
    assigned_begin(&bench, "torus_4x4x4.yaml", random_graph(&random, 64, 320));
    bench.problem.options.objective = NW_OBJECTIVE_CONGESTION;
    bench.problem.budget = &budget;
    objectives = nw_objectives_from_options(&bench.problem);
    if (shared)
        nw_budget_begin_shares(&budget);
    MUST(nw_slots_anneal(&bench.slots, &objectives, NW_SEARCH_FULL));
    assigned_check(&bench.slots);
    assert_true(looks < end + 20);
    MUST(nw_link_loads_init(&loads, &bench.slots,
                            nw_objectives_wants(&objectives)));
    value = nw_link_loads_max(&loads);
    nw_link_loads_fini(&loads);
    assigned_end(&bench);
    return value;
}

/* One of the results may be worse by chance. */
static void test_short_time_is_cooled_through(void **state)
{
    double sum[2] = {0, 0};

    (void)state;
    for (uint64_t end = 20; end <= 40; end *= 2)
        for (uint64_t seed = 1; seed <= 6; seed++)
            for (int shared = 0; shared < 2; shared++)
                sum[shared] += search(end, shared, seed);
    assert_true(sum[1] < sum[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_nest),
        cmocka_unit_test(test_short_time_is_cooled_through),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
