/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves that keep a seating valid: ranks exchange both their seats, or one of
 * them within a node, or go to free seats. */
#include "map/congestion/slots.h"
#include "base/random.h"

/* A core seat or a GPU seat of the same host, any of its kind. */
static int32_t draw_on_host(const struct nw_seats *seats,
                            struct nw_random *random, int32_t seat)
{
    bool gpu = seat >= seats->core_count;
    const int32_t *first = seats->first + seats->host[seat] +
                           (gpu ? seats->problem->host_count + 1 : 0);

    if (first[1] == first[0])
        return seat;
    return first[0] +
           (int32_t)nw_random_below(random, (uint64_t)(first[1] - first[0]));
}

static int32_t draw_beside(const struct nw_seats *seats,
                           struct nw_random *random, int32_t seat)
{
    int32_t reach = 1 << nw_random_below(random, 6);
    int32_t at = seat - reach +
                 (int32_t)nw_random_below(random, 2 * (uint64_t)reach + 1);

    if (at < 0)
        return 0;
    return at < seats->core_count ? at : seats->core_count - 1;
}

/* A core seat near one that the rank talks with, or anywhere. */
static int32_t draw_target(const struct nw_seats *seats,
                           struct nw_random *random, int32_t rank)
{
    bool gpu = nw_seats_has_gpu(seats, rank) && nw_random_below(random, 2);
    int32_t actor = gpu ? seats->rank_count + rank : rank;
    size_t ties = seats->row[actor + 1] - seats->row[actor];
    uint64_t dice = nw_random_below(random, 16);
    int32_t peer;

    if (!ties || !dice)
        return (int32_t)nw_random_below(random, (uint64_t)seats->core_count);
    peer = seats->tie[seats->row[actor] + nw_random_below(random, ties)].peer;
    if (peer >= seats->rank_count)
        peer -= seats->rank_count;
    if (dice < 9 && seats->problem->host_count > 1)
        return draw_on_host(seats, random, seats->seat[peer]);
    return draw_beside(seats, random, seats->seat[peer]);
}

static void add_part(struct nw_move *move, int32_t actor, int32_t from,
                     int32_t to)
{
    move->part[move->count++] = (struct nw_moving){actor, from, to};
}

/* An actor goes to a seat, whoever is there comes back; both of one host or
 * both ranks going together. */
static void exchange(const struct nw_seats *seats, struct nw_move *move,
                     int32_t actor, int32_t to)
{
    int32_t from = seats->seat[actor];

    add_part(move, actor, from, to);
    if (seats->owner[to] >= 0)
        add_part(move, seats->owner[to], to, from);
}

static int32_t free_gpu_seat(const struct nw_seats *seats,
                             struct nw_random *random, int32_t host)
{
    const int32_t *first = seats->first + seats->problem->host_count + 1 + host;
    int32_t count = first[1] - first[0], at;

    if (count <= 0)
        return -1;
    at = (int32_t)nw_random_below(random, (uint64_t)count);
    for (int32_t k = 0; k < count; k++)
        if (seats->owner[first[0] + (at + k) % count] < 0)
            return first[0] + (at + k) % count;
    return -1;
}

static void move_gpus(const struct nw_seats *seats, struct nw_random *random,
                      const int32_t pair[2], struct nw_move *move)
{
    int32_t n = seats->rank_count;
    int32_t mine = seats->seat[n + pair[0]];
    int32_t theirs = pair[1] < 0 ? -1 : seats->seat[n + pair[1]];
    int32_t here = seats->host[seats->seat[pair[0]]];
    int32_t there = seats->host[move->part[0].to];
    int32_t to =
        theirs >= 0 || mine < 0 ? theirs : free_gpu_seat(seats, random, there);
    int32_t back =
        mine >= 0 || theirs < 0 ? mine : free_gpu_seat(seats, random, here);

    if ((mine >= 0 && to < 0) || (theirs >= 0 && back < 0)) {
        move->count = 0;
        return;
    }
    if (mine >= 0)
        add_part(move, n + pair[0], mine, to);
    if (theirs >= 0)
        add_part(move, n + pair[1], theirs, back);
}

/* Both seats of a rank, or its core's alone; between hosts the GPUs go along
 * where they may not be remote. */
static void draw_rank(const struct nw_seats *seats, struct nw_random *random,
                      int32_t rank, bool gpus, struct nw_move *move)
{
    int32_t from = seats->seat[rank], to = draw_target(seats, random, rank);
    int32_t other = seats->owner[to];
    int32_t here = seats->host[from], there = seats->host[to];

    if (to == from || seats->unit[to] < 0 ||
        (other >= 0 && (seats->locked[other] || (gpus && seats->half[other]))))
        return;
    if (here != there &&
        (seats->held[rank] || (other >= 0 && seats->held[other])))
        return;
    if (other < 0 && here != there &&
        seats->used[there] >= seats->problem->room[there])
        return;
    exchange(seats, move, rank, to);
    if (gpus && (here != there || nw_random_below(random, 2)))
        move_gpus(seats, random, (int32_t[]){rank, other}, move);
}

