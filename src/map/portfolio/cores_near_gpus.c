/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves ranks nearer to their GPUs and NICs without raising the cost. Inside
 * each node, ranks exchange cores or GPUs, or take free ones, if that brings
 * core, GPU and NIC nearer to each other and no cost figure of the mapping gets
 * worse. A rank without a GPU moves towards a NIC if it has messages with other
 * nodes. Of equally near mappings, the one that shares GPUs most evenly is
 * taken, then the one whose lowest-numbered ranks are nearest to their GPUs. */
#include "map/portfolio/candidate.h"
#include "map/common/budget.h"
#include "map/portfolio/near_gpus_internal.h"
#include "base/array.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

/* Makes a move and notes in work->moved that something moved. */
static nw_status near_gpus_move(struct near_gpus_work *work,
                                const struct nw_move *move)
{
    work->moved = true;
    return nw_near_gpus_make_move(work, move);
}

/* Moves an endpoint, that is the core or the GPU of a rank, to another slot of
 * its host: the one that reduces most the distances between ranks and their
 * GPUs and NICs. The move must not make a cost figure worse. Does nothing if no
 * slot reduces them. */
static nw_status near_gpus_bring_near(struct near_gpus_work *work,
                                      int32_t endpoint)
{
    const struct nw_slots *slots = &work->slots;
    int32_t from = slots->slot[endpoint];
    struct near_gpus_slot_range range = nw_near_gpus_slots_of(
        work, slots->host[from], endpoint >= slots->rank_count);
    struct nw_move best = {0};
    double most = NEAR_GPUS_EQUAL;
    nw_status status = NW_OK;

    for (int32_t to = range.first; !status && to < range.end; to++) {
        struct nw_move move = {.count = 0};
        double gain;
        bool fits;

        if (slots->unit[to] == slots->unit[from])
            continue;
        nw_slots_exchange(slots, from, to, &move);
        gain = nw_near_gpus_gain_of(work, &move);
        if (gain <= most + NEAR_GPUS_EQUAL ||
            !nw_slots_within_limits(slots, &move))
            continue;
        status = nw_near_gpus_try_move(work, &move, &fits);
        if (status || !fits)
            continue;
        best = move;
        most = gain;
    }
    return status || !best.count ? status : near_gpus_move(work, &best);
}

/* Returns true if a move of GPUs that leaves the sum of distances equal is
 * still an improvement. A move to a free slot is one if fewer ranks then share
 * the GPU. An exchange is one if the endpoint with the lowest number, among
 * those whose distance changes, comes nearer. */
static bool near_gpus_breaks_tie(const struct near_gpus_work *work,
                                 const struct nw_move *move)
{
    const struct nw_moving *first = NULL;

    if (move->count == 1)
        return work->gpu_ranks[work->slots.unit[move->part->to]] + 1 <
               work->gpu_ranks[work->slots.unit[move->part->from]];
    for (int i = 0; i < move->count; i++)
        if ((!first || move->part[i].endpoint < first->endpoint) &&
            fabs(nw_near_gpus_gain_of_part(work, &move->part[i])) >
                NEAR_GPUS_EQUAL)
            first = &move->part[i];
    return first && nw_near_gpus_gain_of_part(work, first) > 0;
}

/* Makes a move of GPUs if no cost figure gets worse and it brings ranks nearer
 * to their GPUs, or leaves the distances equal and breaks the tie. Sets *made
 * if the move was made. */
static nw_status near_gpus_settle_move(struct near_gpus_work *work,
                                       const struct nw_move *move, bool *made)
{
    double gain = nw_near_gpus_gain_of(work, move);
    nw_status status;

    *made = false;
    if (gain < -NEAR_GPUS_EQUAL ||
        (gain <= NEAR_GPUS_EQUAL && !near_gpus_breaks_tie(work, move)))
        return NW_OK;
    status = nw_near_gpus_try_move(work, move, made);
    return status || !*made ? status : near_gpus_move(work, move);
}

/* Makes the first move of a rank's GPU within its host that makes no cost
 * figure worse and brings ranks nearer to their GPUs, or leaves the distances
 * equal and breaks the tie (near_gpus_breaks_tie). */
