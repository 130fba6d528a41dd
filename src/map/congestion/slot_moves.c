/* SPDX-License-Identifier: BSD-3-Clause */
/* Random moves that keep an assignment valid: a rank goes to free slots or
 * exchanges its slots with another rank. Its core or its GPU may move without
 * the other, within a node or, if GPUs may be on other nodes than their ranks,
 * to another node. In assignments of nodes (node_swaps.c), two nodes exchange
 * all their slots. */
#include "map/congestion/slots.h"
#include "base/random.h"

/* Returns a random slot of the same host and kind (core or GPU) as `slot`,
 * never that of a fixed core or GPU; `slot` itself if the host has no such
 * slot. */
static int32_t slot_moves_draw_on_host(const struct nw_slots *slots,
                                       struct nw_random *random, int32_t slot)
{
    bool gpu = slot >= slots->core_count;
    const int32_t *first = slots->first + slots->host[slot] +
                           (gpu ? slots->problem->host_count + 1 : 0);

    if (first[1] == first[0])
        return slot;
    return first[0] +
           (int32_t)nw_random_below(random, (uint64_t)(first[1] - first[0]));
}

/* Returns a random number from 0 to count - 1 that differs from `near` by at
 * most 1, 2, 4, 8, 16 or 32. */
static int32_t slot_moves_draw_beside(struct nw_random *random, int32_t near,
                                      int32_t count)
{
    int32_t reach = 1 << nw_random_below(random, 6);
    int32_t at = near - reach +
                 (int32_t)nw_random_below(random, 2 * (uint64_t)reach + 1);

    if (at < 0)
        return 0;
    return at < count ? at : count - 1;
}

/* Returns a random core slot: on the host of a peer of the rank, near the slot
 * of a peer, or anywhere. */
static int32_t slot_moves_draw_target(const struct nw_slots *slots,
                                      struct nw_random *random, int32_t rank)
{
    bool gpu = nw_slots_has_gpu(slots, rank) && nw_random_below(random, 2);
    int32_t endpoint = gpu ? slots->rank_count + rank : rank;
    size_t edges = slots->row[endpoint + 1] - slots->row[endpoint];
    uint64_t dice = nw_random_below(random, 16);
    int32_t peer;

    if (!edges || !dice)
        return (int32_t)nw_random_below(random, (uint64_t)slots->core_count);
    peer =
        slots->edge[slots->row[endpoint] + nw_random_below(random, edges)].peer;
    if (peer >= slots->rank_count)
        peer -= slots->rank_count;
    if (dice < 9 && slots->problem->host_count > 1)
        return slot_moves_draw_on_host(slots, random, slots->slot[peer]);
    return slot_moves_draw_beside(random, slots->slot[peer], slots->core_count);
}

static void slot_moves_add_part(struct nw_move *move, int32_t endpoint,
                                int32_t from, int32_t to)
{
    move->part[move->count++] = (struct nw_moving){endpoint, from, to};
}

void nw_slots_exchange(const struct nw_slots *slots, int32_t a, int32_t b,
                       struct nw_move *move)
{
    if (slots->owner[a] >= 0)
        slot_moves_add_part(move, slots->owner[a], a, b);
    if (slots->owner[b] >= 0)
        slot_moves_add_part(move, slots->owner[b], b, a);
}

/* Returns a random free GPU slot of a host; -1 if the host has no free GPU
 * slot. */
static int32_t slot_moves_free_gpu_slot(const struct nw_slots *slots,
                                        struct nw_random *random, int32_t host)
{
    const int32_t *first = slots->first + slots->problem->host_count + 1 + host;
    int32_t count = first[1] - first[0], at;

    if (count <= 0)
        return -1;
    at = (int32_t)nw_random_below(random, (uint64_t)count);
    for (int32_t k = 0; k < count; k++)
        if (slots->owner[first[0] + (at + k) % count] < 0)
            return first[0] + (at + k) % count;
    return -1;
}

/* Adds to a move the GPUs of the ranks whose cores it exchanges: rank pair[0],
 * and rank pair[1] or -1 if the core slot was free. Cancels the move if a GPU
 * finds no free slot on its new host. */
