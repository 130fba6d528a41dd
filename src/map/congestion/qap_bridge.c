/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes flows from the pattern and distances from the topology, and runs the
 * QAP searches within the budget. The tabu search has two populations
 * (islands), each with its own seed. Its answer is therefore the same with one
 * thread and with two threads. */
#include "map/congestion/qap_bridge.h"
#include "base/array.h"
#include "base/parallel.h"
#include "map/common/budget.h"
#include "map/congestion/route_cache.h"
#include "map/common/parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ISLANDS 2

bool nw_qap_bridge_fits(const struct nw_slots *slots)
{
    const struct nw_problem *problem = slots->problem;
    enum nw_objective objective = problem->options.objective;

    if (problem->limit || (objective != NW_OBJECTIVE_HOP_BYTES &&
                           objective != NW_OBJECTIVE_LATENCY))
        return false;
    for (int32_t h = 0; h < problem->host_count; h++)
        if (problem->capacity[h] < slots->first[h + 1] - slots->first[h])
            return false;
    return slots->core_count == slots->count;
}

/* --- making the QAP --- */

/* Appends an item to the QAP: an endpoint on a slot, or -1 for a free slot. */
static void qap_bridge_add_item(struct nw_qap_bridge *bridge, int32_t *count,
                                int32_t endpoint, int32_t slot)
{
    bridge->endpoint[*count] = endpoint;
    bridge->place[(*count)++] = slot;
}

/* Returns true if a rank does not move in the QAP. That includes ranks that may
 * move within their node only, because the QAP does not know nodes. */
static bool qap_bridge_stays(const struct nw_slots *slots, int32_t rank)
{
    return slots->locked[rank] || slots->held[rank];
}

/* Lists the items of the QAP in this order: ranks that move, free slots, ranks
 * that stay. */
static void qap_bridge_list_items(struct nw_qap_bridge *bridge)
{
    const struct nw_slots *slots = bridge->slots;
    int32_t count = 0;

    for (int32_t r = 0; r < slots->rank_count; r++)
        if (!qap_bridge_stays(slots, r))
            qap_bridge_add_item(bridge, &count, r, slots->slot[r]);
    bridge->qap.real = count;
    for (int32_t s = 0; s < slots->count; s++)
        if (slots->owner[s] < 0)
            qap_bridge_add_item(bridge, &count, -1, s);
    bridge->qap.movable = count;
    for (int32_t r = 0; r < slots->rank_count; r++)
        if (qap_bridge_stays(slots, r)) {
            bridge->open |= slots->unit[slots->slot[r]] >= 0;
            qap_bridge_add_item(bridge, &count, r, slots->slot[r]);
        }
}

/* Fills the flows between items: bytes, or messages if the objective is
 * latency. item_of[] is scratch and becomes the item of each rank. */
static void qap_bridge_add_flows(struct nw_qap_bridge *bridge, int32_t *item_of)
{
    const nw_pattern *pattern = bridge->slots->problem->pattern;
    bool messages =
        bridge->slots->problem->options.objective == NW_OBJECTIVE_LATENCY;
    size_t n = (size_t)bridge->qap.n;

    for (int32_t i = 0; (size_t)i < n; i++)
        if (bridge->endpoint[i] >= 0)
            item_of[bridge->endpoint[i]] = i;
    for (int32_t r = 0; r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++)
            bridge->qap.flow[(size_t)item_of[r] * n +
                             (size_t)item_of[pattern->dst[e]]] +=
                (double)(messages ? pattern->messages[e] : pattern->bytes[e]);
}

/* Fills the distances between slots: latencies if the objective is latency. */
static nw_status qap_bridge_fill_distances(struct nw_qap_bridge *bridge)
{
    const struct nw_problem *problem = bridge->slots->problem;
    bool latency = problem->options.objective == NW_OBJECTIVE_LATENCY;
    struct nw_route_cache routes = {
        .topology = problem->topology,
        .end = bridge->slots->end,
        .count = bridge->qap.n,
        .wants = {.latency = latency, .hop_bytes = !latency}};
    int32_t n = bridge->qap.n;
    nw_status status = nw_route_cache_init(&routes);

    for (int32_t a = 0; !status && a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            struct nw_route route = nw_route_cache_find(&routes, a, b);

            bridge->qap.distance[(size_t)a * (size_t)n + (size_t)b] =
                latency ? route.latency : route.distance;
        }
    nw_route_cache_fini(&routes);
    return status;
}

