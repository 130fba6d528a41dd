/* SPDX-License-Identifier: BSD-3-Clause */
/* Each node has a block of consecutive ranks: by the default mapping, by the
 * mapping of --from, or in order on sorted nodes. First the blocks are
 * exchanged between nodes as a whole. Then the algorithm of the call places
 * each rank inside its node. */
#include "map/portfolio/portfolio.h"
#include "base/array.h"
#include "base/status.h"
#include "cost/pricing.h"
#include "map/common/budget.h"
#include "map/congestion/node_swaps.h"
#include "map/portfolio/candidate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* State of one call of nw_whole_nodes_map. */
struct whole_nodes_work {
    struct nw_problem problem;
    struct nw_budget budget;
    struct nw_candidate standard; /* the default mapping */
    /* ranks in order on nodes that are sorted so that near nodes follow each
     * other (nw_sorted_nodes); empty unless the pattern is a training step */
    struct nw_candidate sorted;
    struct nw_candidate swapped; /* mapping after whole_nodes_exchange has
                                    exchanged the blocks of nodes; ranks are
                                    then placed inside nodes */
};

/* Returns NW_EINVAL if another option cannot be combined with whole nodes. */
static nw_status whole_nodes_check_options(const struct nw_map_options *options)
{
    const struct nw_algorithm *algorithm =
        options->algorithm ? nw_algorithm_find(options->algorithm) : NULL;
    const char *what = NULL;

    if (algorithm && algorithm->baseline)
        what = algorithm->name;
    else if (options->capacity > 1 || options->imbalance >= 0)
        what = "several ranks on an element";
    else if (options->fixed)
        what = "fixed ranks";
    else if (options->remote_gpus)
        what = "GPUs of other nodes";
    return what ? nw_fail(NW_EINVAL, "whole nodes and %s exclude each other",
                          what)
                : NW_OK;
}

/* Returns NW_EINVAL if the ranks of a node are not consecutive. */
static nw_status whole_nodes_check(const struct nw_problem *problem,
                                   const struct nw_answer *answer)
{
    int32_t n = problem->pattern->rank_count;
    bool *seen;
    nw_status status =
        nw_alloc((size_t)problem->host_count, sizeof *seen, &seen);

    for (int32_t r = 0; !status && r < n; r++) {
        int32_t host = answer->host[r];

        if (r && host == answer->host[r - 1])
            continue;
        if (seen[host])
            status = nw_fail(
                NW_EINVAL,
                "whole nodes need consecutive ranks on each node, but the %s "
                "has rank %d on %s apart from the other ranks there",
                problem->options.start ? "mapping to begin from"
                                       : "default mapping",
                r,
                nw_topology_node_name(problem->topology, problem->host[host]));
        seen[host] = true;
    }
    free(seen);
    return status;
}

/* Exchanges the blocks of ranks between nodes of one kind. The number of steps
 * depends only on the effort, not on --time or --steps. So a later run with
 * --steps and the number of steps in the report gives the same answer. With the
 * option `careful`, hop-bytes and congestion are capped at those of the default
 * mapping. */
static nw_status whole_nodes_exchange(struct whole_nodes_work *work,
                                      struct nw_answer *answer)
{
    struct nw_objectives objectives =
        nw_objectives_from_options(&work->problem);
    struct nw_slots slots;
    nw_status status = nw_slots_init(&slots, &work->problem, answer);

    if (status)
        return status;
    if (work->problem.options.careful) {
        objectives.hop_limit = work->standard.guard[0];
        objectives.most_limit = work->standard.guard[1];
    }
    work->budget.anytime = false;
    status = nw_node_swaps(&slots, &objectives, NW_SEARCH_FULL);
    if (!status)
        nw_slots_to_answer(&slots, answer);
    nw_slots_fini(&slots);
    return status;
}

/* Makes work->swapped. The initial answer is the mapping of --from if that is
 * given; otherwise the ranks in order on sorted nodes (nw_sorted_nodes) if the
 * pattern is a training step; otherwise the default mapping. Its nodes are
 * exchanged, unless the user asked for the default mapping by name. */
static nw_status whole_nodes_swap(struct whole_nodes_work *work)
{
    const struct nw_problem *problem = &work->problem;
    const char *name = problem->options.algorithm;
    bool is_default = name && !strcmp(name, "default");
    struct nw_answer answer = {0};
    nw_status status = nw_search_initial(problem, &answer);

    if (!status)
        status = whole_nodes_check(problem, &answer);
    if (!status && problem->phases->found && !problem->options.start &&
        !is_default) {
        status = nw_sorted_nodes(problem, &answer);
        if (!status)
            status = nw_candidate_from_answer(problem, &answer, "sorted",
                                              &work->sorted);
    }
    if (!status && !is_default)
        status = whole_nodes_exchange(work, &answer);
    if (!status)
        status = nw_candidate_from_answer(problem, &answer, "whole-nodes",
                                          &work->swapped);
    nw_answer_fini(&answer);
    return status;
}