static void slot_moves_move_gpus(const struct nw_slots *slots,
                                 struct nw_random *random,
                                 const int32_t pair[2], struct nw_move *move)
{
    int32_t n = slots->rank_count;
    int32_t mine = slots->slot[n + pair[0]];
    int32_t theirs = pair[1] < 0 ? -1 : slots->slot[n + pair[1]];
    int32_t here = slots->host[slots->slot[pair[0]]];
    int32_t there = slots->host[move->part[0].to];
    int32_t to = theirs >= 0 || mine < 0
                     ? theirs
                     : slot_moves_free_gpu_slot(slots, random, there);
    int32_t back = mine >= 0 || theirs < 0
                       ? mine
                       : slot_moves_free_gpu_slot(slots, random, here);

    if ((mine >= 0 && to < 0) || (theirs >= 0 && back < 0)) {
        move->count = 0;
        return;
    }
    if (mine >= 0)
        slot_moves_add_part(move, n + pair[0], mine, to);
    if (theirs >= 0)
        slot_moves_add_part(move, n + pair[1], theirs, back);
}

/* Draws a move of a rank's core. If `gpus` is set, the GPUs move with the cores
 * between hosts, and sometimes within a host. The move stays empty if it would
 * not be valid. */
static void slot_moves_draw_rank(const struct nw_slots *slots,
                                 struct nw_random *random, int32_t rank,
                                 bool gpus, struct nw_move *move)
{
    int32_t from = slots->slot[rank],
            to = slot_moves_draw_target(slots, random, rank);
    int32_t other = slots->owner[to];
    int32_t here = slots->host[from], there = slots->host[to];

    if (to == from || slots->unit[to] < 0 ||
        (other >= 0 && (slots->locked[other] || (gpus && slots->half[other]))))
        return;
    if (here != there &&
        (slots->held[rank] || (other >= 0 && slots->held[other])))
        return;
    if (other < 0 && here != there &&
        slots->used[there] >= slots->problem->capacity[there])
        return;
    nw_slots_exchange(slots, from, to, move);
    if (gpus && (here != there || nw_random_below(random, 2)))
        slot_moves_move_gpus(slots, random, (int32_t[]){rank, other}, move);
}

/* Draws a move of one endpoint of a rank to another slot of the same host. The
 * move stays empty if it would not be valid. */
static void slot_moves_draw_one(const struct nw_slots *slots,
                                struct nw_random *random, int32_t endpoint,
                                struct nw_move *move)
{
    int32_t from = slots->slot[endpoint];
    int32_t to = slot_moves_draw_on_host(slots, random, from);
    int32_t other = slots->owner[to];

    if (other >= slots->rank_count)
        other -= slots->rank_count;
    if (to == from || slots->unit[to] < 0 ||
        (other >= 0 && slots->locked[other]))
        return;
    nw_slots_exchange(slots, from, to, move);
}

/* Draws a move of a rank's GPU without its core: to a free slot on the host of
 * a peer of the GPU, or to any GPU slot. */
static void slot_moves_draw_far_gpu(const struct nw_slots *slots,
                                    struct nw_random *random, int32_t rank,
                                    struct nw_move *move)
{
    int32_t endpoint = slots->rank_count + rank;
    int32_t gpus = slots->count - slots->core_count;
    size_t edges = slots->row[endpoint + 1] - slots->row[endpoint];
    int32_t to =
        slots->core_count + (int32_t)nw_random_below(random, (uint64_t)gpus);

    if (edges && nw_random_below(random, 4)) {
        size_t t = slots->row[endpoint] + nw_random_below(random, edges);
        int32_t host = slots->host[slots->slot[slots->edge[t].peer]];

        to = slot_moves_free_gpu_slot(slots, random, host);
        if (to < 0)
            return;
    }
    if (to != slots->slot[endpoint] && slots->unit[to] >= 0)
        nw_slots_exchange(slots, slots->slot[endpoint], to, move);
}

/* If GPUs may be on other nodes than their ranks, draws a move of only the core
 * or only the GPU of a rank and returns true. The move stays empty if it would
 * not be valid. Otherwise, also if the rank has no GPU, and with probability
 * 1/3, returns false: the caller then draws another kind of move. */
