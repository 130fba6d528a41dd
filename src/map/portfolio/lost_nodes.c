/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps a restart after nodes were lost. First the ranks of these nodes
 * ("displaced" ranks) get new places while all other ranks are fixed. Then any
 * rank may move if that shortens the predicted time by more than the cost of
 * the move. */
#include "map/portfolio/portfolio.h"
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "cost/pricing.h"
#include "map/common/budget.h"
#include "map/common/parameters.h"
#include "map/congestion/migration_cost.h"
#include "map/congestion/node_swaps.h"
#include "map/portfolio/candidate.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

/* Default cost of a move: this fraction of the predicted exchange time. */
#define LOST_NODES_MOVE_COST 0.01

/* State of one call of nw_lost_nodes_map. */
struct lost_nodes_work {
    const nw_topology *topology;
    const nw_pattern *pattern;
    /* options of the call, with the remaining hosts */
    struct nw_map_options options;
    const nw_mapping *old; /* mapping before nodes were lost; borrowed */
    bool *is_lost;         /* [nodes] the node is lost */
    bool *displaced;       /* [ranks] the rank was on a lost node */
    int32_t *node; /* [ranks] index in the topology of each rank's old node */
    int32_t *ranks_of;     /* [nodes] number of ranks on each node in `old` */
    int32_t *host, *slots; /* [nodes] arrays for options.hosts and .slots */
    nw_mapping *names;     /* has the node names of the topology; owned */
    nw_mapping fixed; /* places of ranks that are not displaced; its arrays are
                         borrowed from `names` and `old` */
    double each;      /* s: by how much the move of one rank must shorten the
                         predicted time of all exchanges of the run */
    struct nw_budget budget; /* budget of the searches in this file */
};

/* --- checks --- */

/* Reads the options. Returns NW_EINVAL if the old mapping is missing or wrong,
 * or if another option cannot be combined with lost nodes. */
static nw_status lost_nodes_read_options(struct lost_nodes_work *work,
                                         const struct nw_map_call *call)
{
    struct nw_map_options *mine = &work->options;

    *mine = nw_problem_options(call->options);
    work->topology = call->topology;
    work->pattern = call->pattern;
    work->old = mine->start;
    if (!mine->start)
        return nw_fail(NW_EINVAL, "lost nodes need a mapping to begin from");
    if (mine->start->gpu_node || mine->remote_gpus)
        return nw_fail(
            NW_EINVAL,
            "lost nodes cannot be combined with GPUs of other nodes");
    if (mine->fixed || mine->capacity > 1 || mine->imbalance >= 0)
        return nw_fail(NW_EINVAL, "lost nodes cannot be combined with fixed "
                                  "ranks or with several ranks on an element");
    if (mine->start->rank_count != call->pattern->rank_count)
        return nw_fail(NW_EINVAL,
                       "the initial mapping has %d rank%s, the pattern has %d",
                       mine->start->rank_count,
                       nw_plural((uint64_t)mine->start->rank_count),
                       call->pattern->rank_count);
    return NW_OK;
}

/* Finds the node of each rank in the old mapping. Returns NW_EINVAL if a rank
 * has no node there or one that the machine lacks. */
static nw_status lost_nodes_find_ranks(struct lost_nodes_work *work)
{
    const nw_mapping *old = work->old;

    for (int32_t r = 0; r < old->rank_count; r++) {
        int32_t node = old->node[r];

        if (node >= 0)
            node = nw_topology_node_find(work->topology, old->node_name[node]);
        if (node < 0)
            return nw_fail_about(
                NW_MAPPED(-1), NW_EINVAL,
                "the mapping to begin from has rank %d on no node "
                "of %s",
                r, nw_topology_name(work->topology));
        work->node[r] = node;
        work->ranks_of[node]++;
    }
    return NW_OK;
}

/* Marks a node as lost. Returns NW_EINVAL if the machine does not have this
 * node, if the node is given twice, or if it had no ranks. */
static nw_status lost_nodes_check_one(struct lost_nodes_work *work,
                                      int32_t node)
{
    const nw_topology *topology = work->topology;

    if (node < 0 || node >= nw_topology_node_count(topology))
        return nw_fail(NW_EINVAL, "lost node %d is not one of %d node%s", node,
                       nw_topology_node_count(topology),
                       nw_plural((uint64_t)nw_topology_node_count(topology)));
    if (work->is_lost[node])
        return nw_fail(NW_EINVAL, "lost node %s is given twice",
                       nw_topology_node_name(topology, node));
    if (!work->ranks_of[node])
        return nw_fail(NW_EINVAL,
                       "the initial mapping has no rank on the lost node %s",
                       nw_topology_node_name(topology, node));
    work->is_lost[node] = true;
    return NW_OK;
}

