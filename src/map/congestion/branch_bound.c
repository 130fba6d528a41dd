/* SPDX-License-Identifier: BSD-3-Clause */
/* Branch and bound for few ranks: assigns one rank after the other to slots.
 * The cost of the ranks assigned so far only grows, so a branch is cut as soon
 * as it costs as much as the best solution. Handles every objective, GPUs,
 * capacities, limits of load and fixed ranks; the QAP search (qap_bridge.h)
 * handles only objectives that are sums over pairs of cores. */
#include "map/congestion/branch_bound.h"
#include "base/array.h"
#include "map/common/budget.h"
#include "map/congestion/route_cache.h"
#include "map/common/parameters.h"
#include "topology/topology.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cost of the messages between the ranks assigned so far. */
struct branch_bound_sums {
    struct nw_load_figures figures; /* hop_bytes, latency and busy */
    double most;                    /* s: largest congestion of a link */
    size_t changes; /* entries of branch_bound_work.change in use */
};

/* The load of a directed link before a rank changed it, to undo the change. */
struct branch_bound_change {
    uint32_t hop;
    double load;
};

/* State of one call of nw_slots_branch_bound. */
struct branch_bound_work {
    struct nw_slots *slots;
    const struct nw_objectives *objectives;
    struct nw_budget *budget;
    struct nw_route_cache routes; /* routes between all slots */
    double *load, *slow; /* [directed links] load in bytes; time in s that the
                            link needs for a byte. NULL: loads are not needed */
    /* changes of load by the ranks assigned so far, oldest first */
    struct branch_bound_change *change;
    struct branch_bound_sums now;
    int32_t *order; /* [ranks] ranks in the order in which they are assigned */
    int32_t *best;  /* [2 x ranks] slots of the best assignment so far */
    double best_value[2]; /* first and second objective of `best` */
    uint64_t left; /* steps of the search that are left before the caller's
                      limit; a step assigns one core or GPU to a slot */
    /* cores and GPUs assigned between two calls of nw_budget_spend; those
     * assigned since its last call */
    uint64_t slice, taken;
    bool cut; /* the limit or the budget ended the search */
};

/* --- costs --- */

/* Adds to the sums and link loads the cost of amount[0] bytes in amount[1]
 * messages from slot[0] to slot[1]. */
static void branch_bound_add_traffic(struct branch_bound_work *work,
                                     const int32_t slot[2],
                                     const double amount[2])
{
    double bytes = amount[0], messages = amount[1];
    struct nw_route route;

    if (bytes == 0 && messages == 0)
        return;
    route = nw_route_cache_find(&work->routes, slot[0], slot[1]);
    work->now.figures.hop_bytes += bytes * route.distance;
    work->now.figures.latency += messages * route.latency;
    for (uint32_t i = 0; work->load && i < route.count; i++) {
        uint32_t hop = route.hop[i];

        work->change[work->now.changes++] =
            (struct branch_bound_change){hop, work->load[hop]};
        work->load[hop] += bytes / route.stripes;
        work->now.figures.busy += bytes / route.stripes * work->slow[hop];
        work->now.most =
            fmax(work->now.most, work->load[hop] * work->slow[hop]);
    }
}

/* Adds the cost of the messages, in both directions, between an endpoint and
 * all assigned endpoints, including itself. */
static void branch_bound_add_endpoint(struct branch_bound_work *work,
                                      int32_t endpoint)
{
    const struct nw_slots *slots = work->slots;
    int32_t here = slots->slot[endpoint];

    for (size_t t = slots->row[endpoint]; t < slots->row[endpoint + 1]; t++) {
        const struct nw_directed_edge *edge = &slots->edge[t];
        int32_t there = slots->slot[edge->peer];

        if (there < 0)
            continue;
        branch_bound_add_traffic(work, (int32_t[]){here, there},
                                 (double[]){edge->out, edge->out_messages});
        branch_bound_add_traffic(work, (int32_t[]){there, here},
                                 (double[]){edge->in, edge->in_messages});
    }
}

/* Returns the value of an objective for the messages between the ranks assigned
 * so far. */
static double branch_bound_value(const struct branch_bound_work *work,
                                 enum nw_objective objective)
{
    return nw_objectives_combine(work->slots, work->now.most,
                                 &work->now.figures, objective);
}

/* Returns true if the ranks assigned so far cost less than the best complete
 * assignment. The second objective decides if the first ones are equal up to
 * rounding. */