static nw_status near_gpus_settle_tie(struct near_gpus_work *work,
                                      int32_t endpoint)
{
    const struct nw_slots *slots = &work->slots;
    int32_t from = slots->slot[endpoint];
    struct near_gpus_slot_range range =
        nw_near_gpus_slots_of(work, slots->host[from], true);
    nw_status status = NW_OK;
    bool made = false;

    for (int32_t to = range.first; !status && !made && to < range.end; to++) {
        struct nw_move move = {.count = 0};

        if (slots->unit[to] == slots->unit[from])
            continue;
        nw_slots_exchange(slots, from, to, &move);
        status = near_gpus_settle_move(work, &move, &made);
    }
    return status;
}

/* Returns the first slot of the GPU unit after the one that begins at `slot`.
 */
static int32_t near_gpus_next_unit(const struct near_gpus_work *work,
                                   int32_t slot)
{
    return slot + work->problem->gpu.capacity[work->slots.unit[slot]];
}

/* For each pair of GPU units of a host, exchanges all their ranks if that
 * brings them nearer to their GPUs or breaks a tie. Ranks which share a GPU
 * then still share one. Leaves out units of different capacities, those with
 * more slots than a move can hold, and pairs with fewer than two ranks. */
static nw_status near_gpus_exchange_units(struct near_gpus_work *work,
                                          int32_t host)
{
    struct near_gpus_slot_range range = nw_near_gpus_slots_of(work, host, true);
    nw_status status = NW_OK;

    for (int32_t a = range.first; a < range.end;
         a = near_gpus_next_unit(work, a))
        for (int32_t b = near_gpus_next_unit(work, a); b < range.end;
             b = near_gpus_next_unit(work, b)) {
            int32_t slots = near_gpus_next_unit(work, a) - a;
            struct nw_move move = {.count = 0};
            bool made;

            if (slots != near_gpus_next_unit(work, b) - b ||
                slots > NW_MOVE_MOST / 2)
                continue;
            for (int32_t i = 0; i < slots; i++)
                nw_slots_exchange(&work->slots, a + i, b + i, &move);
            if (move.count < 2)
                continue;
            status = near_gpus_settle_move(work, &move, &made);
            if (status)
                return status;
        }
    return NW_OK;
}

/* Returns true if an endpoint has a slot and its core or GPU is not fixed. Rank
 * r has endpoint r on its core and endpoint rank_count + r on its GPU. */
static bool near_gpus_may_move(const struct near_gpus_work *work,
                               int32_t endpoint)
{
    int32_t slot = work->slots.slot[endpoint];

    return slot >= 0 && work->slots.unit[slot] >= 0;
}

/* Tries to move the GPU, then the core, of each of a host's ranks so that they
 * are nearer to each other and to their NICs. If nothing was moved, tries moves
 * of GPUs that leave the distances equal but break a tie. */
static nw_status near_gpus_visit_ranks(struct near_gpus_work *work,
                                       struct nw_ints ranks)
{
    int32_t n = work->slots.rank_count;
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < ranks.count; i++) {
        int32_t r = ranks.values[i];

        if (near_gpus_may_move(work, n + r))
            status = near_gpus_bring_near(work, n + r);
        if (!status && !work->cores_stay && near_gpus_may_move(work, r))
            status = near_gpus_bring_near(work, r);
    }
    if (work->moved)
        return status;
    for (size_t i = 0; !status && i < ranks.count; i++)
        if (near_gpus_may_move(work, n + ranks.values[i]))
            status = near_gpus_settle_tie(work, n + ranks.values[i]);
    return status;
}

/* Moves a rank to the free core and the free GPU of its host that are nearest
 * to each other, if they are nearer than its present ones. Moves of only one of
 * the two may not find them, because each alone may increase the distance. */
static nw_status near_gpus_bring_both(struct near_gpus_work *work, int32_t rank)
{
    const struct nw_slots *slots = &work->slots;
    int32_t core = slots->slot[rank],
            gpu = slots->slot[slots->rank_count + rank];
    struct near_gpus_slot_range cores =
        nw_near_gpus_slots_of(work, slots->host[core], false);
    struct near_gpus_slot_range gpus =
        nw_near_gpus_slots_of(work, slots->host[core], true);
    double least = nw_near_gpus_distance_of(work, core, gpu) - NEAR_GPUS_EQUAL;
    struct nw_move best = {0};
    nw_status status = NW_OK;

    for (int32_t g = gpus.first; g < gpus.end; g++) {
        if (slots->owner[g] >= 0 || slots->unit[g] == slots->unit[gpu])
            continue;
        for (int32_t c = cores.first; !status && c < cores.end; c++) {
            struct nw_move move = {
                2, {{rank, core, c}, {slots->rank_count + rank, gpu, g}}};
            double far = nw_near_gpus_distance_of(work, c, g);
            bool fits;

            if (slots->owner[c] >= 0 || far >= least - NEAR_GPUS_EQUAL ||
                !nw_slots_within_limits(slots, &move))
                continue;
            status = nw_near_gpus_try_move(work, &move, &fits);
            if (status || !fits)
                continue;
            best = move;
            least = far;
        }
    }
    return status || !best.count ? status : near_gpus_move(work, &best);
}

