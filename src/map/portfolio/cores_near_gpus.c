/* SPDX-License-Identifier: BSD-3-Clause */
/* Of mappings that cost the same, the one whose ranks are nearest to their GPUs
 * is taken: within each node ranks exchange cores, or exchange GPUs, or go to
 * free ones, where a rank's core, GPU and network card come nearer each other
 * and no figure of the mapping gets worse. */
#include "map/portfolio/candidate.h"
#include "map/common/budget.h"
#include "map/congestion/link_loads.h"
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>

#define EQUAL 1e-9 /* relative difference of equal figures */

/* A distance between core and GPU counts more than all links to cards, of which
 * no node has so many. */
#define CARD (1. / 1024)

struct near_gpus_work {
    const struct nw_problem *problem;
    struct nw_slots slots;
    struct nw_link_loads loads; /* made for the first move that needs it */
    bool has_loads, moved;
    bool cores_stay;
    double *card;       /* [slots] links to the card, where known */
    double *near;       /* of the host at hand: [its core x its GPU slots] */
    int32_t *gpu_ranks; /* [GPU units] ranks that have it */
};

struct near_gpus_slot_range {
    int32_t first, end;
};

static struct near_gpus_slot_range
near_gpus_slots_of(const struct near_gpus_work *work, int32_t host, bool gpus)
{
    const int32_t *first =
        work->slots.first + host + (gpus ? work->problem->host_count + 1 : 0);

    return (struct near_gpus_slot_range){first[0], first[1]};
}

static bool near_gpus_holds(struct near_gpus_slot_range range, int32_t slot)
{
    return slot >= range.first && slot < range.end;
}

static struct nw_ints near_gpus_members_of(const struct nw_units *units,
                                           int32_t unit)
{
    size_t size = (size_t)units->size;

    return (struct nw_ints){units->member + (size_t)unit * size, size};
}

/* Mean number of links between the cores of one slot and the GPUs of another;
 * those of a fixed rank are counted from its first. */
static double near_gpus_links_between(const struct near_gpus_work *work,
                                      int32_t core, int32_t gpu)
{
    const struct nw_problem *problem = work->problem;
    const struct nw_slots *slots = &work->slots;
    int32_t host = slots->host[core];
    struct nw_ints cores, gpus;
    double sum = 0;

    if (slots->unit[core] < 0 || slots->unit[gpu] < 0)
        return nw_topology_distance(problem->topology, slots->end[core],
                                    slots->end[gpu]);
    cores = near_gpus_members_of(&problem->core, slots->unit[core]);
    gpus = near_gpus_members_of(&problem->gpu, slots->unit[gpu]);
    for (size_t i = 0; i < cores.count; i++)
        for (size_t j = 0; j < gpus.count; j++)
            sum += nw_topology_distance(
                problem->topology,
                nw_problem_core_end(problem, host, cores.values[i]),
                nw_problem_gpu_end(problem, host, gpus.values[j]));
    return sum / (double)(cores.count * gpus.count);
}

static double near_gpus_links_to_card(const nw_topology *topology,
                                      struct nw_end end)
{
    int32_t card = nw_end_card(topology, end);

    if (card < 0)
        return 0;
    return nw_topology_distance(topology, end,
                                nw_topology_nic_end(topology, end.node, card));
}

static void near_gpus_measure_host(struct near_gpus_work *work, int32_t host)
{
    struct near_gpus_slot_range cores = near_gpus_slots_of(work, host, false);
    struct near_gpus_slot_range gpus = near_gpus_slots_of(work, host, true);
    double *near = work->near;

    for (int32_t c = cores.first; c < cores.end; c++)
        for (int32_t g = gpus.first; g < gpus.end; g++)
            *near++ = near_gpus_links_between(work, c, g);
}

/* How far a rank's parts are from each other; 0 without a GPU. */
static double near_gpus_distance_of(const struct near_gpus_work *work,
                                    int32_t core, int32_t gpu)
{
    struct near_gpus_slot_range cores, gpus;
    double links;

    if (gpu < 0)
        return 0;
    cores = near_gpus_slots_of(work, work->slots.host[core], false);
    gpus = near_gpus_slots_of(work, work->slots.host[core], true);
    if (near_gpus_holds(cores, core) && near_gpus_holds(gpus, gpu))
        links = work->near[(size_t)(core - cores.first) *
                               (size_t)(gpus.end - gpus.first) +
                           (size_t)(gpu - gpus.first)];
    else
        links = near_gpus_links_between(work, core, gpu);
    return links + CARD * (work->card[core] + work->card[gpu]);
}

/* The same where one of its endpoints is on `slot`. */
static double near_gpus_distance_at(const struct near_gpus_work *work,
                                    int32_t endpoint, int32_t slot)
{
    int32_t n = work->slots.rank_count;

    if (endpoint < 0)
        return 0;
    if (endpoint < n)
        return near_gpus_distance_of(work, slot,
                                     work->slots.slot[n + endpoint]);
    return near_gpus_distance_of(work, work->slots.slot[endpoint - n], slot);
}

