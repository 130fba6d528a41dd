/* SPDX-License-Identifier: BSD-3-Clause */
/* The searches that improve one candidate. Each function changes the assignment
 * of ranks to slots and sets work->name to the algorithm's name in the report
 * unless that is "anneal"; two of them set it to NULL if they find nothing. */
#include "map/portfolio/improve_internal.h"
#include "map/common/budget.h"
#include "map/congestion/branch_bound.h"
#include "map/congestion/digit_embedding.h"
#include "map/congestion/node_swaps.h"
#include "map/congestion/qap_bridge.h"
#include "map/groups/dragonfly.h"
#include "map/groups/min_max_cut.h"
#include "map/common/parameters.h"

#include <math.h>

/* Returns the objectives with the cap on hop-bytes and, with the option
 * `careful`, the cap on congestion, unless congestion is the objective. */
static struct nw_objectives
improve_objectives_of(const struct improve_work *work)
{
    struct nw_objectives objectives = nw_objectives_from_options(work->problem);

    objectives.hop_limit = work->hop_limit;
    if (work->guard && objectives.first != NW_OBJECTIVE_CONGESTION)
        objectives.most_limit = work->guard[1];
    return objectives;
}

nw_status nw_improve_prove(struct improve_work *work, struct nw_slots *slots)
{
    struct nw_objectives objectives = nw_objectives_from_options(work->problem);

    work->name = "exact";
    return nw_slots_branch_bound(slots, &objectives,
                                 nw_tuned.portfolio.exact_nodes,
                                 &work->report->proven);
}

nw_status nw_improve_exchange_nodes(struct improve_work *work,
                                    struct nw_slots *slots)
{
    struct nw_objectives objectives = improve_objectives_of(work);

    return nw_node_swaps(slots, &objectives, NW_SEARCH_BRIEF);
}

nw_status nw_improve_embed_digits(struct improve_work *work,
                                  struct nw_slots *slots)
{
    struct nw_objectives objectives = improve_objectives_of(work);
    bool found = false;
    nw_status status = nw_slots_embed_digits(slots, &objectives, &found);

    work->name = found ? "fold" : NULL;
    return status;
}

nw_status nw_improve_divide(struct improve_work *work, struct nw_slots *slots)
{
    struct nw_objectives objectives = improve_objectives_of(work);
    enum nw_dragonfly_result paired;
    bool found;
    nw_status status =
        nw_slots_divide_dragonfly(slots, &objectives, work->below, &paired);

    found = paired == NW_DRAGONFLY_DIVIDED;
    if (!status && paired == NW_DRAGONFLY_NONE)
        status = nw_slots_min_max_cut(slots, &objectives, &found);
    if (!found)
        work->name = NULL;
    return status;
}

/* Proves the optimum of the QAP if there are few slots and no second objective;
 * otherwise, or if the proof takes too long, runs tabu search. Sets
 * report->proven after a proof. */
static nw_status improve_by_qap(struct improve_work *work,
                                struct nw_slots *slots)
{
    struct nw_map_report *report = work->report;
    bool second = work->problem->options.has_second;
    struct nw_qap_bridge bridge;
    nw_status status = nw_qap_bridge_init(&bridge, slots);

    if (status)
        return status;
    if (slots->count <= nw_tuned.portfolio.exact_max && !second)
        status = nw_qap_bridge_exact(&bridge, nw_tuned.portfolio.exact_nodes,
                                     &report->proven);
    if (!status && !report->proven)
        status = nw_qap_bridge_tabu(&bridge);
    if (!status)
        nw_qap_bridge_finish(&bridge);
    nw_qap_bridge_fini(&bridge);
    work->name = report->proven ? "exact" : "tabu";
    return status;
}

nw_status nw_improve_search_slots(struct improve_work *work,
                                  struct nw_slots *slots)
{
    struct nw_budget *budget = work->problem->budget;
    bool fast = budget->effort == NW_EFFORT_FAST;
    bool restarts = nw_budget_begin_starts(budget);
    struct nw_objectives objectives = improve_objectives_of(work);
    nw_status status = NW_OK;

    if (!fast)
        status = nw_node_swaps(slots, &objectives, NW_SEARCH_FULL);
    nw_budget_end_starts(budget, restarts);
    if (status)
        return status;
    return nw_slots_anneal(slots, &objectives,
                           fast ? NW_SEARCH_DESCENT : NW_SEARCH_FULL);
}

nw_status nw_improve_search_wide(struct improve_work *work,
                                 struct nw_slots *slots)
{
    struct nw_objectives objectives = improve_objectives_of(work);

    objectives.second = NW_OBJECTIVE_LATENCY;
    return nw_slots_anneal(slots, &objectives, NW_SEARCH_FULL);
}

nw_status nw_improve_tighten(struct improve_work *work, struct nw_slots *slots)
{
    struct nw_objectives objectives = improve_objectives_of(work);

    return nw_slots_anneal(slots, &objectives, NW_SEARCH_TIGHTEN);
}

nw_status nw_improve_cap_second(struct improve_work *work,
                                struct nw_slots *slots)
{
    struct nw_objectives objectives = nw_objectives_from_options(work->problem);

    objectives.hop_limit = fmax(work->hop_limit, work->hop_bytes);
    return nw_slots_anneal(slots, &objectives, NW_SEARCH_CAP_SECOND);
}

nw_status nw_improve_yield(struct improve_work *work, struct nw_slots *slots)
{
    struct nw_objectives objectives = nw_objectives_from_options(work->problem);

    objectives.hop_limit = work->hop_limit;
    objectives.settle_at = work->standard * (1 - 1e-9);
    return nw_slots_anneal(slots, &objectives, NW_SEARCH_CAP_SECOND);
}

nw_status nw_improve_search(struct improve_work *work, struct nw_slots *slots)
{
    const struct nw_problem *problem = work->problem;
    nw_status status = NW_OK;

    if (!work->guard && !problem->lean && nw_search_is_small(problem) &&
        nw_search_fits_qap_first(slots)) {
        status = improve_by_qap(work, slots);
        if (!problem->options.has_second)
            return status;
    }
    return status ? status : nw_improve_search_slots(work, slots);
}
