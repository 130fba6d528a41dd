/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the moves that annealing of slots tries. If the objective depends on
 * link loads, most moves take a rank that sends or receives over a heavily
 * loaded link. */
#include "map/congestion/anneal_internal.h"
#include "map/common/parameters.h"

/* Returns true if a link on the route between two slots has a congestion of at
 * least `full` seconds. */
static bool congestion_is_full(struct nw_link_loads *loads, int32_t from,
                               int32_t to, double full)
{
    struct nw_route_cache *routes = &loads->routes;
    struct nw_route route = nw_route_cache_find(
        routes, routes->route_class[from], routes->route_class[to]);

    for (uint32_t i = 0; i < route.count; i++)
        if (nw_link_loads_congestion(loads, route.hop[i]) >= full)
            return true;
    for (uint32_t i = routes->own[from]; i < routes->own[from + 1]; i++)
        if (nw_link_loads_congestion(loads, routes->own_hop[i][0]) >= full)
            return true;
    for (uint32_t i = routes->own[to]; i < routes->own[to + 1]; i++)
        if (nw_link_loads_congestion(loads, routes->own_hop[i][1]) >= full)
            return true;
    return false;
}

/* Draws an edge of a rank's core or GPU. Returns true if a link on the edge's
 * route has at least 0.9 of the largest congestion of any link. */
static bool congestion_crosses_full_link(struct congestion_search *work,
                                         int32_t rank)
{
    struct nw_link_loads *loads = &work->loads;
    const struct nw_slots *slots = work->slots;
    bool gpu =
        nw_slots_has_gpu(slots, rank) && nw_random_below(&work->random, 2);
    int32_t endpoint = gpu ? slots->rank_count + rank : rank;
    size_t edges = slots->row[endpoint + 1] - slots->row[endpoint];
    double full = 0.9 * nw_link_loads_max(loads);
    const struct nw_directed_edge *edge;
    int32_t peer;

    if (!edges)
        return false;
    edge = &slots->edge[slots->row[endpoint] +
                        nw_random_below(&work->random, edges)];
    peer = slots->slot[edge->peer];
    if (edge->out > 0)
        return congestion_is_full(loads, slots->slot[endpoint], peer, full);
    return congestion_is_full(loads, peer, slots->slot[endpoint], full);
}

/* Draws a movable rank; if the objective depends on link loads, preferably one
 * with an edge over a heavily loaded link. */
static int32_t congestion_draw_rank(struct congestion_search *work)
{
    uint64_t count = (uint64_t)work->free_count;
    int32_t rank = work->free_rank[nw_random_below(&work->random, count)];

    if (!work->routes || nw_random_below(&work->random, 4) == 0)
        return rank;
    for (int i = 0; i < nw_tuned.congestion.congested_link_tries &&
                    !congestion_crosses_full_link(work, rank);
         i++)
        rank = work->free_rank[nw_random_below(&work->random, count)];
    return rank;
}

/* Returns true if a move takes a rank to a host of another group
 * (nw_slots.group). */
static bool congestion_leaves_group(const struct nw_slots *slots,
                                    const struct nw_move *move)
{
    for (int k = 0; slots->group && k < move->count; k++)
        if (slots->group[slots->host[move->part[k].from]] !=
            slots->group[slots->host[move->part[k].to]])
            return true;
    return false;
}

bool nw_congestion_draw_move(struct congestion_search *work,
                             struct nw_move *move)
{
    int tries = work->slots->group ? nw_tuned.congestion.group_tries : 1;

    do
        nw_slots_draw_move(work->slots, &work->random,
                           congestion_draw_rank(work), move);
    while (--tries &&
           (!move->count || congestion_leaves_group(work->slots, move)));
    return move->count && !congestion_leaves_group(work->slots, move);
}