/* --- the remaining hosts --- */

/* Returns true if a node is not lost and had no ranks. */
static bool lost_nodes_is_free(const struct lost_nodes_work *work, int32_t node)
{
    return !work->ranks_of[node] && !work->is_lost[node];
}

/* Returns NW_EINVAL if a rank that is not displaced is on none of the first
 * `count` hosts. */
static nw_status lost_nodes_check_kept(const struct lost_nodes_work *work,
                                       size_t count)
{
    size_t nodes = (size_t)nw_topology_node_count(work->topology);
    bool *is_host;
    nw_status status = nw_alloc(nodes, sizeof *is_host, &is_host);

    for (size_t h = 0; !status && h < count; h++)
        is_host[work->host[h]] = true;
    for (int32_t r = 0; !status && r < work->old->rank_count; r++)
        if (!work->displaced[r] && !is_host[work->node[r]])
            status = nw_fail_about(
                NW_MAPPED(-1), NW_EINVAL,
                "the mapping to begin from has rank %d on %s, which is not "
                "among the hosts to use",
                r, nw_topology_node_name(work->topology, work->node[r]));
    free(is_host);
    return status;
}

/* Sets the hosts of the options: the nodes that the call may use, except the
 * lost nodes and the last `spare` nodes of those without ranks. Returns
 * NW_EINVAL if too few nodes are left or a rank that is not displaced loses its
 * host. */
static nw_status lost_nodes_choose_hosts(struct lost_nodes_work *work)
{
    struct nw_map_options *options = &work->options;
    size_t all = options->hosts
                     ? options->host_count
                     : (size_t)nw_topology_node_count(work->topology);
    int32_t unused = 0;
    size_t count = 0;
    nw_status status;

    for (size_t h = 0; h < all; h++)
        unused += lost_nodes_is_free(work, options->hosts ? options->hosts[h]
                                                          : (int32_t)h);
    if (options->spare < 0 || options->spare > unused)
        return nw_fail(NW_EINVAL,
                       "%d spare node%s requested, but only %d node%s free; "
                       "use fewer spare nodes or a larger machine",
                       options->spare,
                       nw_by_count((uint64_t)options->spare, " is", "s are"),
                       unused, nw_by_count((uint64_t)unused, " is", "s are"));
    unused -= options->spare;
    for (size_t h = 0; h < all; h++) {
        int32_t node = options->hosts ? options->hosts[h] : (int32_t)h;

        if (work->is_lost[node] ||
            (lost_nodes_is_free(work, node) && unused-- <= 0))
            continue;
        work->slots[count] = options->slots ? options->slots[h] : INT32_MAX;
        work->host[count++] = node;
    }
    if (!count)
        return nw_fail(NW_EINVAL, "all nodes are lost");
    status = lost_nodes_check_kept(work, count);
    if (status)
        return status;
    options->hosts = work->host;
    options->slots = work->slots;
    options->host_count = count;
    options->spare = 0;
    return NW_OK;
}

/* --- the ranks that keep their places --- */

/* Returns the old mapping with other nodes: node[r] is the node of rank r in
 * the topology, -1: open. Borrows `node` and the arrays of the old mapping. */
static nw_mapping lost_nodes_with_nodes(const struct lost_nodes_work *work,
                                        int32_t *node)
{
    nw_mapping mapping = *work->old;

    mapping.node = node;
    mapping.nic = NULL;
    mapping.node_count = work->names->node_count;
    mapping.node_name = work->names->node_name;
    return mapping;
}

/* --- places for the displaced ranks --- */

/* Finds a free node of the same type, with enough slots, for each lost node.
 * twin[a] = b and twin[b] = a if node b replaces lost node a; entries must be
 * -1 at first. Returns NW_EINVAL if there are too few such nodes. */
static nw_status lost_nodes_find_twins(const struct lost_nodes_work *work,
                                       int32_t *twin)
{
    const nw_topology *topology = work->topology;
    size_t next = 0;

    for (size_t i = 0; i < work->options.lost_count; i++) {
        int32_t lost = work->options.lost[i];

        for (next = 0; next < work->options.host_count; next++) {
            int32_t node = work->host[next];

            if (lost_nodes_is_free(work, node) && twin[node] < 0 &&
                work->slots[next] >= work->ranks_of[lost] &&
                nw_topology_type_of(topology, node) ==
                    nw_topology_type_of(topology, lost))
                break;
        }
        if (next == work->options.host_count)
            return nw_fail(NW_EINVAL,
                           "no free node of the type of %s is left for its %d "
                           "rank%s; add nodes with --hosts",
                           nw_topology_node_name(topology, lost),
                           work->ranks_of[lost],
                           nw_plural((uint64_t)work->ranks_of[lost]));
        twin[work->host[next]] = lost;
        twin[lost] = work->host[next];
    }
    return NW_OK;
}