static bool slot_moves_draw_far(const struct nw_slots *slots,
                                struct nw_random *random, int32_t rank,
                                struct nw_move *move)
{
    int32_t mine = slots->slot[slots->rank_count + rank];
    uint64_t dice = nw_random_below(random, 3);

    if (!slots->remote || mine < 0 || !dice)
        return false;
    if (dice == 1 && slots->unit[mine] >= 0)
        slot_moves_draw_far_gpu(slots, random, rank, move);
    else if (slots->unit[slots->slot[rank]] >= 0)
        slot_moves_draw_rank(slots, random, rank, false, move);
    return true;
}

/* --- whole nodes --- */

/* Returns a random host, mostly one whose number is near that of a peer's host.
 */
static int32_t slot_moves_draw_host(const struct nw_slots *slots,
                                    struct nw_random *random, int32_t endpoint)
{
    int32_t hosts = slots->problem->host_count, peer;
    size_t edges = slots->row[endpoint + 1] - slots->row[endpoint];

    if (!edges || nw_random_below(random, 4) == 0)
        return (int32_t)nw_random_below(random, (uint64_t)hosts);
    peer =
        slots->edge[slots->row[endpoint] + nw_random_below(random, edges)].peer;
    return slot_moves_draw_beside(random, slots->host[slots->slot[peer]],
                                  hosts);
}

/* Draws an exchange of the host of an endpoint with another host of the same
 * node_class. Only for the assignment of nodes (node_swaps.c), where every slot
 * has an endpoint. */
static void slot_moves_draw_nodes(const struct nw_slots *slots,
                                  struct nw_random *random, int32_t endpoint,
                                  struct nw_move *move)
{
    int32_t here = slots->host[slots->slot[endpoint]];
    int32_t there = slot_moves_draw_host(slots, random, endpoint);
    int32_t width = slots->width;

    if (here == there || slots->node_class[here] != slots->node_class[there])
        return;
    for (int32_t k = 0; k < width; k++)
        nw_slots_exchange(slots, here * width + k, there * width + k, move);
}

/* Draws a move of a random kind for a rank. */
static void slot_moves_draw(const struct nw_slots *slots,
                            struct nw_random *random, int32_t rank,
                            struct nw_move *move)
{
    uint64_t dice = nw_random_below(random, 4);
    bool core_stays;

    if (slots->node_class) {
        slot_moves_draw_nodes(slots, random, rank, move);
        return;
    }
    core_stays = slots->unit[slots->slot[rank]] < 0;
    if (slot_moves_draw_far(slots, random, rank, move))
        return;
    if (slots->half[rank])
        slot_moves_draw_one(slots, random,
                            rank + (core_stays ? slots->rank_count : 0), move);
    else if (dice == 0)
        slot_moves_draw_one(slots, random, rank, move);
    else if (dice == 1 && nw_slots_has_gpu(slots, rank))
        slot_moves_draw_one(slots, random, slots->rank_count + rank, move);
    else
        slot_moves_draw_rank(slots, random, rank, true, move);
}

bool nw_slots_within_limits(const struct nw_slots *slots,
                            const struct nw_move *move)
{
    for (int i = 0; i < move->count; i++)
        if (move->part[i].endpoint < slots->rank_count &&
            !nw_problem_within_limit(slots->problem,
                                     slots->unit[move->part[i].to],
                                     move->part[i].endpoint))
            return false;
    return true;
}

void nw_slots_draw_move(const struct nw_slots *slots, struct nw_random *random,
                        int32_t rank, struct nw_move *move)
{
    move->count = 0;
    slot_moves_draw(slots, random, rank, move);
    if (slots->problem->limit && !nw_slots_within_limits(slots, move))
        move->count = 0;
}

void nw_slots_apply(struct nw_slots *slots, const struct nw_move *move)
{
    int32_t n = slots->rank_count;

    for (int i = 0; i < move->count; i++)
        slots->owner[move->part[i].from] = -1;
    for (int i = 0; i < move->count; i++) {
        const struct nw_moving *part = &move->part[i];
        int32_t *used = part->endpoint < n ? slots->used : slots->gpu_used;

        used[slots->host[part->from]]--;
        used[slots->host[part->to]]++;
        slots->owner[part->to] = part->endpoint;
        slots->slot[part->endpoint] = part->to;
    }
}