/* One of the two seats, within the host. */
static void draw_one(const struct nw_seats *seats, struct nw_random *random,
                     int32_t actor, struct nw_move *move)
{
    int32_t from = seats->seat[actor];
    int32_t to = draw_on_host(seats, random, from);
    int32_t other = seats->owner[to];

    if (other >= seats->rank_count)
        other -= seats->rank_count;
    if (to == from || seats->unit[to] < 0 ||
        (other >= 0 && seats->locked[other]))
        return;
    exchange(seats, move, actor, to);
}

/* A GPU alone, to the host of one that it talks with, or to any. */
static void draw_far_gpu(const struct nw_seats *seats, struct nw_random *random,
                         int32_t rank, struct nw_move *move)
{
    int32_t actor = seats->rank_count + rank;
    int32_t gpus = seats->count - seats->core_count;
    size_t ties = seats->row[actor + 1] - seats->row[actor];
    int32_t to =
        seats->core_count + (int32_t)nw_random_below(random, (uint64_t)gpus);

    if (ties && nw_random_below(random, 4)) {
        size_t t = seats->row[actor] + nw_random_below(random, ties);
        int32_t host = seats->host[seats->seat[seats->tie[t].peer]];

        to = free_gpu_seat(seats, random, host);
        if (to < 0)
            return;
    }
    if (to != seats->seat[actor] && seats->unit[to] >= 0)
        exchange(seats, move, actor, to);
}

/* Where GPUs may be remote, a core goes alone, or a GPU, or both as ever. */
static bool draw_far(const struct nw_seats *seats, struct nw_random *random,
                     int32_t rank, struct nw_move *move)
{
    int32_t mine = seats->seat[seats->rank_count + rank];
    uint64_t dice = nw_random_below(random, 3);

    if (!seats->remote || mine < 0 || !dice)
        return false;
    if (dice == 1 && seats->unit[mine] >= 0)
        draw_far_gpu(seats, random, rank, move);
    else if (seats->unit[seats->seat[rank]] >= 0)
        draw_rank(seats, random, rank, false, move);
    return true;
}

/* --- whole nodes --- */

static int32_t draw_host(const struct nw_seats *seats, struct nw_random *random,
                         int32_t actor)
{
    uint64_t hosts = (uint64_t)seats->problem->host_count;
    size_t ties = seats->row[actor + 1] - seats->row[actor];
    int32_t near, reach;

    if (!ties || nw_random_below(random, 4) == 0)
        return (int32_t)nw_random_below(random, hosts);
    near = seats->tie[seats->row[actor] + nw_random_below(random, ties)].peer;
    reach = 1 << nw_random_below(random, 6);
    near = seats->host[seats->seat[near]] - reach +
           (int32_t)nw_random_below(random, 2 * (uint64_t)reach + 1);
    if (near < 0)
        return 0;
    return (uint64_t)near < hosts ? near : (int32_t)hosts - 1;
}

static void draw_nodes(const struct nw_seats *seats, struct nw_random *random,
                       int32_t actor, struct nw_move *move)
{
    int32_t here = seats->host[seats->seat[actor]];
    int32_t there = draw_host(seats, random, actor);
    int32_t width = seats->width;

    if (here == there || seats->kin[here] != seats->kin[there])
        return;
    for (int32_t k = 0; k < width; k++)
        exchange(seats, move, seats->owner[here * width + k],
                 there * width + k);
}

static void draw(const struct nw_seats *seats, struct nw_random *random,
                 int32_t rank, struct nw_move *move)
{
    uint64_t dice = nw_random_below(random, 4);
    bool core_stays;

    if (seats->kin) {
        draw_nodes(seats, random, rank, move);
        return;
    }
    core_stays = seats->unit[seats->seat[rank]] < 0;
    if (draw_far(seats, random, rank, move))
        return;
    if (seats->half[rank])
        draw_one(seats, random, rank + (core_stays ? seats->rank_count : 0),
                 move);
    else if (dice == 0)
        draw_one(seats, random, rank, move);
    else if (dice == 1 && nw_seats_has_gpu(seats, rank))
        draw_one(seats, random, seats->rank_count + rank, move);
    else
        draw_rank(seats, random, rank, true, move);
}

/* Whether every core bears who comes to it. */
static bool is_borne(const struct nw_seats *seats, const struct nw_move *move)
{
    for (int i = 0; i < move->count; i++)
        if (move->part[i].actor < seats->rank_count &&
            !nw_problem_bears(seats->problem, seats->unit[move->part[i].to],
                              move->part[i].actor))
            return false;
    return true;
}

void nw_seats_draw(const struct nw_seats *seats, struct nw_random *random,
                   int32_t rank, struct nw_move *move)
{
    move->count = 0;
    draw(seats, random, rank, move);
    if (seats->problem->limit && !is_borne(seats, move))
        move->count = 0;
}

void nw_seats_apply(struct nw_seats *seats, const struct nw_move *move)
{
    int32_t n = seats->rank_count;

    for (int i = 0; i < move->count; i++)
        seats->owner[move->part[i].from] = -1;
    for (int i = 0; i < move->count; i++) {
        const struct nw_moving *part = &move->part[i];
        int32_t *used = part->actor < n ? seats->used : seats->gpu_used;

        used[seats->host[part->from]]--;
        used[seats->host[part->to]]++;
        seats->owner[part->to] = part->actor;
        seats->seat[part->actor] = part->to;
    }
}