/* Fills node[ranks] with the nodes of the old mapping, but with a free node in
 * the place of each lost node. */
static nw_status lost_nodes_replace(const struct lost_nodes_work *work,
                                    int32_t *node)
{
    int32_t nodes = nw_topology_node_count(work->topology), *twin;
    nw_status status = nw_alloc((size_t)nodes, sizeof *twin, &twin);

    for (int32_t n = 0; !status && n < nodes; n++)
        twin[n] = -1;
    if (!status)
        status = lost_nodes_find_twins(work, twin);
    for (int32_t r = 0; !status && r < work->old->rank_count; r++)
        node[r] = work->displaced[r] ? twin[work->node[r]] : work->node[r];
    free(twin);
    return status;
}

/* --- searches --- */

/* Searches from options->start and makes *out of the result. If `moves` is
 * true, moves ranks, or whole nodes, if the predicted time falls by more than
 * the cost of the moves. Otherwise chooses the best free nodes for the ranks of
 * lost nodes: swaps whole nodes that hold no fixed ranks. */
static nw_status lost_nodes_search(struct lost_nodes_work *work,
                                   const struct nw_map_options *options,
                                   bool moves, struct nw_candidate *out)
{
    const struct nw_move_cost cost = {work->displaced, work->each,
                                      work->options.whole_nodes};
    struct nw_objectives objectives;
    struct nw_problem problem;
    struct nw_answer answer = {0};
    struct nw_slots slots = {0};
    nw_status status =
        nw_problem_init(&problem, work->topology, work->pattern, options);

    if (status)
        return status;
    problem.budget = &work->budget;
    status = nw_search_initial(&problem, &answer);
    if (!status)
        status = nw_slots_init(&slots, &problem, &answer);
    objectives = nw_objectives_from_options(&problem);
    if (!status)
        status = moves ? nw_slots_move_at_cost(&slots, &cost)
                       : nw_node_swaps(&slots, &objectives, NW_SEARCH_FULL);
    if (!status) {
        nw_slots_to_answer(&slots, &answer);
        status = nw_candidate_from_answer(&problem, &answer, "refine", out);
    }
    nw_slots_fini(&slots);
    nw_answer_fini(&answer);
    nw_problem_fini(&problem);
    return status;
}

/* Moves all ranks of each lost node together to a free node. */
static nw_status lost_nodes_place_whole(struct lost_nodes_work *work,
                                        struct nw_map_answer *out)
{
    struct nw_map_options options = work->options;
    struct nw_candidate candidate = {0};
    nw_mapping replaced;
    int32_t *node;
    nw_status status =
        nw_alloc((size_t)work->old->rank_count, sizeof *node, &node);

    if (!status)
        status = lost_nodes_replace(work, node);
    replaced = lost_nodes_with_nodes(work, node);
    options.fixed = &work->fixed;
    options.start = &replaced;
    work->budget.anytime = false;
    if (!status)
        status = lost_nodes_search(work, &options, false, &candidate);
    if (!status)
        nw_candidate_to_answer(&candidate, out);
    free(node);
    return status;
}

/* --- moves that pay --- */

/* Returns true if both sets of cores or GPUs are equal; a set that begins with
 * a negative number counts as empty. */
static bool lost_nodes_is_same_set(struct nw_ints a, struct nw_ints b)
{
    if (a.count && a.values[0] < 0)
        a.count = 0;
    if (b.count && b.values[0] < 0)
        b.count = 0;
    return a.count == b.count &&
           (!a.count ||
            !memcmp(a.values, b.values, a.count * sizeof *a.values));
}

/* Returns the number of ranks whose node, cores or GPUs differ from those of
 * the old mapping. */
static int32_t lost_nodes_count_moved(const struct lost_nodes_work *work,
                                      const nw_mapping *mapping)
{
    const nw_mapping *old = work->old;
    int32_t moved = 0;

    for (int32_t r = 0; r < mapping->rank_count; r++)
        moved += mapping->node[r] != work->node[r] ||
                 !lost_nodes_is_same_set(nw_mapping_cores(mapping, r),
                                         nw_mapping_cores(old, r)) ||
                 !lost_nodes_is_same_set(nw_mapping_gpus(mapping, r),
                                         nw_mapping_gpus(old, r));
    return moved;
}

/* If the machine has links, moves ranks if the predicted time falls by more
 * than the cost of the moves. Fills the report. */