/* The gain of an endpoint that moves to a slot, and of the slot's owner that
 * comes back. */
static double near_gpus_gain_of(const struct near_gpus_work *work,
                                int32_t endpoint, int32_t to)
{
    int32_t from = work->slots.slot[endpoint], other = work->slots.owner[to];

    return near_gpus_distance_at(work, endpoint, from) +
           near_gpus_distance_at(work, other, to) -
           near_gpus_distance_at(work, endpoint, to) -
           near_gpus_distance_at(work, other, from);
}

static bool near_gpus_has_edges(const struct nw_slots *slots, int32_t endpoint)
{
    return endpoint >= 0 && slots->row[endpoint + 1] > slots->row[endpoint];
}

/* Free GPUs may not be left for shared ones; cores bear what comes. */
static bool near_gpus_is_allowed(const struct near_gpus_work *work,
                                 int32_t endpoint, int32_t to)
{
    const struct nw_slots *slots = &work->slots;
    int32_t other = slots->owner[to], from = slots->slot[endpoint];

    if (endpoint >= slots->rank_count)
        return other >= 0 || work->gpu_ranks[slots->unit[to]] <
                                 work->gpu_ranks[slots->unit[from]];
    return nw_problem_within_limit(work->problem, slots->unit[to], endpoint) &&
           (other < 0 ||
            nw_problem_within_limit(work->problem, slots->unit[from], other));
}

static bool near_gpus_is_no_worse(const struct nw_link_loads *loads)
{
    const struct nw_load_figures *now = &loads->now, *change = &loads->change;

    return change->hop_bytes <= EQUAL * now->hop_bytes &&
           change->latency <= EQUAL * now->latency &&
           change->busy <= EQUAL * now->busy &&
           change->power <= EQUAL * now->power &&
           (!loads->has_links ||
            loads->touched_most <= nw_link_loads_max(loads) * (1 + EQUAL));
}

static struct nw_move near_gpus_move_of(const struct nw_slots *slots,
                                        int32_t endpoint, int32_t to)
{
    int32_t from = slots->slot[endpoint];
    struct nw_move move = {1, {{endpoint, from, to}}};

    if (slots->owner[to] >= 0)
        move.part[move.count++] =
            (struct nw_moving){slots->owner[to], to, from};
    return move;
}

/* Moves of endpoints without messages change no figure. */
static nw_status near_gpus_try_move(struct near_gpus_work *work,
                                    int32_t endpoint, int32_t to, bool keep,
                                    bool *fits)
{
    struct nw_slots *slots = &work->slots;
    struct nw_move move = near_gpus_move_of(slots, endpoint, to);
    bool silent = !near_gpus_has_edges(slots, endpoint) &&
                  !near_gpus_has_edges(slots, slots->owner[to]);

    *fits = true;
    if (!silent && !work->has_loads) {
        nw_status status =
            nw_link_loads_init(&work->loads, slots,
                               (struct nw_link_loads_wants){true, true, true});

        if (status)
            return status;
        work->has_loads = true;
    }
    if (!silent) {
        nw_link_loads_try(&work->loads, &move);
        *fits = keep || near_gpus_is_no_worse(&work->loads);
        nw_link_loads_end(&work->loads, keep);
    }
    if (keep)
        nw_slots_apply(slots, &move);
    return NW_OK;
}

static nw_status near_gpus_move_endpoint(struct near_gpus_work *work,
                                         int32_t endpoint, int32_t to)
{
    const struct nw_slots *slots = &work->slots;
    bool fits;

    if (endpoint >= slots->rank_count && slots->owner[to] < 0) {
        work->gpu_ranks[slots->unit[slots->slot[endpoint]]]--;
        work->gpu_ranks[slots->unit[to]]++;
    }
    work->moved = true;
    return near_gpus_try_move(work, endpoint, to, true, &fits);
}

/* The slot of its host that brings most. */
static nw_status near_gpus_bring_near(struct near_gpus_work *work,
                                      int32_t endpoint)
{
    const struct nw_slots *slots = &work->slots;
    int32_t from = slots->slot[endpoint], best = -1;
    struct near_gpus_slot_range range = near_gpus_slots_of(
        work, slots->host[from], endpoint >= slots->rank_count);
    double most = EQUAL;
    nw_status status = NW_OK;

    for (int32_t to = range.first; !status && to < range.end; to++) {
        double gain;
        bool fits;

        if (slots->unit[to] == slots->unit[from])
            continue;
        gain = near_gpus_gain_of(work, endpoint, to);
        if (gain <= most + EQUAL || !near_gpus_is_allowed(work, endpoint, to))
            continue;
        status = near_gpus_try_move(work, endpoint, to, false, &fits);
        if (status || !fits)
            continue;
        best = to;
        most = gain;
    }
    return status || best < 0 ? status
                              : near_gpus_move_endpoint(work, endpoint, best);
}

/* Slots of fixed ranks are outside their host's range. */
static bool near_gpus_may_move(const struct near_gpus_work *work,
                               int32_t endpoint)
{
    int32_t slot = work->slots.slot[endpoint];

    return slot >= 0 && work->slots.unit[slot] >= 0;
}