nw_status nw_qap_bridge_init(struct nw_qap_bridge *bridge,
                             struct nw_slots *slots)
{
    int32_t *item_of = NULL;
    size_t n = (size_t)slots->count;
    nw_status status;

    *bridge = (struct nw_qap_bridge){.slots = slots};
    status = nw_qap_init(&bridge->qap, slots->count);
    if (!status)
        status = NW_ALLOC_ALL(NW_ARRAY(n, bridge->endpoint),
                              NW_ARRAY(n, bridge->place), NW_ARRAY(n, item_of));
    if (!status)
        status = qap_bridge_fill_distances(bridge);
    if (!status) {
        qap_bridge_list_items(bridge);
        qap_bridge_add_flows(bridge, item_of);
        nw_qap_finish(&bridge->qap);
    } else {
        nw_qap_bridge_fini(bridge);
    }
    free(item_of);
    return status;
}

void nw_qap_bridge_fini(struct nw_qap_bridge *bridge)
{
    nw_qap_fini(&bridge->qap);
    free(bridge->endpoint);
    free(bridge->place);
    bridge->endpoint = bridge->place = NULL;
}

void nw_qap_bridge_finish(struct nw_qap_bridge *bridge)
{
    struct nw_slots *slots = bridge->slots;

    for (int32_t i = 0; i < bridge->qap.n; i++)
        if (bridge->endpoint[i] >= 0)
            slots->slot[bridge->endpoint[i]] = bridge->place[i];
    nw_slots_assign(slots, slots->slot);
}

/* --- tabu search --- */

/* A population (island) of the tabu search, and when it stops. */
struct qap_bridge_island {
    struct nw_qap_memetic memetic;
    uint64_t until; /* value of memetic.steps at which the present epoch ends */
    uint64_t limit; /* largest value of memetic.steps that --steps allows */
};

/* Runs island i of user[ISLANDS] until the end of the epoch or its limit of
 * steps; a task for threads. */
static void qap_bridge_advance(void *user, int32_t i)
{
    struct qap_bridge_island *island = (struct qap_bridge_island *)user + i;
    struct nw_qap_memetic *memetic = &island->memetic;

    while (memetic->steps < island->until && memetic->steps < island->limit) {
        uint64_t left = island->limit - memetic->steps;

        if (memetic->child_steps > left)
            memetic->child_steps = left;
        nw_qap_memetic_next(memetic);
    }
}

/* Returns how many steps both islands together make by effort. With the default
 * effort, these are as many as small problems need to find their best solution;
 * for larger problems as many as take a second or two. UINT64_MAX with --time
 * or --steps. */
static uint64_t qap_bridge_effort_steps(const struct nw_qap *qap,
                                        const struct nw_budget *budget)
{
    double n = qap->n;
    double steps =
        fmin((n > nw_tuned.qap.small ? 25 : 75) * n * n * n, 1.7e9 / (n * n));

    if (budget->anytime)
        return UINT64_MAX;
    return (uint64_t)(steps / nw_tuned.effort.qap_divided[budget->effort] *
                      (double)nw_tuned.effort.steps_times[budget->effort]);
}

/* Runs the islands epoch by epoch until the steps of the effort are made or the
 * budget ends. The steps that --steps still allows are divided evenly among the
 * islands. */
static void qap_bridge_run_islands(struct nw_qap_bridge *bridge,
                                   struct qap_bridge_island *island)
{
    struct nw_budget *budget = bridge->slots->problem->budget;
    double n = bridge->qap.n;
    uint64_t epoch = (uint64_t)(nw_tuned.qap.epoch_work / (n * n)) + 1;
    uint64_t last = qap_bridge_effort_steps(&bridge->qap, budget), done = 0;
    uint64_t left = budget->steps_most - budget->steps;
    bool goes = !budget->stopped;