static nw_status lost_nodes_improve(struct lost_nodes_work *work,
                                    struct nw_map_answer *out)
{
    struct nw_map_options options = work->options;
    struct nw_candidate candidate = {0};
    int32_t moved = lost_nodes_count_moved(work, out->mapping);
    double exchanges;
    nw_status status;

    out->report.moved = moved;
    for (int32_t r = 0; r < work->old->rank_count; r++)
        out->report.lost_ranks += work->displaced[r];
    if (!nw_topology_has_links(work->topology))
        return NW_OK;
    exchanges = (double)nw_cost_exchanges(work->pattern, &out->cost);
    out->report.move_cost =
        options.move_cost < 0
            ? LOST_NODES_MOVE_COST * out->cost.time / exchanges
            : options.move_cost;
    work->each = out->report.move_cost * exchanges;
    options.start = out->mapping;
    status = lost_nodes_search(work, &options, true, &candidate);
    if (status)
        return status;
    moved = lost_nodes_count_moved(work, candidate.mapping);
    if (out->cost.time - candidate.cost.time >
        work->each * (moved - out->report.moved)) {
        nw_candidate_to_answer(&candidate, out);
        out->report.moved = moved;
    }
    nw_candidate_fini(&candidate);
    return NW_OK;
}

/* Computes the cost of the default mapping on the remaining hosts. */
static nw_status lost_nodes_price_default(const struct lost_nodes_work *work,
                                          struct nw_map_answer *out)
{
    struct nw_map_options options = work->options;
    struct nw_map_call call = {work->topology, work->pattern, &options};
    nw_mapping *standard = NULL;
    nw_status status;

    options.start = NULL;
    status = nw_problem_default(&call, &standard);
    if (!status)
        status = nw_cost_evaluate(work->topology, work->pattern, standard,
                                  &out->standard);
    nw_mapping_free(standard);
    return status;
}

/* Runs the method from the checks to the report: maps the displaced ranks while
 * all others are fixed, then lets any rank move. */
static nw_status lost_nodes_solve(struct lost_nodes_work *work,
                                  const struct nw_map_call *call,
                                  struct nw_map_answer *out)
{
    struct nw_map_options options;
    struct nw_map_call fixed = {call->topology, call->pattern, &options};
    size_t nodes = (size_t)nw_topology_node_count(call->topology);
    size_t ranks = (size_t)call->pattern->rank_count;
    nw_status status = lost_nodes_read_options(work, call);

    if (!status)
        status = NW_ALLOC_ALL(
            NW_ARRAY(nodes, work->is_lost), NW_ARRAY(ranks, work->displaced),
            NW_ARRAY(ranks, work->node), NW_ARRAY(nodes, work->ranks_of),
            NW_ARRAY(nodes, work->host), NW_ARRAY(nodes, work->slots));
    if (!status)
        status = nw_problem_check_hosts(work->topology, &work->options);
    if (!status)
        status = lost_nodes_find_ranks(work);
    for (size_t i = 0; !status && i < work->options.lost_count; i++)
        status = lost_nodes_check_one(work, work->options.lost[i]);
    for (size_t r = 0; !status && r < ranks; r++)
        work->displaced[r] = work->is_lost[work->node[r]];
    if (!status)
        status = lost_nodes_choose_hosts(work);
    if (!status)
        status = nw_mapping_new(work->topology, (int32_t)ranks, &work->names);
    if (status)
        return status;
    /* A rank whose node is open is not fixed. */
    for (size_t r = 0; r < ranks; r++)
        work->names->node[r] = work->displaced[r] ? -1 : work->node[r];
    work->fixed = lost_nodes_with_nodes(work, work->names->node);
    nw_budget_init(&work->budget, &work->options);
    options = work->options;
    options.fixed = &work->fixed;
    options.start = NULL;
    options.lost_count = 0;
    status = options.whole_nodes ? lost_nodes_place_whole(work, out)
                                 : nw_portfolio_map(&fixed, false, out);
    if (!status)
        status = lost_nodes_improve(work, out);
    if (!status)
        status = lost_nodes_price_default(work, out);
    out->report.steps += work->budget.steps;
    out->report.proven = false;
    return status;
}

nw_status nw_lost_nodes_map(const struct nw_map_call *call,
                            struct nw_map_answer *out)
{
    struct lost_nodes_work work = {0};
    struct nw_map_answer answer = {0};
    nw_status status = lost_nodes_solve(&work, call, &answer);

    NW_FREE_ALL(work.is_lost, work.displaced, work.node, work.ranks_of,
                work.host, work.slots);
    nw_mapping_free(work.names);
    if (status)
        nw_map_answer_fini(&answer);
    else
        *out = answer;
    return status;
}
