/* SPDX-License-Identifier: BSD-3-Clause */
/* A pattern seated by default on a machine of the fixtures, for tests of what
 * moves seats. */
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

struct seated {
    nw_topology *topology;
    nw_pattern *pattern;
    struct nw_problem problem;
    struct nw_budget budget;
    struct nw_answer answer;
    struct nw_seats seats;
};

static inline nw_topology *seated_load(const char *name)
{
    const char *folder = getenv("NW_FIXTURES");
    nw_topology *topology;
    char path[4096];

    assert_non_null(folder);
    snprintf(path, sizeof path, "%s/topology/valid/%s", folder, name);
    MUST(nw_topology_load(path, NULL, &topology));
    return topology;
}

/* Takes the pattern. */
static inline void seated_begin(struct seated *seated, const char *machine,
                                nw_pattern *pattern)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;

    memset(seated, 0, sizeof *seated);
    seated->topology = seated_load(machine);
    seated->pattern = pattern;
    MUST(
        nw_problem_init(&seated->problem, seated->topology, pattern, &options));
    nw_budget_init(&seated->budget, &seated->problem.options);
    seated->problem.budget = &seated->budget;
    MUST(nw_answer_init(&seated->answer, pattern->rank_count));
    MUST(nw_answer_default(&seated->problem, &seated->answer));
    MUST(nw_seats_init(&seated->seats, &seated->problem, &seated->answer));
}

static inline void seated_end(struct seated *seated)
{
    nw_seats_fini(&seated->seats);
    nw_answer_fini(&seated->answer);
    nw_problem_fini(&seated->problem);
    nw_pattern_free(seated->pattern);
    nw_topology_free(seated->topology);
}

/* Each seat its rank and each rank its seat. */
static inline void seated_check(const struct nw_seats *seats)
{
    for (int32_t r = 0; r < seats->rank_count; r++) {
        assert_in_range(seats->seat[r], 0, seats->count - 1);
        assert_int_equal(seats->owner[seats->seat[r]], r);
    }
}

#endif
