/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A seating of nodes: an actor for each network card of a node, which sends
 * what the ranks behind that card send to other nodes. The same search that
 * moves ranks moves these, with far fewer of them and no node torn apart.
 */
#include "map/congestion/node_swaps.h"
#include "base/array.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CARDS_MOST (NW_MOVE_MOST / 2)

struct bundling {
    struct nw_seats *seats; /* of ranks */
    struct nw_seats nodes;  /* of bundles */
    int32_t width;          /* bundles of a node */
    int32_t *bundle;        /* [actors] of ranks, -1 none */
};

/* --- which nodes may be exchanged --- */

static bool is_same_part(const struct nw_units *units, int32_t a, int32_t b)
{
    int32_t count = units->first[a + 1] - units->first[a];
    size_t size = (size_t)units->size;

    if (units->first[b + 1] - units->first[b] != count)
        return false;
    return !count || (!memcmp(units->room + units->first[a],
                              units->room + units->first[b],
                              (size_t)count * sizeof *units->room) &&
                      !memcmp(units->member + (size_t)units->first[a] * size,
                              units->member + (size_t)units->first[b] * size,
                              (size_t)count * size * sizeof *units->member));
}

static bool is_same_kind(const struct nw_problem *problem, int32_t a, int32_t b)
{
    const nw_topology *topology = problem->topology;

    return nw_topology_type_of(topology, problem->host[a]) ==
               nw_topology_type_of(topology, problem->host[b]) &&
           problem->room[a] == problem->room[b] &&
           problem->gpu_room[a] == problem->gpu_room[b] &&
           is_same_part(&problem->core, a, b) &&
           (!problem->uses_gpus || is_same_part(&problem->gpu, a, b));
}

/* The first host of the same kind; -1 where a rank is fixed there. */
static void sort_hosts(const struct bundling *work)
{
    const struct nw_seats *seats = work->seats;
    const struct nw_problem *problem = seats->problem;
    int32_t *kin = work->nodes.kin;

    for (int32_t h = 0; h < problem->host_count; h++) {
        kin[h] = 0;
        while (kin[h] < h &&
               (kin[kin[h]] != kin[h] || !is_same_kind(problem, kin[h], h)))
            kin[h]++;
    }
    for (int32_t r = 0; problem->fixed_host && r < seats->rank_count; r++)
        if (problem->fixed_host[r] >= 0)
            kin[problem->fixed_host[r]] = -1;
}

/* --- what nodes send each other --- */

static int32_t card_of(const struct nw_seats *seats, int32_t seat)
{
    int32_t card = nw_end_card(seats->problem->topology, seats->end[seat]);

    return card < 0 ? 0 : card;
}

static void name_bundles(const struct bundling *work)
{
    const struct nw_seats *seats = work->seats;

    for (int32_t a = 0; a < 2 * seats->rank_count; a++) {
        int32_t seat = seats->seat[a];

        work->bundle[a] =
            seat < 0 ? -1
                     : seats->host[seat] * work->width + card_of(seats, seat);
    }
}

/* Whether what two actors exchange leaves a node. */
static bool is_between(const struct bundling *work, int32_t a, int32_t b)
{
    return work->bundle[a] / work->width != work->bundle[b] / work->width;
}

static void count_ties(const struct bundling *work)
{
    const struct nw_seats *seats = work->seats;

    for (int32_t a = 0; a < 2 * seats->rank_count; a++)
        for (size_t t = seats->row[a]; t < seats->row[a + 1]; t++)
            if (is_between(work, a, seats->tie[t].peer))
                work->nodes.row[work->bundle[a] + 1]++;
}

static void fill_ties(const struct bundling *work, size_t *at)
{
    const struct nw_seats *seats = work->seats;

    for (int32_t a = 0; a < 2 * seats->rank_count; a++)
        for (size_t t = seats->row[a]; t < seats->row[a + 1]; t++) {
            struct nw_tie tie = seats->tie[t];

            if (!is_between(work, a, tie.peer))
                continue;
            tie.peer = work->bundle[tie.peer];
            work->nodes.tie[at[work->bundle[a]]++] = tie;
        }
}

static nw_status make_ties(struct bundling *work)
{
    struct nw_seats *nodes = &work->nodes;
    size_t actors = 2 * (size_t)nodes->rank_count, *at = NULL;
    nw_status status = nw_alloc(actors, sizeof *at, &at);

    if (status)
        return status;
    count_ties(work);
    for (size_t a = 0; a < actors; a++) {
        at[a] = nodes->row[a];
        nodes->row[a + 1] += nodes->row[a];
    }
    status = nw_alloc(nodes->row[actors], sizeof *nodes->tie, &nodes->tie);
    if (!status) {
        fill_ties(work, at);
        nw_seats_merge_ties(nodes);
    }
    free(at);
    return status;
}

/* --- the seating of nodes --- */