static bool branch_bound_is_less(const struct branch_bound_work *work)
{
    double mine[2] = {branch_bound_value(work, work->objectives->first),
                      branch_bound_value(work, work->objectives->second)};

    for (int i = 0; i < 2; i++) {
        double near = 1e-9 * fmax(mine[i], work->best_value[i]);

        if (fabs(mine[i] - work->best_value[i]) > near)
            return mine[i] < work->best_value[i];
    }
    return false;
}

/* --- slots --- */

/* Assigns an endpoint (a rank's core or GPU) to a slot and adds its cost. */
static void branch_bound_take(struct branch_bound_work *work, int32_t endpoint,
                              int32_t slot)
{
    work->slots->slot[endpoint] = slot;
    work->slots->owner[slot] = endpoint;
    branch_bound_add_endpoint(work, endpoint);
}

/* Frees the slot of the endpoint that was assigned last. The sums are restored
 * from `before` and the loads from `change`, because subtracting would leave
 * rounding errors. */
static void branch_bound_leave(struct branch_bound_work *work, int32_t endpoint,
                               const struct branch_bound_sums *before)
{
    struct nw_slots *slots = work->slots;

    for (size_t i = work->now.changes; i-- > before->changes;)
        work->load[work->change[i].hop] = work->change[i].load;
    work->now = *before;
    slots->owner[slots->slot[endpoint]] = -1;
    slots->slot[endpoint] = -1;
}

/* Returns true if a slot is free, does not belong to a fixed rank, and is the
 * first slot of its unit or follows an occupied one. The slots of a unit are
 * interchangeable, so only its first free slot needs to be tried. */
static bool branch_bound_may_take(const struct nw_slots *slots, int32_t slot)
{
    return slots->owner[slot] < 0 && slots->unit[slot] >= 0 &&
           (!slot || slots->unit[slot - 1] != slots->unit[slot] ||
            slots->owner[slot - 1] >= 0);
}

/* Returns true if `rank` may go to `host`. A fixed rank may go only to the host
 * to which it is fixed. Any other rank may go to a host that takes one more
 * rank. If the rank uses a GPU that must be on the same host, the host must
 * also take one more rank with a GPU. */
static bool branch_bound_has_free_slot(const struct nw_slots *slots,
                                       int32_t host, int32_t rank)
{
    const struct nw_problem *problem = slots->problem;

    if (problem->fixed_host && problem->fixed_host[rank] >= 0)
        return problem->fixed_host[rank] == host;
    return slots->used[host] < problem->capacity[host] &&
           (!problem->wants_gpu[rank] || slots->remote ||
            slots->gpu_used[host] < problem->gpu_capacity[host]);
}

/* Counts the assignments since its last call in the budget and in `left`. Sets
 * `cut` if either is used up. */
static void branch_bound_look(struct branch_bound_work *work)
{
    bool goes = nw_budget_spend(work->budget, work->taken);

    work->left -= work->taken < work->left ? work->taken : work->left;
    work->taken = 0;
    work->slice = nw_budget_slice(work->budget, nw_tuned.congestion.slice);
    work->cut |= !goes || !work->left;
}

/* Counts the assignment of one core or GPU. Returns false if a limit has ended
 * the search. */
static bool branch_bound_goes_on(struct branch_bound_work *work)
{
    if (work->taken >= work->slice)
        branch_bound_look(work);
    work->taken++;
    return !work->cut;
}

static void branch_bound_assign(struct branch_bound_work *work, int32_t depth);

/* Assigns the GPU of rank order[depth] to a slot, searches all assignments of
 * the later ranks in the order, and frees the slot again. */
static void branch_bound_try_gpu(struct branch_bound_work *work, int32_t depth,
                                 int32_t slot)
{
    struct nw_slots *slots = work->slots;
    int32_t endpoint = slots->rank_count + work->order[depth];
    struct branch_bound_sums before = work->now;

    if (work->cut || !branch_bound_goes_on(work))
        return;
    branch_bound_take(work, endpoint, slot);
    if (branch_bound_is_less(work))
        branch_bound_assign(work, depth + 1);
    branch_bound_leave(work, endpoint, &before);
}

/* Tries all slots for the GPU of rank order[depth], whose core is on `host`.
 * Every assignment, including `best`, has the same slots for fixed cores and
 * GPUs, so `best` shows whether the rank has a GPU and whether it is fixed. */
