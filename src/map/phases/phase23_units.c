/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases 2 and 3 of MAGC: within each node, phase 2 assigns ranks to core units
 * by the traffic between host memories, phase 3 to GPU units by that between
 * GPUs. Nodes of one type with the same units share their table of routes,
 * unless ranks are fixed to their cores or GPUs. */
#include "map/phases/phases.h"
#include "base/array.h"
#include "base/clock.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

/* State of phase 2 or 3, for all hosts. */
struct phase23_work {
    const struct nw_problem *problem;
    struct nw_answer *answer;
    const struct nw_units *units;
    int32_t *unit; /* [ranks] answer->core in phase 2, answer->gpu in phase 3 */
    nw_placer *placer;
    bool gpus, by_distance;
    int32_t *row;   /* [hosts + 1] index in rank[] at which the ranks of each
                       host begin */
    int32_t *rank;  /* ranks that this phase places, host by host */
    int32_t *local; /* [ranks] index of a rank in its host's list; -1: none */
    struct nw_places places;
    int32_t places_host; /* host for which `places` was made last; -1: none, or
                            `places` has extra places for fixed ranks and suits
                            no other host */
    struct nw_random random;
    uint64_t steps;
};

/* Returns true if the rank is placed by this phase: phase 2 places all ranks,
 * phase 3 the ranks that use a GPU or are fixed to one. */
static bool phase23_takes_part(const struct phase23_work *work, int32_t rank)
{
    return !work->gpus || work->problem->wants_gpu[rank] ||
           nw_problem_fixed(work->problem, work->gpus, rank).count;
}

/* Lists the ranks that this phase places, host by host. */
static nw_status phase23_list_ranks(struct phase23_work *work)
{
    const int32_t *host = work->answer->host;
    size_t hosts = (size_t)work->problem->host_count;
    int32_t n = work->problem->pattern->rank_count;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(hosts + 2, work->row),
                                    NW_ARRAY((size_t)n, work->rank),
                                    NW_ARRAY((size_t)n, work->local));

    if (status)
        return status;
    for (int32_t r = 0; r < n; r++)
        work->local[r] = phase23_takes_part(work, r) ? host[r] : -1;
    nw_list_by_group(work->local, n, (int32_t)hosts, work->row, work->rank);
    for (size_t h = 0; h < hosts; h++)
        for (int32_t i = work->row[h]; i < work->row[h + 1]; i++)
            work->local[work->rank[i]] = i - work->row[h];
    return NW_OK;
}

static struct nw_ints phase23_ranks_of(const struct phase23_work *work,
                                       int32_t host)
{
    return (struct nw_ints){work->rank + work->row[host],
                            (size_t)(work->row[host + 1] - work->row[host])};
}

/* Returns how many of the listed ranks of a host are fixed to a core (in phase
 * 2) or to a GPU (in phase 3). */
static size_t phase23_fixed_count(const struct phase23_work *work, int32_t host)
{
    struct nw_ints ranks = phase23_ranks_of(work, host);
    size_t count = 0;

    for (size_t i = 0; i < ranks.count; i++)
        count +=
            nw_problem_fixed(work->problem, work->gpus, ranks.values[i]).count >
            0;
    return count;
}

static size_t phase23_unit_count(const struct phase23_work *work, int32_t host)
{
    return (size_t)(work->units->first[host + 1] - work->units->first[host]);
}

/* Returns true if work->places can be used for this host, too: it has the same
 * node type and the same units as the host for which they were made. */
static bool phase23_same_places(const struct phase23_work *work, int32_t host)
{
    const struct nw_problem *problem = work->problem;
    const struct nw_units *units = work->units;
    int32_t other = work->places_host;
    size_t count = phase23_unit_count(work, host), size = (size_t)units->size;

    return other >= 0 && phase23_unit_count(work, other) == count &&
           problem->topology->node_type[problem->host[host]] ==
               problem->topology->node_type[problem->host[other]] &&
           !memcmp(units->member + (size_t)units->first[host] * size,
                   units->member + (size_t)units->first[other] * size,
                   count * size * sizeof *units->member);
}

/* Makes the places of a host: its units, and after them an extra place for each
 * rank that is fixed to a core (in phase 2) or GPU (in phase 3). */
static nw_status phase23_build_places(struct phase23_work *work, int32_t host,
                                      size_t fixed)
{
    const struct nw_units *units = work->units;
    struct nw_ints ranks = phase23_ranks_of(work, host);
    size_t count = phase23_unit_count(work, host),
           first = (size_t)units->first[host];
    struct nw_end *end;
    nw_status status;

    nw_places_fini(&work->places);
    work->places_host = -1;
    status = nw_alloc(count + fixed, sizeof *end, &end);
    if (status)
        return status;
    for (size_t u = 0; u < count; u++)
        end[u] =
            nw_problem_end(work->problem, work->gpus, host,
                           units->member[(first + u) * (size_t)units->size]);
    for (size_t i = 0, at = count; i < ranks.count; i++) {
        struct nw_ints set =
            nw_problem_fixed(work->problem, work->gpus, ranks.values[i]);

        if (set.count)
            end[at++] =
                nw_problem_end(work->problem, work->gpus, host, set.values[0]);
    }
    status =
        nw_places_init(&work->places, work->problem->topology, end,
                       (int32_t)(count + fixed), work->problem->host[host]);
    if (!status && !fixed)
        work->places_host = host;
    return status;
}

