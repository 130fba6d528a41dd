/* SPDX-License-Identifier: BSD-3-Clause */
/* A pattern that is assigned by default to the slots of a machine of the
 * fixtures, for tests of functions that change the assignment. */
#ifndef NW_TESTS_SUPPORT_SEATED_H
#define NW_TESTS_SUPPORT_SEATED_H

#include "map/common/budget.h"
#include "map/congestion/slots.h"
#include "support/machine.h"

#include <nodewise/map.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct assigned {
    nw_topology *topology;
    nw_pattern *pattern;
    struct nw_problem problem;
    struct nw_budget budget;
    struct nw_answer answer;
    struct nw_slots slots;
};

static inline nw_topology *assigned_load(const char *name)
{
    const char *folder = getenv("NW_FIXTURES");
    nw_topology *topology;
    char path[4096];

    assert_non_null(folder);
    snprintf(path, sizeof path, "%s/topology/valid/%s", folder, name);
    MUST(nw_topology_load(path, NULL, &topology));
    return topology;
}

/* Loads the machine and assigns the pattern, which it takes over from the
 * caller. */
static inline void assigned_begin_with(struct assigned *assigned,
                                       const char *machine, nw_pattern *pattern,
                                       const struct nw_map_options *options)
{
    memset(assigned, 0, sizeof *assigned);
    assigned->topology = assigned_load(machine);
    assigned->pattern = pattern;
    MUST(nw_problem_init(&assigned->problem, assigned->topology, pattern,
                         options));
    nw_budget_init(&assigned->budget, &assigned->problem.options);
    assigned->problem.budget = &assigned->budget;
    MUST(nw_answer_init(&assigned->answer, pattern->rank_count));
    MUST(nw_answer_default(&assigned->problem, &assigned->answer));
    MUST(
        nw_slots_init(&assigned->slots, &assigned->problem, &assigned->answer));
}

static inline void assigned_begin(struct assigned *assigned,
                                  const char *machine, nw_pattern *pattern)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;

    assigned_begin_with(assigned, machine, pattern, &options);
}

static inline void assigned_end(struct assigned *assigned)
{
    nw_slots_fini(&assigned->slots);
    nw_answer_fini(&assigned->answer);
    nw_problem_fini(&assigned->problem);
    nw_pattern_free(assigned->pattern);
    nw_topology_free(assigned->topology);
}

/* Checks that the assignment and its inverse agree: the rank of each slot has
 * that slot. */
static inline void assigned_check(const struct nw_slots *slots)
{
    for (int32_t r = 0; r < slots->rank_count; r++) {
        assert_in_range(slots->slot[r], 0, slots->count - 1);
        assert_int_equal(slots->owner[slots->slot[r]], r);
    }
}

#endif