static void branch_bound_place_gpu(struct branch_bound_work *work,
                                   int32_t depth, int32_t host)
{
    const struct nw_slots *slots = work->slots;
    int32_t own = work->best[slots->rank_count + work->order[depth]];
    int32_t hosts = slots->problem->host_count;
    const int32_t *first = slots->first + hosts + 1;
    int32_t low = first[slots->remote ? 0 : host];
    int32_t high = first[slots->remote ? hosts : host + 1];

    if (own < 0)
        branch_bound_assign(work, depth + 1);
    else if (slots->unit[own] < 0)
        branch_bound_try_gpu(work, depth, own);
    else
        for (int32_t s = low; s < high; s++)
            if (branch_bound_may_take(slots, s))
                branch_bound_try_gpu(work, depth, s);
}

/* Assigns the core of rank order[depth] to a slot, searches all slots for its
 * GPU and for the later ranks in the order, and frees the slot again. */
static void branch_bound_try_core(struct branch_bound_work *work, int32_t depth,
                                  int32_t slot)
{
    struct nw_slots *slots = work->slots;
    int32_t rank = work->order[depth], host = slots->host[slot];
    bool gpu = work->best[slots->rank_count + rank] >= 0;
    struct branch_bound_sums before = work->now;

    if (work->cut || !branch_bound_goes_on(work))
        return;
    branch_bound_take(work, rank, slot);
    slots->used[host]++;
    slots->gpu_used[host] += gpu;
    if (branch_bound_is_less(work))
        branch_bound_place_gpu(work, depth, host);
    slots->used[host]--;
    slots->gpu_used[host] -= gpu;
    branch_bound_leave(work, rank, &before);
}

/* Keeps the present complete assignment and its objectives as the best ones. */
static void branch_bound_record(struct branch_bound_work *work)
{
    const struct nw_slots *slots = work->slots;

    work->best_value[0] = branch_bound_value(work, work->objectives->first);
    work->best_value[1] = branch_bound_value(work, work->objectives->second);
    memcpy(work->best, slots->slot,
           2 * (size_t)slots->rank_count * sizeof *work->best);
}

/* Tries all slots that rank order[depth] may take and, by recursion, those of
 * the later ranks. Records the assignment if all ranks have slots. */
static void branch_bound_assign(struct branch_bound_work *work, int32_t depth)
{
    const struct nw_slots *slots = work->slots;
    int32_t own;

    if (depth == slots->rank_count) {
        branch_bound_record(work);
        return;
    }
    own = work->best[work->order[depth]];
    if (slots->unit[own] < 0) {
        branch_bound_try_core(work, depth, own);
        return;
    }
    for (int32_t h = 0; h < slots->problem->host_count; h++) {
        if (!branch_bound_has_free_slot(slots, h, work->order[depth]))
            continue;
        for (int32_t s = slots->first[h]; s < slots->first[h + 1]; s++)
            if (branch_bound_may_take(slots, s) &&
                nw_problem_within_limit(slots->problem, slots->unit[s],
                                        work->order[depth]))
                branch_bound_try_core(work, depth, s);
    }
}

/* --- the order of the ranks --- */

/* Returns the priority of a rank; the rank with the largest one is next in the
 * order. Fixed ranks come first, because other ranks must not take their slots;
 * then always the rank with the most bytes to and from the ranks that are
 * already ordered[]. */
static double branch_bound_affinity_of(const struct branch_bound_work *work,
                                       int32_t rank, const bool *ordered)
{
    const struct nw_slots *slots = work->slots;
    int32_t n = slots->rank_count;
    double affinity = 0;

    if (slots->problem->fixed_host && slots->problem->fixed_host[rank] >= 0)
        return HUGE_VAL;
    for (int32_t a = rank; a < 2 * n; a += n)
        for (size_t t = slots->row[a]; t < slots->row[a + 1]; t++) {
            const struct nw_directed_edge *edge = &slots->edge[t];

            if (ordered[edge->peer % n])
                affinity += edge->out + edge->in;
        }
    return affinity;
}

