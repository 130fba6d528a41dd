/* SPDX-License-Identifier: BSD-3-Clause */
/* The baseline of section IV of the MAGC paper: cores and GPUs are mapped
 * independently, so that a rank's GPU may be on another node; and its
 * workaround, which moves ranks to the node of their GPU. */
#include "map/portfolio/algorithm.h"
#include "map/phases/all_units.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>

/* Assigns a GPU on any host to each rank that uses one. `paired`: a host gives
 * at most as many GPUs as it has free cores. */
static nw_status independent_map_gpus(const struct nw_problem *problem,
                                      const struct nw_phases *phases,
                                      struct nw_answer *answer,
                                      struct nw_map_report *report, bool paired)
{
    struct nw_all_units flat = {phases->placer[2], NW_KINDS_GPU, true, paired};
    int32_t n = problem->pattern->rank_count;
    nw_status status;

    if (!problem->uses_gpus)
        return NW_OK;
    status = nw_alloc((size_t)n, sizeof *answer->gpu_host, &answer->gpu_host);
    for (int32_t r = 0; !status && r < n; r++)
        answer->gpu_host[r] = -1;
    if (status)
        return status;
    return nw_all_units_place(problem, &flat, answer, report);
}

/* Assigns a rank without a GPU to its present host if that has a free core,
 * otherwise to the first host that has one. Returns NW_EINVAL if no host has.
 */
static nw_status independent_slot_others(struct nw_answer *answer,
                                         struct nw_free_slots *free_slots,
                                         int32_t rank)
{
    int32_t host = answer->host[rank];

    for (int32_t h = 0;
         h < free_slots->count && !nw_free_slots_fits(free_slots, host, false);
         h++)
        host = h;
    if (!nw_free_slots_fits(free_slots, host, false))
        return nw_fail_about(NW_FIXED(-1), NW_EINVAL,
                             "the fixed ranks leave no element for rank %d",
                             rank);
    answer->host[rank] = host;
    nw_free_slots_take(free_slots, host, false);
    return NW_OK;
}

/* Moves the ranks with a GPU to the hosts of their GPUs, then finds hosts with
 * a free core for the other ranks. */
static nw_status independent_follow_gpus(const struct nw_problem *problem,
                                         struct nw_answer *answer)
{
    struct nw_free_slots free_slots;
    int32_t n = problem->pattern->rank_count;
    nw_status status =
        nw_free_slots_init(&free_slots, problem->host_count, problem->capacity,
                           problem->gpu_capacity);

    for (int32_t r = 0; !status && r < n; r++)
        if (problem->wants_gpu[r]) {
            answer->host[r] = answer->gpu_host[r];
            nw_free_slots_take(&free_slots, answer->host[r], true);
        } else if (problem->fixed_host && problem->fixed_host[r] >= 0)
            nw_free_slots_take(&free_slots, problem->fixed_host[r], false);
    for (int32_t r = 0; !status && r < n; r++)
        if (!problem->wants_gpu[r] &&
            (!problem->fixed_host || problem->fixed_host[r] < 0))
            status = independent_slot_others(answer, &free_slots, r);
    nw_free_slots_fini(&free_slots);
    return status;
}

nw_status nw_run_independent(const struct nw_algorithm *algorithm,
                             const struct nw_problem *problem,
                             struct nw_answer *answer,
                             struct nw_map_report *report)
{
    bool remap = algorithm->remaps;
    struct nw_phases phases = {.kinds = 0};
    struct nw_all_units cores = {.kinds = NW_KINDS_HOST};
    nw_status status =
        nw_algorithm_phases(algorithm, &problem->options, &phases);

    cores.placer = phases.placer[1];
    if (!status)
        status = nw_all_units_place(problem, &cores, answer, report);
    if (!status)
        status = independent_map_gpus(problem, &phases, answer, report, remap);
    if (status || !remap || !problem->uses_gpus)
        return status;
    status = independent_follow_gpus(problem, answer);
    for (int32_t r = 0; !status && r < problem->pattern->rank_count; r++)
        answer->core[r] = -1;
    free(answer->gpu_host);
    answer->gpu_host = NULL;
    if (!status)
        status = nw_phase_units(problem, &phases, answer, report, false);
    return status;
}