/* Tries three kinds of moves of a host's ranks, until one has moved something.
 * The first kind moves single ranks. The second kind exchanges all ranks of two
 * GPU units, or of two subtrees of the host (such as NUMA nodes). The third
 * kind moves a rank's core and GPU together. */
static nw_status near_gpus_try_moves(struct near_gpus_work *work, int32_t host,
                                     struct nw_ints ranks)
{
    int32_t n = work->slots.rank_count;
    nw_status status = near_gpus_visit_ranks(work, ranks);

    if (status || work->moved)
        return status;
    status = near_gpus_exchange_units(work, host);
    if (!status)
        status = nw_near_gpus_exchange_subtrees(work, host, true);
    if (!status && !work->cores_stay)
        status = nw_near_gpus_exchange_subtrees(work, host, false);
    if (work->moved || work->cores_stay)
        return status;
    for (size_t i = 0; !status && i < ranks.count; i++)
        if (near_gpus_may_move(work, ranks.values[i]) &&
            near_gpus_may_move(work, n + ranks.values[i]))
            status = near_gpus_bring_both(work, ranks.values[i]);
    return status;
}

/* Moves the ranks of a host nearer to their GPUs and NICs until no move helps
 * or the time is over. */
static nw_status near_gpus_settle_host(struct near_gpus_work *work,
                                       int32_t host, struct nw_ints ranks)
{
    bool moved = work->moved;
    nw_status status;

    do {
        work->moved = false;
        status = near_gpus_try_moves(work, host, ranks);
        moved |= work->moved;
    } while (!status && work->moved &&
             !nw_budget_is_overdue(work->problem->budget));
    work->moved = moved;
    return status;
}

/* Lists the ranks of each host and moves them nearer to their GPUs and NICs. */
static nw_status near_gpus_settle_hosts(struct near_gpus_work *work,
                                        const struct nw_answer *answer)
{
    int32_t hosts = work->problem->host_count, *first = NULL, *rank = NULL;
    size_t n = (size_t)work->slots.rank_count;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY((size_t)hosts + 2, first), NW_ARRAY(n, rank));

    if (!status)
        nw_list_by_group(answer->host, (int32_t)n, hosts, first, rank);
    for (int32_t h = 0; !status && h < hosts; h++) {
        if (first[h] == first[h + 1])
            continue;
        nw_near_gpus_measure_host(work, h);
        status = near_gpus_settle_host(
            work, h,
            (struct nw_ints){rank + first[h],
                             (size_t)(first[h + 1] - first[h])});
    }
    free(first);
    free(rank);
    return status;
}

/* Allocates `card`, `near`, `leaves` and `gpu_ranks`, and fills all except
 * `near`, which nw_near_gpus_measure_host fills for one host at a time. */
static nw_status near_gpus_measure(struct near_gpus_work *work)
{
    const struct nw_problem *problem = work->problem;
    const struct nw_slots *slots = &work->slots;
    size_t most = 0;
    nw_status status = nw_alloc((size_t)problem->gpu.first[problem->host_count],
                                sizeof *work->gpu_ranks, &work->gpu_ranks);

    for (int32_t h = 0; h < problem->host_count; h++) {
        struct near_gpus_slot_range cores =
            nw_near_gpus_slots_of(work, h, false);
        struct near_gpus_slot_range gpus = nw_near_gpus_slots_of(work, h, true);
        size_t pairs =
            (size_t)(cores.end - cores.first) * (size_t)(gpus.end - gpus.first);

        most = pairs > most ? pairs : most;
    }
    if (!status)
        status =
            NW_ALLOC_ALL(NW_ARRAY((size_t)slots->count, work->card),
                         NW_ARRAY(most, work->near),
                         NW_ARRAY((size_t)slots->rank_count, work->leaves));
    for (int32_t s = 0; !status && s < slots->count; s++) {
        work->card[s] =
            nw_near_gpus_links_to_card(problem->topology, slots->end[s]);
        if (s >= slots->core_count && slots->owner[s] >= 0 &&
            slots->unit[s] >= 0)
            work->gpu_ranks[slots->unit[s]]++;
    }
    for (int32_t r = 0; !status && r < slots->rank_count; r++)
        for (size_t e = slots->row[r]; e < slots->row[r + 1]; e++)
            work->leaves[r] |= slots->host[slots->slot[slots->edge[e].peer]] !=
                               slots->host[slots->slot[r]];
    return status;
}