/* Fills order[] with all ranks, always the one of highest priority next. */
static nw_status branch_bound_choose_order(struct branch_bound_work *work)
{
    int32_t n = work->slots->rank_count;
    bool *ordered = NULL;
    nw_status status = nw_alloc((size_t)n, sizeof *ordered, &ordered);

    for (int32_t at = 0; !status && at < n; at++) {
        int32_t best = -1;
        double most = -1;

        for (int32_t r = 0; r < n; r++) {
            double affinity =
                ordered[r] ? -1 : branch_bound_affinity_of(work, r, ordered);

            if (affinity > most) {
                most = affinity;
                best = r;
            }
        }
        work->order[at] = best;
        ordered[best] = true;
    }
    free(ordered);
    return status;
}

/* --- the search as a whole --- */

/* Allocates the loads of links and the list of their changes. */
static nw_status branch_bound_prepare_links(struct branch_bound_work *work,
                                            const struct nw_topology *topology)
{
    size_t n = 2 * (size_t)nw_topology_link_count(topology);
    size_t edges = work->slots->row[2 * work->slots->rank_count];
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(n, work->load), NW_ARRAY(n, work->slow));

    /* Each edge is stored at both of its endpoints and adds at most two routes,
     * one in each direction. So there are at most as many routes as stored
     * edges. */
    if (!status)
        status = nw_alloc(edges * nw_topology_route_max(topology),
                          sizeof *work->change, &work->change);
    for (size_t i = 0; !status && i < n; i++)
        work->slow[i] =
            1 / nw_topology_link(topology, (int32_t)(i / 2)).bandwidth[i & 1];
    return status;
}

/* Allocates the arrays and chooses the order of the ranks. */
static nw_status branch_bound_prepare(struct branch_bound_work *work)
{
    const struct nw_topology *topology = work->slots->problem->topology;
    size_t n = (size_t)work->slots->rank_count;
    nw_status status;

    work->routes =
        (struct nw_route_cache){.topology = topology,
                                .end = work->slots->end,
                                .count = work->slots->count,
                                .keeps = true,
                                .wants = nw_objectives_wants(work->objectives)};
    status = nw_route_cache_init(&work->routes);
    if (!status && work->routes.wants.links && nw_topology_has_links(topology))
        status = branch_bound_prepare_links(work, topology);
    if (!status)
        status =
            NW_ALLOC_ALL(NW_ARRAY(n, work->order), NW_ARRAY(2 * n, work->best));
    if (!status)
        status = branch_bound_choose_order(work);
    return status;
}

/* Frees all slots and sets the load of all links and the sums to 0. */
static void branch_bound_unassign(struct branch_bound_work *work)
{
    struct nw_slots *slots = work->slots;
    size_t links = (size_t)nw_topology_link_count(work->routes.topology);

    for (int32_t a = 0; a < 2 * slots->rank_count; a++)
        slots->slot[a] = -1;
    nw_slots_assign(slots, slots->slot);
    if (work->load)
        memset(work->load, 0, 2 * links * sizeof *work->load);
    work->now = (struct branch_bound_sums){0};
}

/* Assigns all ranks as in `best` and computes their cost from scratch. */
static void branch_bound_place_all(struct branch_bound_work *work)
{
    branch_bound_unassign(work);
    for (int32_t a = 0; a < 2 * work->slots->rank_count; a++)
        if (work->best[a] >= 0)
            branch_bound_take(work, a, work->best[a]);
    nw_slots_assign(work->slots, work->best);
}

nw_status nw_slots_branch_bound(struct nw_slots *slots,
                                const struct nw_objectives *objectives,
                                uint64_t assignments_max, bool *proven)
{
    struct branch_bound_work work = {.slots = slots,
                                     .objectives = objectives,
                                     .budget = slots->problem->budget,
                                     .left = assignments_max ? assignments_max
                                                             : UINT64_MAX};
    nw_status status = branch_bound_prepare(&work);

    if (!status) {
        memcpy(work.best, slots->slot,
               2 * (size_t)slots->rank_count * sizeof *work.best);
        branch_bound_place_all(&work);
        branch_bound_record(&work);
        branch_bound_unassign(&work);
        work.slice = nw_budget_slice(work.budget, nw_tuned.congestion.slice);
        work.cut = work.budget->stopped;
        if (!work.cut)
            branch_bound_assign(&work, 0);
        *proven = !work.cut;
        branch_bound_look(&work);
        branch_bound_place_all(&work);
        assert(fabs(branch_bound_value(&work, objectives->first) -
                    work.best_value[0]) <= 1e-9 * fabs(work.best_value[0]));
    }
    nw_route_cache_fini(&work.routes);
    NW_FREE_ALL(work.load, work.slow, work.change, work.order, work.best);
    return status;
}
