/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases 2 and 3: within each node, ranks to core units on the host layer, and
 * to GPU units on the GPU layer. Nodes of one type share their routes. */
#include "map/phases/phases.h"
#include "base/array.h"
#include "base/clock.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

struct phase {
    const struct nw_problem *problem;
    struct nw_answer *answer;
    const struct nw_units *units;
    int32_t *unit; /* the answer's: [ranks] */
    nw_placer *placer;
    bool gpus, by_distance;
    size_t *row; /* ranks of host h: rank[row[h]] .. */
    int32_t *rank;
    int32_t *local; /* [ranks] index in its host's list */
    struct nw_places places;
    int32_t places_host; /* the host they were built for, -1 for none */
    struct nw_random random;
    uint64_t steps;
};

static struct nw_ints fixed_of(const struct phase *phase, int32_t rank)
{
    return phase->gpus ? nw_problem_fixed_gpus(phase->problem, rank)
                       : nw_problem_fixed_cores(phase->problem, rank);
}

static bool takes_part(const struct phase *phase, int32_t rank)
{
    return !phase->gpus || phase->problem->wants_gpu[rank] ||
           fixed_of(phase, rank).count;
}

static nw_status list_ranks(struct phase *phase)
{
    const int32_t *host = phase->answer->host;
    size_t hosts = (size_t)phase->problem->host_count;
    int32_t n = phase->problem->pattern->rank_count;
    nw_status status = nw_alloc(hosts + 2, sizeof *phase->row, &phase->row);

    if (!status)
        status = nw_alloc((size_t)n, sizeof *phase->rank, &phase->rank);
    if (!status)
        status = nw_alloc((size_t)n, sizeof *phase->local, &phase->local);
    if (status)
        return status;
    for (int32_t r = 0; r < n; r++)
        phase->row[host[r] + 2] += takes_part(phase, r);
    for (size_t h = 2; h < hosts + 2; h++)
        phase->row[h] += phase->row[h - 1];
    for (int32_t r = 0; r < n; r++) {
        size_t *at = &phase->row[host[r] + 1];

        phase->local[r] = -1;
        if (takes_part(phase, r))
            phase->rank[(*at)++] = r;
    }
    for (size_t h = 0; h < hosts; h++)
        for (size_t i = phase->row[h]; i < phase->row[h + 1]; i++)
            phase->local[phase->rank[i]] = (int32_t)(i - phase->row[h]);
    return NW_OK;
}

static struct nw_end end_of(const struct phase *phase, int32_t host,
                            int32_t member)
{
    return phase->gpus ? nw_problem_gpu_end(phase->problem, host, member)
                       : nw_problem_core_end(phase->problem, host, member);
}

static struct nw_ints ranks_of(const struct phase *phase, int32_t host)
{
    return (struct nw_ints){phase->rank + phase->row[host],
                            phase->row[host + 1] - phase->row[host]};
}

static size_t fixed_count(const struct phase *phase, int32_t host)
{
    struct nw_ints ranks = ranks_of(phase, host);
    size_t count = 0;

    for (size_t i = 0; i < ranks.count; i++)
        count += fixed_of(phase, ranks.values[i]).count > 0;
    return count;
}

static size_t unit_count(const struct phase *phase, int32_t host)
{
    return (size_t)(phase->units->first[host + 1] - phase->units->first[host]);
}

/* True where the places at hand serve this host too. */
static bool same_places(const struct phase *phase, int32_t host)
{
    const struct nw_problem *problem = phase->problem;
    const struct nw_units *units = phase->units;
    int32_t other = phase->places_host;
    size_t count = unit_count(phase, host), size = (size_t)units->size;

    return other >= 0 && unit_count(phase, other) == count &&
           problem->topology->node_type[problem->host[host]] ==
               problem->topology->node_type[problem->host[other]] &&
           !memcmp(units->member + (size_t)units->first[host] * size,
                   units->member + (size_t)units->first[other] * size,
                   count * size * sizeof *units->member);
}

/* The units, and for each fixed rank a place of its own. */
static nw_status build_places(struct phase *phase, int32_t host, size_t fixed)
{
    const struct nw_units *units = phase->units;
    struct nw_ints ranks = ranks_of(phase, host);
    size_t count = unit_count(phase, host), first = (size_t)units->first[host];
    struct nw_end *end;
    nw_status status;

    nw_places_fini(&phase->places);
    phase->places_host = -1;
    status = nw_alloc(count + fixed, sizeof *end, &end);
    if (status)
        return status;
    for (size_t u = 0; u < count; u++)
        end[u] = end_of(phase, host,
                        units->member[(first + u) * (size_t)units->size]);
    for (size_t i = 0, at = count; i < ranks.count; i++) {
        struct nw_ints set = fixed_of(phase, ranks.values[i]);

        if (set.count)
            end[at++] = end_of(phase, host, set.values[0]);
    }
    status =
        nw_places_init(&phase->places, phase->problem->topology, end,
                       (int32_t)(count + fixed), phase->problem->host[host]);
    if (!status && !fixed)
        phase->places_host = host;
    return status;
}