/* Returns true if some cores of a node are nearer to their NIC than others. */
static bool near_gpus_cards_differ(const struct nw_problem *problem)
{
    const nw_topology *topology = problem->topology;

    for (int32_t h = 0; h < problem->host_count; h++) {
        const int32_t *unit = problem->core.first + h;
        double first = 0;

        for (int32_t u = unit[0]; u < unit[1]; u++) {
            struct nw_ints cores = nw_units_members(&problem->core, u);
            double links = nw_near_gpus_links_to_card(
                topology, nw_problem_core_end(problem, h, cores.values[0]));

            if (u == unit[0])
                first = links;
            else if (fabs(links - first) > NEAR_GPUS_EQUAL)
                return true;
        }
    }
    return false;
}

/* Replaces *best by the present slots, and sets *taken, if no figure that the
 * command `evaluate` reports gets worse, those of host traffic and of GPU
 * traffic alone included. */
static nw_status near_gpus_take_answer(const struct near_gpus_work *work,
                                       struct nw_answer *answer,
                                       struct nw_candidate *best, bool *taken)
{
    struct nw_candidate other = {0}, former = *best;
    nw_status status;

    nw_slots_to_answer(&work->slots, answer);
    status = nw_candidate_from_answer(work->problem, answer, best->algorithm,
                                      &other);
    *taken = !status && nw_candidate_within(&other, best->guard) &&
             !nw_candidate_better(best, &other) &&
             other.cost.max_congestion_host <=
                 former.cost.max_congestion_host * (1 + NEAR_GPUS_EQUAL) &&
             other.cost.max_congestion_gpu <=
                 former.cost.max_congestion_gpu * (1 + NEAR_GPUS_EQUAL);
    if (*taken) {
        *best = other;
        other = former;
    }
    nw_candidate_fini(&other);
    return status;
}

/* Moves the ranks of all hosts of *best nearer to their GPUs and NICs. Sets
 * *taken to true if the result replaced *best or if nothing was moved. */
static nw_status near_gpus_settle(struct near_gpus_work *work,
                                  struct nw_candidate *best, bool *taken)
{
    struct nw_problem begun = *work->problem;
    struct nw_answer answer = {0};
    nw_status status;

    begun.options.start = best->mapping;
    status = nw_answer_from_mapping(&begun, &answer);
    if (!status)
        status = nw_slots_init(&work->slots, work->problem, &answer);
    if (!status)
        status = near_gpus_measure(work);
    if (!status)
        status = near_gpus_settle_hosts(work, &answer);
    *taken = !work->moved;
    if (!status && work->moved)
        status = near_gpus_take_answer(work, &answer, best, taken);
    nw_answer_fini(&answer);
    return status;
}

nw_status nw_cores_near_gpus(const struct nw_problem *problem, bool cores_stay,
                             struct nw_candidate *best)
{
    nw_status status = NW_OK;
    bool taken = false;

    if (best->mapping->gpu_node ||
        (!problem->uses_gpus &&
         (cores_stay || !near_gpus_cards_differ(problem))))
        return NW_OK;
    /* All moves together may raise a figure that no single move raised, such as
     * congestion. Then the search is repeated with `strict` moves, which must
     * not raise nw_load_figures.power either. */
    for (int strict = 0; !status && !taken && strict < 2; strict++) {
        struct near_gpus_work work = {
            .problem = problem, .cores_stay = cores_stay, .strict = strict};

        status = near_gpus_settle(&work, best, &taken);
        nw_link_loads_fini(&work.loads);
        nw_slots_fini(&work.slots);
        NW_FREE_ALL(work.card, work.near, work.leaves, work.gpu_ranks);
    }
    return status;
}
