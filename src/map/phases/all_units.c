/* SPDX-License-Identifier: BSD-3-Clause */
/* Places all ranks on all core units, or all ranks with GPUs on all GPU units,
 * of the machine in one placement. A unit is as many cores, or GPUs, of one
 * node as one rank needs. */
#include "map/phases/all_units.h"
#include "map/common/budget.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/status.h"

#include <stdlib.h>

/* State while the ranks and units of one placement are listed and ranks are
 * placed. */
struct all_units_work {
    const struct nw_problem *problem;
    const struct nw_all_units *flat;
    const struct nw_units *units;
    int32_t *rank;  /* [count] ranks to be placed, ascending; process i of the
                       placement is rank[i] */
    int32_t *local; /* [ranks] index of a rank in rank[]; -1: it is not placed
                       here */
    int32_t count;
    int32_t *unit;      /* [places] unit of a place; -1: extra place for one
                           fixed rank */
    int32_t *host;      /* [places] host of a place */
    int32_t *capacity;  /* [places] how many ranks a place can take */
    struct nw_end *end; /* [places] each place as an end of routes; passed on to
                           nw_places */
    int32_t place_count;
    int32_t *fixed_place; /* [count] place of a process whose rank is fixed to a
                             core or GPU, or to a host (set later); -1: not
                             fixed */
    int32_t *reserved; /* [hosts] number of ranks fixed to the host that take up
                          no place on its units (all_units_reserve) */
    int32_t *initial;  /* [count] place of each process in flat->start; NULL: no
                          start */
    int64_t *load;     /* [count] load of each process; NULL: loads are not
                          limited */
    int64_t *limit;    /* [places] largest load; NULL: loads are not limited */
};

/* Lists the ranks to be placed: all ranks, or only those with a GPU if GPU
 * units are assigned. */
static nw_status all_units_list_ranks(struct all_units_work *work)
{
    const struct nw_problem *problem = work->problem;
    int32_t n = problem->pattern->rank_count;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY((size_t)n, work->rank),
                                    NW_ARRAY((size_t)n, work->local),
                                    NW_ARRAY((size_t)n, work->fixed_place));

    for (int32_t r = 0; !status && r < n; r++) {
        work->local[r] = -1;
        if (work->flat->gpus && !problem->wants_gpu[r])
            continue;
        work->local[r] = work->count;
        work->fixed_place[work->count] = -1;
        work->rank[work->count++] = r;
    }
    return status;
}

/* Returns how many ranks may be placed on the units of a host: the host's
 * capacity, minus the ranks in reserved[host], which use the capacity but no
 * unit. INT32_MAX: no limit. */
static int32_t all_units_rank_limit(const struct all_units_work *work,
                                    int32_t host)
{
    const struct nw_problem *problem = work->problem;
    int32_t capacity = problem->capacity[host];

    if (work->flat->gpus && !work->flat->paired)
        return INT32_MAX;
    if (work->flat->paired && problem->uses_gpus &&
        problem->gpu_capacity[host] < capacity)
        capacity = problem->gpu_capacity[host];
    capacity -= work->reserved[host];
    return capacity > 0 ? capacity : 0;
}

/* Adds a place: a unit of a host, or with unit -1 an extra place that takes one
 * fixed rank. */
static void all_units_add_place(struct all_units_work *work, int32_t host,
                                int32_t unit, struct nw_end end)
{
    int32_t at = work->place_count++;

    work->host[at] = host;
    work->unit[at] = unit;
    work->capacity[at] = unit < 0 ? 1 : work->units->capacity[unit];
    work->end[at] = end;
}

/* Lowers the capacities of the places from `first` on until their sum is at
 * most `limit`. Takes from the last place first and leaves each place at least
 * 1. */
static void all_units_trim_capacity(struct all_units_work *work, int32_t first,
                                    int32_t limit)
{
    int64_t total = 0;

    for (int32_t q = first; q < work->place_count; q++)
        total += work->capacity[q];
    for (int32_t q = work->place_count; q-- > first && total > limit;) {
        int64_t less = total - limit;

        if (less > work->capacity[q] - 1)
            less = work->capacity[q] - 1;
        work->capacity[q] -= (int32_t)less;
        total -= less;
    }
}

/* Adds the free units of a host as places. If there are more of them than ranks
 * may be placed, takes units that are spread evenly over the list of the node's
 * units. */