static nw_status put_fixed(struct phase *phase, struct nw_placing *placing,
                           int32_t host)
{
    struct nw_ints ranks = ranks_of(phase, host);
    int32_t at = (int32_t)unit_count(phase, host);
    nw_status status =
        nw_alloc(ranks.count, sizeof *placing->fixed, &placing->fixed);

    for (int32_t p = 0; !status && p < placing->count; p++)
        if (fixed_of(phase, ranks.values[p]).count) {
            placing->fixed[p] = true;
            nw_placing_put(placing, p, at++);
        }
    return status;
}

static nw_status fill_rooms(struct phase *phase, struct nw_placing *placing,
                            int32_t host)
{
    size_t count = unit_count(phase, host);
    size_t places = (size_t)phase->places.count;
    int32_t *room;
    nw_status status = nw_alloc(places, sizeof *room, &room);

    if (status)
        return status;
    memcpy(room, phase->units->room + phase->units->first[host],
           count * sizeof *room);
    for (size_t i = count; i < places; i++)
        room[i] = 1;
    status = nw_rooms_init(&placing->rooms, (int32_t)places, room, NULL);
    free(room);
    if (!status && places > count)
        status = put_fixed(phase, placing, host);
    return status;
}

static nw_status run_placer(struct phase *phase, struct nw_placing *placing,
                            int32_t host)
{
    double *pull = NULL;
    nw_status status = fill_rooms(phase, placing, host);

    if (!status)
        status = nw_affinity_pull(phase->problem, phase->answer, placing,
                                  ranks_of(phase, host), phase->gpus, &pull);
    placing->pull = pull;
    if (!status)
        status = phase->placer(placing);
    if (!status && pull && phase->placer != nw_place_greedy)
        status = nw_placing_settle(placing);
    placing->pull = NULL;
    free(pull);
    return status;
}

static void take_answer(struct phase *phase, const struct nw_placing *placing,
                        int32_t host)
{
    struct nw_ints ranks = ranks_of(phase, host);

    for (size_t p = 0; p < ranks.count; p++)
        if (!placing->fixed || !placing->fixed[p])
            phase->unit[ranks.values[p]] =
                phase->units->first[host] + placing->place[p];
}

static nw_status place_in_host(struct phase *phase, int32_t host)
{
    size_t fixed = fixed_count(phase, host);
    struct nw_placing placing;
    nw_status status = NW_OK;

    if (!ranks_of(phase, host).count)
        return NW_OK;
    if (fixed || !same_places(phase, host))
        status = build_places(phase, host, fixed);
    if (status)
        return status;
    status = nw_placing_init(
        &placing, &(struct nw_placing_of){
                      .pattern = phase->problem->pattern,
                      .ranks = ranks_of(phase, host),
                      .local = phase->local,
                      .kinds = phase->gpus ? NW_KINDS_GPU : NW_KINDS_HOST});
    if (status)
        return status;
    placing.places = &phase->places;
    placing.random = &phase->random;
    placing.by_distance = phase->by_distance;
    placing.budget = phase->problem->budget;
    status = run_placer(phase, &placing, host);
    if (!status)
        take_answer(phase, &placing, host);
    phase->steps += placing.steps;
    nw_placing_fini(&placing);
    return status;
}

nw_status nw_phase_units(const struct nw_problem *problem,
                         const struct nw_phases *phases,
                         struct nw_answer *answer, struct nw_map_report *report,
                         bool gpus)
{
    struct phase phase = {
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

    if (!phase.placer)
        return gpus ? nw_answer_gpus_in_order(problem, answer)
                    : nw_answer_default_cores(problem, answer);
    nw_random_init(&phase.random, problem->options.seed + (gpus ? 2 : 1));
    status = list_ranks(&phase);
    for (int32_t h = 0; !status && h < problem->host_count; h++)
        status = place_in_host(&phase, h);
    nw_places_fini(&phase.places);
    free(phase.row);
    free(phase.rank);
    free(phase.local);
    report->steps += phase.steps;
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