static nw_status near_gpus_settle_host(struct near_gpus_work *work,
                                       const int32_t *next, int32_t first)
{
    int32_t n = work->slots.rank_count;
    nw_status status = NW_OK;
    bool moved = work->moved;

    do {
        work->moved = false;
        for (int32_t r = first; !status && r >= 0; r = next[r]) {
            if (near_gpus_may_move(work, n + r))
                status = near_gpus_bring_near(work, n + r);
            if (!status && !work->cores_stay && near_gpus_may_move(work, r))
                status = near_gpus_bring_near(work, r);
        }
        moved |= work->moved;
    } while (!status && work->moved &&
             !nw_budget_is_overdue(work->problem->budget));
    work->moved = moved;
    return status;
}

static nw_status near_gpus_settle_hosts(struct near_gpus_work *work)
{
    const struct nw_slots *slots = &work->slots;
    int32_t hosts = work->problem->host_count, *first = NULL, *next = NULL;
    nw_status status = nw_alloc((size_t)hosts, sizeof *first, &first);

    if (!status)
        status = nw_alloc((size_t)slots->rank_count, sizeof *next, &next);
    for (int32_t h = 0; !status && h < hosts; h++)
        first[h] = -1;
    for (int32_t r = slots->rank_count; !status && r-- > 0;) {
        int32_t h = slots->host[slots->slot[r]];

        next[r] = first[h];
        first[h] = r;
    }
    for (int32_t h = 0; !status && h < hosts; h++) {
        near_gpus_measure_host(work, h);
        status = near_gpus_settle_host(work, next, first[h]);
    }
    free(first);
    free(next);
    return status;
}

static nw_status near_gpus_measure(struct near_gpus_work *work)
{
    const struct nw_problem *problem = work->problem;
    const struct nw_slots *slots = &work->slots;
    size_t most = 0;
    nw_status status = nw_alloc((size_t)problem->gpu.first[problem->host_count],
                                sizeof *work->gpu_ranks, &work->gpu_ranks);

    for (int32_t h = 0; h < problem->host_count; h++) {
        struct near_gpus_slot_range cores = near_gpus_slots_of(work, h, false);
        struct near_gpus_slot_range gpus = near_gpus_slots_of(work, h, true);
        size_t pairs =
            (size_t)(cores.end - cores.first) * (size_t)(gpus.end - gpus.first);

        most = pairs > most ? pairs : most;
    }
    if (!status)
        status =
            nw_alloc((size_t)slots->count, sizeof *work->card, &work->card);
    if (!status)
        status = nw_alloc(most, sizeof *work->near, &work->near);
    for (int32_t s = 0; !status && s < slots->count; s++) {
        work->card[s] =
            near_gpus_links_to_card(problem->topology, slots->end[s]);
        if (s >= slots->core_count && slots->owner[s] >= 0 &&
            slots->unit[s] >= 0)
            work->gpu_ranks[slots->unit[s]]++;
    }
    return status;
}

static bool near_gpus_is_layer_worse(const struct nw_cost *cost,
                                     const struct nw_cost *than)
{
    return cost->max_congestion_host >
               than->max_congestion_host * (1 + EQUAL) ||
           cost->max_congestion_gpu > than->max_congestion_gpu * (1 + EQUAL);
}

/* Taken where no figure that people see is worse. */
static nw_status near_gpus_take_answer(const struct near_gpus_work *work,
                                       struct nw_answer *answer,
                                       struct nw_candidate *best)
{
    struct nw_candidate other = {0}, former = *best;
    nw_status status;

    nw_slots_to_answer(&work->slots, answer);
    status = nw_candidate_from_answer(work->problem, answer, best->algorithm,
                                      &other);
    if (!status && nw_candidate_within(&other, best->guard) &&
        !nw_candidate_better(best, &other) &&
        !near_gpus_is_layer_worse(&other.cost, &best->cost)) {
        *best = other;
        other = former;
    }
    nw_candidate_fini(&other);
    return status;
}

nw_status nw_cores_near_gpus(const struct nw_problem *problem, bool cores_stay,
                             struct nw_candidate *best)
{
    struct near_gpus_work work = {.problem = problem, .cores_stay = cores_stay};
    struct nw_problem begun = *problem;
    struct nw_answer answer = {0};
    nw_status status;

    if (!problem->uses_gpus || best->mapping->gpu_node)
        return NW_OK;
    begun.options.start = best->mapping;
    status = nw_answer_from_mapping(&begun, &answer);
    if (!status)
        status = nw_slots_init(&work.slots, problem, &answer);
    if (!status)
        status = near_gpus_measure(&work);
    if (!status)
        status = near_gpus_settle_hosts(&work);
    if (!status && work.moved)
        status = near_gpus_take_answer(&work, &answer, best);
    nw_link_loads_fini(&work.loads);
    nw_slots_fini(&work.slots);
    nw_answer_fini(&answer);
    free(work.card);
    free(work.near);
    free(work.gpu_ranks);
    return status;
}