/* Places the ranks of a host that are fixed to a core (or GPU), each on its own
 * extra place after the units. */
static nw_status phase23_put_fixed(struct phase23_work *work,
                                   struct nw_placement *placement, int32_t host)
{
    struct nw_ints ranks = phase23_ranks_of(work, host);
    int32_t at = (int32_t)phase23_unit_count(work, host);
    nw_status status =
        nw_alloc(ranks.count, sizeof *placement->fixed, &placement->fixed);

    for (int32_t p = 0; !status && p < placement->count; p++)
        if (nw_problem_fixed(work->problem, work->gpus, ranks.values[p])
                .count) {
            placement->fixed[p] = true;
            nw_placement_put(placement, p, at++);
        }
    return status;
}

/* Sets the free slots of a host's places, and puts each rank that is fixed to a
 * core (or GPU) on its extra place. */
static nw_status phase23_fill_free_slots(struct phase23_work *work,
                                         struct nw_placement *placement,
                                         int32_t host)
{
    size_t count = phase23_unit_count(work, host);
    size_t places = (size_t)work->places.count;
    int32_t *capacity;
    nw_status status = nw_alloc(places, sizeof *capacity, &capacity);

    if (status)
        return status;
    memcpy(capacity, work->units->capacity + work->units->first[host],
           count * sizeof *capacity);
    for (size_t i = count; i < places; i++)
        capacity[i] = 1;
    status = nw_free_slots_init(&placement->free_slots, (int32_t)places,
                                capacity, NULL);
    free(capacity);
    if (!status && places > count)
        status = phase23_put_fixed(work, placement, host);
    return status;
}

/* Runs the placer on the ranks of one host. All placers but nw_place_greedy
 * ignore affinity (--affinity: nearness of a rank's core or GPU to its NIC, and
 * of its GPU to its core); after them, swaps lower the affinity cost. */
static nw_status phase23_run_placer(struct phase23_work *work,
                                    struct nw_placement *placement,
                                    int32_t host)
{
    nw_status status = phase23_fill_free_slots(work, placement, host);

    if (!status)
        status = nw_gpu_affinity(work->problem, work->answer,
                                 phase23_ranks_of(work, host), work->gpus,
                                 placement);
    if (!status)
        status = work->placer(placement);
    if (!status && placement->affinity && !placement->counts_affinity)
        status = nw_placement_affinity_swaps(placement);
    return status;
}

/* Places the listed ranks of one host on its units, unless all are fixed to
 * cores (or GPUs). */
static nw_status phase23_place_in_host(struct phase23_work *work, int32_t host)
{
    struct nw_ints ranks = phase23_ranks_of(work, host);
    size_t fixed = phase23_fixed_count(work, host);
    struct nw_placement placement;
    nw_status status = NW_OK;

    if (fixed == ranks.count)
        return NW_OK;
    if (fixed || !phase23_same_places(work, host))
        status = phase23_build_places(work, host, fixed);
    if (status)
        return status;
    status = nw_placement_init(
        &placement, &(struct nw_arcs_of){.pattern = work->problem->pattern,
                                         .ranks = ranks,
                                         .local = work->local,
                                         .kinds = work->gpus ? NW_KINDS_GPU
                                                             : NW_KINDS_HOST});
    if (status)
        return status;
    placement.places = &work->places;
    placement.random = &work->random;
    placement.by_distance = work->by_distance;
    placement.budget = work->problem->budget;
    status = phase23_run_placer(work, &placement, host);
    for (size_t p = 0; !status && p < ranks.count; p++)
        if (!nw_placement_is_fixed(&placement, (int32_t)p))
            work->unit[ranks.values[p]] =
                work->units->first[host] + placement.place[p];
    work->steps += placement.steps;
    nw_placement_fini(&placement);
    return status;
}

nw_status nw_phase_units(const struct nw_problem *problem,
                         const struct nw_phases *phases,
                         struct nw_answer *answer, struct nw_map_report *report,
                         bool gpus)
{
    struct phase23_work work = {
        .problem = problem,
        .answer = answer,
        .units = gpus ? &problem->gpu : &problem->core,
        .unit = gpus ? answer->gpu : answer->core,
        .placer = phases->placer[gpus ? 2 : 1],
        .by_distance = phases->by_distance,
        .gpus = gpus,
        .places_host = -1,
    };
    uint64_t begun = nw_clock_ns();
    nw_status status;

    if (!work.placer)
        return gpus ? nw_answer_gpus_in_order(problem, answer)
                    : nw_answer_default_cores(problem, answer);
    nw_random_init(&work.random, problem->options.seed + (gpus ? 2 : 1));
    status = phase23_list_ranks(&work);
    for (int32_t h = 0; !status && h < problem->host_count; h++)
        status = phase23_place_in_host(&work, h);
    nw_places_fini(&work.places);
    NW_FREE_ALL(work.row, work.rank, work.local);
    report->steps += work.steps;
    report->phase_seconds[gpus ? 2 : 1] +=
        (double)(nw_clock_ns() - begun) * 1e-9;
    return status;
}

nw_status nw_answer_by_phases(const struct nw_problem *problem,
                              const struct nw_phases *phases,
                              struct nw_answer *answer,
                              struct nw_map_report *report)
{
    nw_status status = nw_phase_hosts(problem, phases, answer, report);

    if (!status)
        status = nw_phase_units(problem, phases, answer, report, false);
    if (!status && problem->uses_gpus)
        status = nw_phase_units(problem, phases, answer, report, true);
    return status;
}