static nw_status alloc_nodes(struct nw_seats *nodes)
{
    size_t n = (size_t)nodes->rank_count;
    size_t hosts = (size_t)nodes->problem->host_count;
    nw_status status = nw_alloc(n, sizeof *nodes->end, &nodes->end);

    if (!status)
        status = nw_alloc(n, sizeof *nodes->host, &nodes->host);
    if (!status)
        status = nw_alloc(n, sizeof *nodes->owner, &nodes->owner);
    if (!status)
        status = nw_alloc(2 * n, sizeof *nodes->seat, &nodes->seat);
    if (!status)
        status = nw_alloc(n, sizeof *nodes->locked, &nodes->locked);
    if (!status)
        status = nw_alloc(hosts, sizeof *nodes->used, &nodes->used);
    if (!status)
        status = nw_alloc(hosts, sizeof *nodes->gpu_used, &nodes->gpu_used);
    if (!status)
        status = nw_alloc(hosts, sizeof *nodes->kin, &nodes->kin);
    if (!status)
        status = nw_alloc(2 * n + 1, sizeof *nodes->row, &nodes->row);
    return status;
}

static struct nw_end door(const nw_topology *topology, int32_t node,
                          int32_t card)
{
    if (card < nw_topology_node_nic_count(topology, node))
        return nw_topology_nic_end(topology, node, card);
    return (struct nw_end){node, 0, -1};
}

static void seat_nodes(struct bundling *work)
{
    struct nw_seats *nodes = &work->nodes;
    const struct nw_problem *problem = nodes->problem;

    for (int32_t b = 0; b < nodes->count; b++) {
        int32_t host = b / work->width;

        nodes->host[b] = host;
        nodes->end[b] =
            door(problem->topology, problem->host[host], b % work->width);
        nodes->owner[b] = nodes->seat[b] = b;
        nodes->seat[nodes->count + b] = -1;
        nodes->used[host]++;
        nodes->locked[b] =
            nodes->kin[host] < 0 || nodes->row[b] == nodes->row[b + 1];
    }
}

static nw_status bundle(struct bundling *work)
{
    const struct nw_seats *seats = work->seats;
    int32_t count = seats->problem->host_count * work->width;
    nw_status status = nw_alloc(2 * (size_t)seats->rank_count,
                                sizeof *work->bundle, &work->bundle);

    work->nodes = (struct nw_seats){.problem = seats->problem,
                                    .pen = seats->pen,
                                    .count = count,
                                    .core_count = count,
                                    .rank_count = count,
                                    .width = work->width};
    if (!status)
        status = alloc_nodes(&work->nodes);
    if (status)
        return status;
    sort_hosts(work);
    name_bundles(work);
    status = make_ties(work);
    if (!status)
        seat_nodes(work);
    return status;
}

/* --- back to ranks --- */

/* Everybody moves with the node to the same seat of another. */
static void unbundle(struct bundling *work)
{
    struct nw_seats *seats = work->seats;
    const struct nw_seats *nodes = &work->nodes;
    int32_t hosts = seats->problem->host_count, n = seats->rank_count;

    for (int32_t s = 0; s < seats->count; s++)
        seats->owner[s] = -1;
    memset(seats->used, 0, (size_t)hosts * sizeof *seats->used);
    memset(seats->gpu_used, 0, (size_t)hosts * sizeof *seats->gpu_used);
    for (int32_t a = 0; a < 2 * n; a++) {
        const int32_t *first = seats->first + (a < n ? 0 : hosts + 1);
        int32_t seat = seats->seat[a], from, to;

        if (seat < 0)
            continue;
        from = seats->host[seat];
        to = nodes->host[nodes->seat[from * work->width]];
        if (to != from)
            seat += first[to] - first[from];
        seats->seat[a] = seat;
        seats->owner[seat] = a;
        (a < n ? seats->used : seats->gpu_used)[seats->host[seat]]++;
    }
}

/* --- the search --- */

static nw_status sum_hop_bytes(const struct nw_seats *seats, double *out)
{
    struct nw_ledger ledger;
    nw_status status = nw_ledger_init(
        &ledger, seats, (struct nw_ledger_wants){.hop_bytes = true});

    if (!status)
        *out = ledger.now.hop_bytes;
    nw_ledger_fini(&ledger);
    return status;
}

/* What goes on inside the nodes leaves less for the ways between. */
static nw_status lower_limit(const struct bundling *work, struct nw_aim *aim)
{
    double all = 0, between = 0;
    nw_status status;

    if (aim->hop_limit <= 0)
        return NW_OK;
    status = sum_hop_bytes(work->seats, &all);
    if (!status)
        status = sum_hop_bytes(&work->nodes, &between);
    if (!status)
        aim->hop_limit = fmax(aim->hop_limit - (all - between), 1e-300);
    return status;
}

static int32_t find_width(const struct nw_problem *problem)
{
    int32_t width = 1;

    for (int32_t h = 0; h < problem->host_count; h++) {
        int32_t cards =
            nw_topology_node_nic_count(problem->topology, problem->host[h]);

        width = cards > width ? cards : width;
    }
    return width;
}

nw_status nw_bundles_search(struct nw_seats *seats, const struct nw_aim *aim,
                            enum nw_search_depth depth)
{
    struct bundling work = {.seats = seats,
                            .width = find_width(seats->problem)};
    struct nw_aim mine = *aim;
    nw_status status;

    if (seats->problem->host_count < NW_BUNDLES_HOSTS ||
        work.width > CARDS_MOST)
        return NW_OK;
    status = bundle(&work);
    if (!status)
        status = lower_limit(&work, &mine);
    if (!status)
        status = nw_seats_search(&work.nodes, &mine, depth);
    if (!status)
        unbundle(&work);
    nw_seats_fini(&work.nodes);
    free(work.bundle);
    return status;
}