/* Reduces the limits --steps and --time in the options by the steps and the
 * time that the exchange of nodes has used. */
static void whole_nodes_share_budget(const struct whole_nodes_work *work,
                                     struct nw_map_options *options)
{
    const struct nw_budget *budget = &work->budget;

    if (options->steps)
        options->steps =
            options->steps > budget->steps ? options->steps - budget->steps : 1;
    if (options->seconds > 0)
        options->seconds =
            fmax(options->seconds -
                     1e-9 * (double)(budget->now() - budget->begun_ns),
                 1e-9);
}

/* Maps the ranks inside their nodes: every rank is fixed to its node. */
static nw_status whole_nodes_place(const struct whole_nodes_work *work,
                                   struct nw_map_answer *out)
{
    struct nw_map_options options = work->problem.options;
    struct nw_map_call call = {work->problem.topology, work->problem.pattern,
                               &options};
    const nw_mapping *swapped = work->swapped.mapping;
    nw_mapping *fixed = NULL;
    nw_status status =
        nw_mapping_new(call.topology, swapped->rank_count, &fixed);

    if (status)
        return status;
    memcpy(fixed->node, swapped->node,
           (size_t)swapped->rank_count * sizeof *fixed->node);
    whole_nodes_share_budget(work, &options);
    options.whole_nodes = false;
    options.fixed = fixed;
    options.start = swapped;
    status = nw_portfolio_map(&call, false, out);
    nw_mapping_free(fixed);
    return status;
}

/* Replaces the answer by the candidate, which becomes empty, if the objective
 * of the candidate is lower. */
static void whole_nodes_keep(const struct whole_nodes_work *work,
                             struct nw_candidate *candidate,
                             struct nw_map_answer *answer)
{
    enum nw_objective objective = work->problem.options.objective;
    double figure = nw_cost_objective(&answer->cost, objective);

    if (figure - candidate->figure[0] <= 1e-9 * fabs(candidate->figure[0]))
        return;
    nw_candidate_to_answer(candidate, answer);
}

/* Exchanges nodes, places ranks inside nodes, and keeps the best candidate. */
static nw_status whole_nodes_run(struct whole_nodes_work *work,
                                 struct nw_map_answer *out)
{
    const struct nw_problem *problem = &work->problem;
    nw_status status =
        nw_problem_check_links(problem->topology, &problem->options);

    if (!status)
        status = whole_nodes_check_options(&problem->options);
    if (!status)
        status = nw_candidate_run(nw_algorithm_get(NW_ALGORITHM_DEFAULT),
                                  problem, &out->report, &work->standard);
    if (!status)
        status = whole_nodes_swap(work);
    if (!status)
        status = whole_nodes_place(work, out);
    if (status)
        return status;
    out->report.steps += work->budget.steps;
    out->report.proven = false;
    if (nw_candidate_better(&work->swapped, &work->standard) &&
        !strcmp(out->report.algorithm, work->standard.algorithm))
        out->report.algorithm = work->swapped.algorithm;
    out->report.hurried |= work->budget.hurried;
    status = nw_cost_copy(&work->standard.cost, &out->standard);
    if (!status) {
        whole_nodes_keep(work, &work->swapped, out);
        if (work->sorted.mapping)
            whole_nodes_keep(work, &work->sorted, out);
        whole_nodes_keep(work, &work->standard, out);
    }
    return status;
}

nw_status nw_whole_nodes_map(const struct nw_map_call *call,
                             struct nw_map_answer *out)
{
    struct whole_nodes_work work = {0};
    struct nw_map_answer answer = {0};
    nw_status status = nw_problem_init(&work.problem, call->topology,
                                       call->pattern, call->options);

    if (status)
        return status;
    nw_budget_init(&work.budget, &work.problem.options);
    work.problem.budget = &work.budget;
    status = whole_nodes_run(&work, &answer);
    nw_candidate_fini(&work.swapped);
    nw_candidate_fini(&work.sorted);
    nw_candidate_fini(&work.standard);
    nw_problem_fini(&work.problem);
    if (status)
        nw_map_answer_fini(&answer);
    else
        *out = answer;
    return status;
}