static void all_units_add_units(struct all_units_work *work, int32_t host)
{
    const struct nw_problem *problem = work->problem;
    const struct nw_units *units = work->units;
    int32_t place = work->place_count, limit = all_units_rank_limit(work, host);
    int64_t count = 0, open = 0, taken = 0, used;

    for (int32_t u = units->first[host]; u < units->first[host + 1]; u++)
        count += units->capacity[u] > 0;
    used = count < limit ? count : limit;
    for (int32_t u = units->first[host]; taken < used; u++) {
        if (units->capacity[u] <= 0 || open++ != taken * count / used)
            continue;
        all_units_add_place(
            work, host, u,
            nw_problem_end(problem, work->flat->gpus, host,
                           units->member[(size_t)u * (size_t)units->size]));
        taken++;
    }
    all_units_trim_capacity(work, place, limit);
}

/* Adds an extra place for each rank that is fixed to a core (or to a GPU, if
 * GPU units are assigned). */
static void all_units_add_fixed(struct all_units_work *work)
{
    const struct nw_problem *problem = work->problem;

    for (int32_t p = 0; problem->fixed_host && p < work->count; p++) {
        struct nw_ints set =
            nw_problem_fixed(problem, work->flat->gpus, work->rank[p]);
        int32_t host = work->problem->fixed_host[work->rank[p]];

        if (!set.count)
            continue;
        work->fixed_place[p] = work->place_count;
        all_units_add_place(
            work, host, -1,
            nw_problem_end(problem, work->flat->gpus, host, set.values[0]));
    }
}

/* Assigns process p, whose rank is fixed to a node but to no core or GPU, to
 * the first unit of that node with a free slot. */
static void all_units_slot_on_host(struct all_units_work *work, int32_t p)
{
    int32_t host = work->problem->fixed_host[work->rank[p]];

    for (int32_t q = 0; q < work->place_count; q++)
        if (work->host[q] == host && work->unit[q] >= 0 &&
            work->capacity[q] > 0) {
            work->fixed_place[p] = q;
            work->capacity[q]--; /* capacity counts only slots that are still
                                    free */
            return;
        }
}

/* Lists the places: free units of all hosts, and an extra place for each rank
 * that is fixed to a core or GPU. On its host, such a rank does not need a
 * place on a unit; neither does a fixed rank without a GPU if only ranks with a
 * GPU are placed. */
static nw_status all_units_list_places(struct all_units_work *work)
{
    const struct nw_problem *problem = work->problem;
    const int32_t *fixed = problem->fixed_host;
    size_t most =
        (size_t)work->units->first[problem->host_count] + (size_t)work->count;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(most, work->unit), NW_ARRAY(most, work->host),
                     NW_ARRAY(most, work->capacity), NW_ARRAY(most, work->end),
                     NW_ARRAY((size_t)problem->host_count, work->reserved));

    if (status)
        return status;
    for (int32_t r = 0; fixed && r < problem->pattern->rank_count; r++)
        if (fixed[r] >= 0)
            work->reserved[fixed[r]] +=
                work->local[r] < 0 ||
                nw_problem_fixed(problem, work->flat->gpus, r).count > 0;
    for (int32_t h = 0; h < problem->host_count; h++)
        all_units_add_units(work, h);
    all_units_add_fixed(work);
    return NW_OK;
}

/* Converts the units in flat->start to places, in work->initial. A rank without
 * a unit there gets its fixed place, and -1 if it has none or if its unit is
 * not among the places. */
static nw_status all_units_read_start(struct all_units_work *work)
{
    const struct nw_answer *start = work->flat->start;
    size_t units = (size_t)work->units->first[work->problem->host_count];
    int32_t *place_of = NULL;
    nw_status status;

    if (!start)
        return NW_OK;
    status = NW_ALLOC_ALL(NW_ARRAY(units, place_of),
                          NW_ARRAY((size_t)work->count, work->initial));
    for (size_t u = 0; !status && u < units; u++)
        place_of[u] = -1;
    for (int32_t q = 0; !status && q < work->place_count; q++)
        if (work->unit[q] >= 0)
            place_of[work->unit[q]] = q;
    for (int32_t p = 0; !status && p < work->count; p++) {
        int32_t unit =
            (work->flat->gpus ? start->gpu : start->core)[work->rank[p]];

        work->initial[p] = unit < 0 ? work->fixed_place[p] : place_of[unit];
    }
    free(place_of);
    return status;
}

