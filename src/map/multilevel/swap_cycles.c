/* SPDX-License-Identifier: BSD-3-Clause */
/* Anneals an assignment by swaps in cycles: first swaps of whole subtrees, from
 * the largest down, then swaps of processes. */
#include "map/multilevel/multilevel_internal.h"
#include "map/hierarchy/anneal_swaps.h"
#include "map/hierarchy/anneal_swaps.h"
#include "map/common/parameters.h"

/* Returns how many swaps one cycle tries at default effort for `count`
 * processes: a fixed number per process, and fewer for each process beyond a
 * first and a second limit. */
static uint64_t swap_cycles_steps_for(int32_t count)
{
    const int32_t first = nw_tuned.multilevel.few / 2;
    const int32_t next = nw_tuned.multilevel.next_end;
    uint64_t firsts = (uint64_t)(count < first ? count : first);
    uint64_t nexts = (uint64_t)(count < next ? count : next) - firsts;

    return firsts * nw_tuned.multilevel.steps_first +
           nexts * nw_tuned.multilevel.steps_next +
           ((uint64_t)count - firsts - nexts) *
               nw_tuned.multilevel.steps_further;
}

double nw_multilevel_temperature_of(int32_t count)
{
    if (count > nw_tuned.multilevel.many)
        return 1;
    return count > nw_tuned.multilevel.few ? nw_tuned.multilevel.cooler
                                           : nw_tuned.multilevel.hot;
}

double nw_multilevel_degree_of(const struct nw_assignment *assignment)
{
    return assignment->count ? (double)assignment->row[assignment->count] /
                                   (double)assignment->count
                             : 0;
}

uint64_t nw_multilevel_steps_of(const struct nw_assignment *assignment,
                                enum nw_effort effort)
{
    double degree = nw_multilevel_degree_of(assignment);
    uint64_t steps = swap_cycles_steps_for(assignment->count);

    if (degree > nw_tuned.multilevel.swap_degree)
        steps = (uint64_t)((double)steps * 2 * nw_tuned.multilevel.swap_degree /
                           (nw_tuned.multilevel.swap_degree + degree));
    return nw_budget_scale(effort, steps);
}

/* Runs swap annealing on an assignment. Its processes may stand for whole
 * subtrees. */
static nw_status multilevel_anneal(const struct multilevel_search *search,
                                   struct nw_assignment *assignment,
                                   uint64_t seed, uint64_t steps,
                                   double temperature, double *cost)
{
    bool fits = search->swaps_table_temperature > 0 &&
                nw_anneal_swaps_table_fits(assignment);
    struct nw_anneal_swaps anneal_swaps = {
        .assignment = assignment,
        .budget = search->budget,
        .seed = seed,
        .steps = steps,
        .temperature = fits ? search->swaps_table_temperature : temperature,
        .sparing = search->sparing,
        .cost = nw_assignment_cost(assignment)};
    nw_status status = fits ? nw_anneal_swaps_table(&anneal_swaps)
                            : nw_anneal_swaps(&anneal_swaps);

    *cost = anneal_swaps.cost;
    return status;
}

/* Anneals by swaps of whole subtrees, those of one level of the hierarchy. */
static nw_status multilevel_anneal_subtrees(struct multilevel_search *search,
                                            int32_t level)
{
    struct nw_assignment lifted;
    struct nw_hierarchy hierarchy;
    double cost;
    nw_status status =
        nw_assignment_contract(search->assignment, level, &lifted, &hierarchy);

    if (status)
        return status;
    status = multilevel_anneal(search, &lifted, search->seed + (uint64_t)level,
                               search->steps * (uint64_t)lifted.count /
                                   (uint64_t)(search->assignment->count + 1),
                               nw_tuned.multilevel.subtree_temperature, &cost);
    if (!status)
        status = nw_assignment_project(search->assignment, level, &lifted);
    nw_assignment_fini(&lifted);
    nw_hierarchy_fini(&hierarchy);
    return status;
}

/* Runs one cycle of swap annealing: swaps of subtrees, from the largest to the
 * smallest, then swaps of processes. If loads are limited, only swaps of
 * processes. */
static nw_status multilevel_cycle(struct multilevel_search *search)
{
    const struct nw_hierarchy *hierarchy = search->assignment->hierarchy;
    nw_status status = NW_OK;

    for (int32_t level = hierarchy->levels - 3; !status && level > 0; level--)
        if (!search->assignment->load && !search->budget->stopped)
            status = multilevel_anneal_subtrees(search, level);
    if (!status && !search->budget->stopped)
        status = multilevel_anneal(search, search->assignment, search->seed,
                                   search->steps, search->temperature,
                                   &search->cost);
    return status;
}

nw_status nw_multilevel_search_on(struct multilevel_search *search)
{
    struct nw_budget *budget = search->budget;
    uint64_t cycles = (uint64_t)search->cycles;
    nw_status status = NW_OK;

    budget->expected = budget->steps + cycles * search->steps;
    for (uint64_t i = 0; !status && i < cycles && !budget->stopped; i++) {
        search->seed += i ? 1000 : 0;
        status = multilevel_cycle(search);
    }
    while (!status && budget->anytime && !budget->stopped) {
        uint64_t before = budget->steps;

        search->seed += 1000;
        search->steps += search->steps / 2;
        status = multilevel_cycle(search);
        if (budget->steps == before)
            break; /* no swap is possible */
    }
    return status;
}