    for (uint64_t i = 0; i < ISLANDS; i++)
        island[i].limit = budget->steps_most == UINT64_MAX
                              ? UINT64_MAX
                              : (left + ISLANDS - 1 - i) / ISLANDS;
    while (goes && done < last) {
        uint64_t before = done, each = (last - done) / ISLANDS;

        each = each < epoch ? each + 1 : epoch;
        each = nw_budget_slice(budget, each);
        done = 0;
        for (int i = 0; i < ISLANDS; i++)
            island[i].until = island[i].memetic.steps + each;
        nw_parallel_run(qap_bridge_advance, island, ISLANDS, budget->threads);
        for (int i = 0; i < ISLANDS; i++)
            done += island[i].memetic.steps;
        goes = nw_budget_spend(budget, done - before);
    }
}

nw_status nw_qap_bridge_tabu(struct nw_qap_bridge *bridge)
{
    struct qap_bridge_island island[ISLANDS] = {0};
    bool better;
    uint64_t seed = bridge->slots->problem->options.seed;
    const struct nw_qap *qap = &bridge->qap;
    uint64_t last =
        qap_bridge_effort_steps(qap, bridge->slots->problem->budget);
    nw_status status = NW_OK;

    if (!qap->real || qap->movable < 2)
        return NW_OK;
    for (int i = 0; !status && i < ISLANDS; i++) {
        struct nw_qap_memetic *memetic = &island[i].memetic;

        status = nw_qap_memetic_init(memetic, qap,
                                     seed + (uint64_t)i * 0x9e3779b97f4a7c15u,
                                     bridge->place);
        if (memetic->child_steps > last / ISLANDS)
            memetic->child_steps = last / ISLANDS + 1;
    }
    if (!status) {
        qap_bridge_run_islands(bridge, island);
        better = island[1].memetic.best_cost < island[0].memetic.best_cost;
        memcpy(bridge->place, island[better].memetic.best,
               (size_t)qap->n * sizeof *bridge->place);
    }
    for (int i = 0; i < ISLANDS; i++)
        nw_qap_memetic_fini(&island[i].memetic);
    return status;
}

/* --- annealing, branch and bound --- */

nw_status nw_qap_bridge_anneal(struct nw_qap_bridge *bridge)
{
    struct nw_budget *budget = bridge->slots->problem->budget;
    const struct nw_qap *qap = &bridge->qap;
    uint64_t steps = qap_bridge_effort_steps(qap, budget), seed = 0;
    double best = nw_qap_cost(qap, bridge->place);
    int32_t *trial;
    nw_status status = nw_alloc((size_t)qap->n, sizeof *trial, &trial);
    bool goes = !budget->stopped;

    if (budget->anytime)
        steps = 50000;
    while (!status && goes) {
        uint64_t now = nw_budget_slice(budget, steps);
        double cost;

        memcpy(trial, bridge->place, (size_t)qap->n * sizeof *trial);
        status =
            nw_qap_anneal(qap, bridge->slots->problem->options.seed + seed++,
                          now, trial, &cost);
        if (!status && cost < best) {
            best = cost;
            memcpy(bridge->place, trial, (size_t)qap->n * sizeof *trial);
        }
        goes = nw_budget_spend(budget, now) && budget->anytime;
    }
    free(trial);
    return status;
}

/* Counts the search nodes since its last call in the budget. Sets exact->look,
 * the number of nodes at which it is called next. Returns false if the search
 * must end. */
static bool qap_bridge_goes_on(struct nw_qap_exact_search *exact)
{
    struct nw_qap_bridge *bridge = exact->user;
    struct nw_budget *budget = bridge->slots->problem->budget;
    bool goes = nw_budget_spend(budget, exact->nodes - bridge->reported);

    bridge->reported = exact->nodes;
    exact->look =
        exact->nodes + nw_budget_slice(budget, nw_tuned.qap.nodes_slice);
    return goes;
}

nw_status nw_qap_bridge_exact(struct nw_qap_bridge *bridge, uint64_t nodes,
                              bool *proven)
{
    struct nw_budget *budget = bridge->slots->problem->budget;
    struct nw_qap_exact_search exact = {
        .nodes_most = nodes ? nodes : UINT64_MAX,
        .look = nw_budget_slice(budget, nw_tuned.qap.nodes_slice),
        .goes_on = qap_bridge_goes_on,
        .user = bridge};
    nw_status status;

    bridge->reported = 0;
    status = nw_qap_gilmore_lawler(&bridge->qap, &exact, bridge->place);
    if (status)
        return status;
    *proven = exact.proven && !bridge->open;
    (void)qap_bridge_goes_on(&exact);
    return NW_OK;
}
