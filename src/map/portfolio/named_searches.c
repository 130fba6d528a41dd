/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches as algorithms that the user can name. A small problem whose
 * objective is a sum over pairs of ranks is searched as a quadratic assignment
 * problem (QAP). All others are annealed, or searched by branch and bound, with
 * their link loads. */
#include "map/portfolio/algorithm.h"
#include "map/congestion/objectives.h"
#include "map/congestion/qap_bridge.h"
#include "map/congestion/branch_bound.h"
#include "map/congestion/digit_embedding.h"
#include "map/common/parameters.h"
#include "base/status.h"
#include "topology/topology.h"

/* --- the initial answer --- */

nw_status nw_search_initial(const struct nw_problem *problem,
                            struct nw_answer *answer)
{
    nw_status status;

    nw_answer_fini(answer);
    if (problem->options.start) {
        status = nw_answer_from_mapping(problem, answer);
        if (!status)
            status = nw_answer_check_complete(problem, answer);
    } else {
        status = nw_answer_init(answer, problem->pattern->rank_count);
        if (!status)
            status = nw_answer_default(problem, answer);
    }
    if (status || !problem->options.remote_gpus || !problem->uses_gpus)
        return status;
    return nw_answer_allow_remote(answer, problem->pattern->rank_count);
}

/* Converts the assignment to a QAP, runs `search` on it (NULL: a proof of the
 * optimum) and converts the result back. */
static nw_status named_run_qap(nw_status (*search)(struct nw_qap_bridge *),
                               struct nw_slots *slots,
                               struct nw_map_report *report)
{
    struct nw_qap_bridge bridge;
    nw_status status = nw_qap_bridge_init(&bridge, slots);

    if (status)
        return status;
    status = search ? search(&bridge)
                    : nw_qap_bridge_exact(&bridge, 0, &report->proven);
    if (!status)
        nw_qap_bridge_finish(&bridge);
    nw_qap_bridge_fini(&bridge);
    return status;
}

/* A QAP cannot express that a rank is fixed to a node but may move inside it.
 */
bool nw_search_fits_qap_first(const struct nw_slots *slots)
{
    for (int32_t r = 0; r < slots->rank_count; r++)
        if (slots->held[r] && !slots->locked[r])
            return false;
    return nw_qap_bridge_fits(slots);
}

/* A QAP has only one objective, so a second objective excludes a QAP search. */
static bool named_fits_qap(const struct nw_slots *slots)
{
    return nw_search_fits_qap_first(slots) &&
           !slots->problem->options.has_second;
}

nw_status nw_search_exact(struct nw_slots *slots,
                          const struct nw_objectives *objectives,
                          struct nw_map_report *report)
{
    if (named_fits_qap(slots) && slots->count <= NW_BRANCH_BOUND_RANKS_MAX)
        return named_run_qap(NULL, slots, report);
    if (slots->rank_count > NW_BRANCH_BOUND_RANKS_MAX)
        return nw_fail(NW_EUNSUPPORTED,
                       "exact is for at most %d ranks, these are %d",
                       NW_BRANCH_BOUND_RANKS_MAX, slots->rank_count);
    return nw_slots_branch_bound(slots, objectives, 0, &report->proven);
}

/* Runs a QAP search if the problem is a QAP and is small enough, otherwise
 * annealing. If ranks are fixed to a node but may move inside it, or if there
 * is a second objective, a descent by swaps of slots follows. */
nw_status nw_search_tabu(struct nw_slots *slots,
                         const struct nw_objectives *objectives,
                         struct nw_map_report *report)
{
    nw_status status;

    if (!nw_qap_bridge_fits(slots) ||
        slots->count > nw_tuned.portfolio.tabu_max)
        return nw_slots_anneal(slots, objectives, NW_SEARCH_FULL);
    status = named_run_qap(nw_qap_bridge_tabu, slots, report);
    if (!status && !named_fits_qap(slots))
        status = nw_slots_anneal(slots, objectives, NW_SEARCH_DESCENT);
    return status;
}

nw_status nw_search_fold(struct nw_slots *slots,
                         const struct nw_objectives *objectives,
                         struct nw_map_report *report)
{
    bool found = false;
    nw_status status = nw_slots_embed_digits(slots, objectives, &found);

    (void)report;
    if (status || found)
        return status;
    return nw_fail(NW_EUNSUPPORTED,
                   "fold is for grids of ranks, one on each core of nodes "
                   "that are alike, without GPUs and fixed ranks");
}

nw_status nw_search_anneal(struct nw_slots *slots,
                           const struct nw_objectives *objectives,
                           struct nw_map_report *report)
{
    if (slots->problem->topology->matrix &&
        slots->count <= nw_tuned.portfolio.matrix_max && named_fits_qap(slots))
        return named_run_qap(nw_qap_bridge_anneal, slots, report);
    return nw_slots_anneal(slots, objectives, NW_SEARCH_FULL);
}

nw_status nw_search_descend(struct nw_slots *slots,
                            const struct nw_objectives *objectives,
                            struct nw_map_report *report)
{
    if (slots->count <= nw_tuned.portfolio.exact_max && named_fits_qap(slots))
        return nw_search_exact(slots, objectives, report);
    return nw_slots_anneal(slots, objectives, NW_SEARCH_DESCENT);
}

nw_status nw_run_search(const struct nw_algorithm *algorithm,
                        const struct nw_problem *problem,
                        struct nw_answer *answer, struct nw_map_report *report)
{
    struct nw_objectives objectives = nw_objectives_from_options(problem);
    struct nw_slots slots;
    nw_status status = nw_search_initial(problem, answer);

    if (!status)
        status = nw_slots_init(&slots, problem, answer);
    if (status)
        return status;
    status = algorithm->search(&slots, &objectives, report);
    if (!status)
        nw_slots_to_answer(&slots, answer);
    nw_slots_fini(&slots);
    return status;
}

bool nw_search_is_tiny(const struct nw_problem *problem)
{
    return problem->core.first[problem->host_count] <=
               nw_tuned.portfolio.exact_max &&
           problem->pattern->rank_count <= NW_BRANCH_BOUND_RANKS_MAX &&
           problem->options.effort != NW_EFFORT_FAST;
}

bool nw_search_is_small(const struct nw_problem *problem)
{
    return problem->core.first[problem->host_count] <=
           (problem->topology->matrix ? nw_tuned.portfolio.matrix_max
                                      : nw_tuned.portfolio.bridge_max);
}
