/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a mapping problem with one rank per slot. An element that may take
 * several ranks, all of the same load, has a slot for each of them; an element
 * for one rank has one slot, with a limit of load. */
#include "map/capacity/slots_problem.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <stdlib.h>

/* Converts a limit of load to 64 bits; larger limits become INT64_MAX. */
static int64_t slots_problem_whole(nw_graph_load limit)
{
    return limit > INT64_MAX ? INT64_MAX : (int64_t)limit;
}

/* Returns how many ranks --capacity allows on any element; all ranks if it
 * allows any number. */
static int32_t slots_problem_most_of_all(const struct nw_several *several)
{
    int32_t most = several->options.capacity;

    return most && most < several->graph.n ? most : several->graph.n;
}

/* Returns how many ranks element q may take by --capacity and by its limit of
 * load, if all ranks have the load of rank 0. The slots of its host may allow
 * fewer. */
static int32_t slots_problem_most_on(const struct nw_several *several,
                                     int32_t q)
{
    int32_t most = slots_problem_most_of_all(several);
    int64_t load = several->graph.load[0];
    int64_t borne =
        load ? slots_problem_whole(several->machine.limit[q] / load) : most;

    return borne < most ? (int32_t)borne : most;
}

bool nw_several_has_slots(const struct nw_several *several)
{
    int64_t slots = 0;

    if (several->graph.n > nw_tuned.kway.slots_ranks_max ||
        !nw_several_is_even(several))
        return false;
    for (int32_t q = 0; q < several->machine.k; q++)
        slots += slots_problem_most_on(several, q);
    return slots <= nw_tuned.kway.slots_max;
}

/* Lowers the capacity of core unit `unit` from --capacity to the number of
 * ranks that its element q may take. The difference is subtracted because the
 * unit may already have less capacity, if ranks are fixed on it. */
static void slots_problem_lower_capacity(struct nw_slots_problem *work,
                                         int32_t q, int32_t unit)
{
    int32_t *capacity = &work->problem.core.capacity[unit];
    int32_t less = slots_problem_most_of_all(work->several) -
                   slots_problem_most_on(work->several, q);

    *capacity = *capacity > less ? *capacity - less : 0;
}

/* Sets the limit of load of each core unit to that of its element (a core or
 * hardware thread; each unit is one element). If an element takes several ranks
 * (per_element_several), it lowers the capacity of the unit instead. The
 * problem has the hosts in the caller's order, and `several` has them in the
 * order of the topology. */
static void slots_problem_fill_limits(struct nw_slots_problem *work)
{
    const struct nw_several *several = work->several;
    const struct nw_problem *problem = &work->problem;

    for (int32_t i = 0; i < problem->host_count; i++) {
        int32_t low = several->first[several->order[i]];

        for (int32_t u = problem->core.first[i]; u < problem->core.first[i + 1];
             u++) {
            int32_t q = low + problem->core.member[u];

            if (work->per_element_several)
                slots_problem_lower_capacity(work, q, u);
            else
                work->limit[u] = slots_problem_whole(several->machine.limit[q]);
        }
    }
}

nw_status nw_slots_problem_init(struct nw_slots_problem *work)
{
    struct nw_problem *problem = &work->problem;
    struct nw_map_options options = nw_several_without_limits(work->several);
    nw_status status;

    options.start = work->start;
    options.careful = false;
    if (work->per_element_several)
        options.capacity = slots_problem_most_of_all(work->several);
    status = nw_problem_init(problem, work->several->topology,
                             work->several->pattern, &options);
    if (!status && !work->per_element_several)
        status = nw_alloc((size_t)problem->core.first[problem->host_count],
                          sizeof *work->limit, &work->limit);
    if (status)
        return status;
    slots_problem_fill_limits(work);
    if (work->per_element_several)
        nw_problem_count_capacity(problem);
    problem->budget = &work->several->budget;
    problem->load =
        work->per_element_several ? NULL : work->several->graph.load;
    problem->limit = work->limit;
    return NW_OK;
}

void nw_slots_problem_fini(struct nw_slots_problem *work)
{
    nw_problem_fini(&work->problem);
    free(work->limit);
}