/* If loads are limited, fills work->load and work->limit for the core units. */
static nw_status all_units_read_limits(struct all_units_work *work)
{
    const struct nw_problem *problem = work->problem;
    nw_status status;

    if (!problem->limit || work->flat->gpus)
        return NW_OK;
    status = NW_ALLOC_ALL(NW_ARRAY((size_t)work->count, work->load),
                          NW_ARRAY((size_t)work->place_count, work->limit));
    for (int32_t p = 0; !status && p < work->count; p++)
        work->load[p] = problem->load[work->rank[p]];
    for (int32_t q = 0; !status && q < work->place_count; q++)
        work->limit[q] =
            work->unit[q] < 0 ? INT64_MAX : problem->limit[work->unit[q]];
    return status;
}

/* Puts the fixed ranks on their places, then runs the placer on the places that
 * all_units_list_places listed: the free units, and one more place for each
 * rank fixed to a core or GPU. */
static nw_status all_units_place(struct all_units_work *work,
                                 struct nw_placement *placement)
{
    struct nw_places places;
    struct nw_random random;
    struct nw_end *end = work->end;
    const int32_t *fixed = work->problem->fixed_host;
    nw_status status;

    work->end = NULL;
    status = nw_places_init(&places, work->problem->topology, end,
                            work->place_count, -1);
    if (status)
        return status;
    nw_random_init(&random, work->problem->options.seed);
    placement->budget = work->problem->budget;
    placement->options = &work->problem->options;
    placement->initial = work->initial;
    placement->load = work->load;
    placement->limit = work->limit;
    placement->places = &places;
    placement->random = &random;
    status = nw_free_slots_init(&placement->free_slots, work->place_count,
                                work->capacity, NULL);
    for (int32_t p = 0; fixed && p < work->count; p++)
        if (work->fixed_place[p] < 0 && fixed[work->rank[p]] >= 0)
            all_units_slot_on_host(work, p);
    if (!status)
        status =
            nw_phase_put_fixed(placement, fixed ? work->fixed_place : NULL);
    if (!status)
        status = work->flat->placer(placement);
    placement->places = NULL;
    placement->initial = NULL;
    nw_places_fini(&places);
    return status;
}

/* Places the ranks, and writes the host and the unit of each into the answer.
 */
static nw_status all_units_solve(struct all_units_work *work,
                                 struct nw_answer *answer,
                                 struct nw_map_report *report)
{
    int32_t *host = work->flat->gpus ? answer->gpu_host : answer->host;
    int32_t *unit = work->flat->gpus ? answer->gpu : answer->core;
    struct nw_placement placement;
    struct nw_arcs_of of = {.pattern = work->problem->pattern,
                            .ranks = {work->rank, (size_t)work->count},
                            .local = work->local,
                            .kinds = work->flat->kinds};
    nw_status status = nw_placement_init(&placement, &of);

    if (status)
        return status;
    status = all_units_place(work, &placement);
    for (int32_t p = 0; !status && p < work->count; p++) {
        host[work->rank[p]] = work->host[placement.place[p]];
        unit[work->rank[p]] = work->unit[placement.place[p]];
    }
    answer->approximate |= placement.approximate;
    answer->grid_found |= placement.grid_found;
    report->steps += placement.steps;
    nw_placement_fini(&placement);
    return status;
}

nw_status nw_all_units_place(const struct nw_problem *problem,
                             const struct nw_all_units *flat,
                             struct nw_answer *answer,
                             struct nw_map_report *report)
{
    struct all_units_work work = {.problem = problem,
                                  .flat = flat,
                                  .units = flat->gpus ? &problem->gpu
                                                      : &problem->core};
    uint64_t begun = nw_clock_ns();
    nw_status status = all_units_list_ranks(&work);

    if (!status)
        status = all_units_list_places(&work);
    if (!status)
        status = all_units_read_start(&work);
    if (!status)
        status = all_units_read_limits(&work);
    if (!status)
        status = all_units_solve(&work, answer, report);
    report->phase_seconds[flat->gpus ? 2 : 1] +=
        (double)(nw_clock_ns() - begun) * 1e-9;
    NW_FREE_ALL(work.rank, work.local, work.unit, work.host, work.capacity,
                work.end, work.fixed_place, work.reserved, work.initial,
                work.load, work.limit);
    return status;
}
