/* SPDX-License-Identifier: BSD-3-Clause */
/* Updates link loads after moves. A trial visits only the links whose load
 * changes. The bytes between a moving endpoint and all endpoints of a route
 * class are summed first, so that each route is followed once. Loads without
 * striping are whole numbers of bytes and have no rounding error. */
#include "map/congestion/link_loads.h"
#include "base/array.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- links --- */

/* Adds bytes to `count` links in the present trial. Lists the links in `touch`
 * without a branch, which the processor would often mispredict. */
static inline void link_loads_load_route(struct nw_link_loads *loads,
                                         const uint32_t *hop, uint32_t count,
                                         double bytes)
{
    struct nw_link_load *link = loads->link;
    uint32_t *touch = loads->touch + loads->touch_count;

    for (uint32_t i = 0; i < count; i++) {
        struct nw_link_load *one = &link[hop[i]];

        *touch = hop[i];
        touch += !one->touched;
        one->touched = 1;
        one->more += bytes;
    }
    loads->touch_count = (size_t)(touch - loads->touch);
}

/* Adds all traffic of a slot's endpoint to the links that belong to this slot
 * alone; `sign` is -1 if the endpoint leaves the slot. */
static void link_loads_load_own(struct nw_link_loads *loads, int32_t slot,
                                const struct nw_endpoint_flow *flow,
                                double sign)
{
    const struct nw_route_cache *routes = &loads->routes;

    for (uint32_t i = routes->own[slot]; i < routes->own[slot + 1]; i++) {
        link_loads_load_route(loads, &routes->own_hop[i][0], 1,
                              sign * flow->out);
        link_loads_load_route(loads, &routes->own_hop[i][1], 1,
                              sign * flow->in);
    }
}

/* --- routes --- */

/* Adds the cost of bytes and messages from route_class[0] to route_class[1] to
 * the present trial; negative amounts remove cost. */
static void link_loads_add_route(struct nw_link_loads *loads,
                                 const int32_t route_class[2], double bytes,
                                 double messages)
{
    struct nw_route route;

    if (bytes == 0 && messages == 0)
        return;
    route = nw_route_cache_find(&loads->routes, route_class[0], route_class[1]);
    loads->change.hop_bytes += bytes * route.distance;
    loads->change.latency += messages * route.latency;
    if (loads->follows)
        link_loads_load_route(loads, route.hop, route.count,
                              bytes / route.stripes);
}

static void link_loads_add_edge(struct nw_link_loads *loads,
                                const struct nw_directed_edge *edge,
                                const int32_t route_class[2], double sign)
{
    link_loads_add_route(loads, route_class, sign * edge->out,
                         sign * edge->out_messages);
    link_loads_add_route(loads, (int32_t[]){route_class[1], route_class[0]},
                         sign * edge->in, sign * edge->in_messages);
}

/* --- trials --- */

static int32_t link_loads_class_of(const struct nw_link_loads *loads,
                                   int32_t slot)
{
    return loads->routes.route_class[slot];
}

/* Adds the change of an edge between two moving endpoints. `part` equals
 * `other` for traffic of an endpoint with itself, which uses no links; only a
 * distance matrix may give it a cost. */
static void link_loads_try_edge(struct nw_link_loads *loads,
                                const struct nw_directed_edge *edge,
                                const struct nw_moving *part,
                                const struct nw_moving *other)
{
    if (part == other && loads->has_links)
        return;
    link_loads_add_edge(loads, edge,
                        (int32_t[]){link_loads_class_of(loads, part->from),
                                    link_loads_class_of(loads, other->from)},
                        -1);
    link_loads_add_edge(loads, edge,
                        (int32_t[]){link_loads_class_of(loads, part->to),
                                    link_loads_class_of(loads, other->to)},
                        1);
}

/* Adds to `flow`, by route class, the traffic of part k of a move with
 * endpoints that do not move. Traffic with moving endpoints changes the trial
 * at once. `sign` is -1 if part k goes the opposite way of part k - 1. */
static void link_loads_gather(struct nw_link_loads *loads,
                              const struct nw_move *move, int k, double sign)
{
    const struct nw_slots *slots = loads->slots;
    const struct nw_moving *part = &move->part[k];

    for (size_t t = slots->row[part->endpoint];
         t < slots->row[part->endpoint + 1]; t++) {
        const struct nw_directed_edge *edge = &slots->edge[t];
        int other = loads->mark[edge->peer];
        int32_t route_class;
        struct nw_endpoint_flow *flow;

        if (other) { /* the edge is counted at the first of its two parts */
            if (other > k)
                link_loads_try_edge(loads, edge, part, &move->part[other - 1]);
            continue;
        }
        route_class = link_loads_class_of(loads, slots->slot[edge->peer]);
        flow = &loads->flow[route_class];
        if (!loads->met[route_class]) {
            loads->met[route_class] = true;
            loads->meet[loads->meet_count++] = route_class;
        }
        flow->out += sign * edge->out;
        flow->in += sign * edge->in;
        if (!loads->routes.wants.latency)
            continue;
        flow->out_messages += sign * edge->out_messages;
        flow->in_messages += sign * edge->in_messages;
    }
}

/* Moves bytes to another route; skips common links at both ends. */
static void link_loads_reverse(struct nw_link_loads *loads,
                               const struct nw_route *from,
                               const struct nw_route *to, double bytes)
{
    uint32_t m = from->count, n = to->count, i = 0;

    while (m && n && from->hop[m - 1] == to->hop[n - 1]) {
        m--;
        n--;
    }
    while (i < m && i < n && from->hop[i] == to->hop[i])
        i++;
    if (i < m)
        link_loads_load_route(loads, from->hop + i, m - i, -bytes);
    if (i < n)
        link_loads_load_route(loads, to->hop + i, n - i, bytes);
}

/* Moves the traffic that link_loads_gather has summed from route_class[0] to
 * route_class[1]: if `out`, that sent to route class `peer`, otherwise that
 * received from it. Skips common links at the ends of cached routes. */
static void link_loads_reverse_flow(struct nw_link_loads *loads,
                                    const int32_t route_class[2], int32_t peer,
                                    bool out)
{
    const struct nw_endpoint_flow *flow = &loads->flow[peer];
    double bytes = out ? flow->out : flow->in;
    double messages = out ? flow->out_messages : flow->in_messages;
    int32_t old[2] = {out ? route_class[0] : peer, out ? peer : route_class[0]};
    int32_t new[2] = {out ? route_class[1] : peer, out ? peer : route_class[1]};
    uint64_t asked = loads->routes.asked;
    struct nw_route from, to;

    if (bytes == 0 && messages == 0)
        return;
    if (loads->routes.kept) {
        from = nw_route_cache_find(&loads->routes, old[0], old[1]);
        to = nw_route_cache_find(&loads->routes, new[0], new[1]);
    }
    /* Computing a route may overwrite the hops of the one found before. */
    if (!loads->routes.kept || loads->routes.asked != asked ||
        from.stripes != to.stripes) {
        link_loads_add_route(loads, old, -bytes, -messages);
        link_loads_add_route(loads, new, bytes, messages);
        return;
    }
    loads->change.hop_bytes += bytes * (to.distance - from.distance);
    loads->change.latency += messages * (to.latency - from.latency);
    if (loads->follows && bytes != 0)
        link_loads_reverse(loads, &from, &to, bytes / from.stripes);
}

/* Takes the traffic that link_loads_gather has summed off the routes of
 * route_class[0] and adds it to those of route_class[1]. Clears the sums. */
static void link_loads_spread(struct nw_link_loads *loads,
                              const int32_t route_class[2])
{
    for (size_t i = 0; i < loads->meet_count; i++) {
        int32_t peer = loads->meet[i];

        link_loads_reverse_flow(loads, route_class, peer, true);
        link_loads_reverse_flow(loads, route_class, peer, false);
        loads->met[peer] = false;
        loads->flow[peer] = (struct nw_endpoint_flow){0};
    }
    loads->meet_count = 0;
}

/* Returns true if parts k and k + 1 of a move exchange their route classes.
 * Their routes are then the same, so only the difference of their traffic
 * moves. */
static bool link_loads_exchanges(const struct nw_link_loads *loads,
                                 const struct nw_move *move, int k)
{
    const struct nw_moving *part = &move->part[k];

    return k + 1 < move->count &&
           link_loads_class_of(loads, part[0].from) ==
               link_loads_class_of(loads, part[1].to) &&
           link_loads_class_of(loads, part[0].to) ==
               link_loads_class_of(loads, part[1].from);
}

static bool link_loads_leaves_class(const struct nw_link_loads *loads,
                                    const struct nw_move *move)
{
    for (int k = 0; k < move->count; k++)
        if (link_loads_class_of(loads, move->part[k].from) !=
            link_loads_class_of(loads, move->part[k].to))
            return true;
    return false;
}

static void link_loads_try_parts(struct nw_link_loads *loads,
                                 const struct nw_move *move)
{
    for (int k = 0; k < move->count; k++) {
        int32_t route_class[2] = {
            link_loads_class_of(loads, move->part[k].from),
            link_loads_class_of(loads, move->part[k].to)};
        bool two = link_loads_exchanges(loads, move, k);

        link_loads_gather(loads, move, k, 1);
        if (two)
            link_loads_gather(loads, move, ++k, -1);
        link_loads_spread(loads, route_class);
    }
}

/* Returns by how many seconds `congestion` exceeds the target; at least 0. */
static double link_loads_beyond(const struct nw_link_loads *loads,
                                double congestion)
{
    double over = congestion - loads->target;

    return loads->target > 0 && over > 0 ? over : 0;
}

static double link_loads_inverse_scale(const struct nw_link_loads *loads)
{
    return loads->scale > 0 ? 1 / loads->scale : 0;
}

/* Computes the changes of all figures that depend on link loads. */
static void link_loads_sum_links(struct nw_link_loads *loads)
{
    double per = link_loads_inverse_scale(loads), busy = 0, power = 0, most = 0;
    double over = 0;

    for (size_t i = 0; i < loads->touch_count; i++) {
        const struct nw_link_load *link = &loads->link[loads->touch[i]];
        double extra = link->more, after = (link->now + extra) * link->slow;

        if (extra == 0)
            continue;
        busy += extra * link->slow;
        power += nw_eighth_power(after * per) - link->power;
        over += link_loads_beyond(loads, after) -
                link_loads_beyond(loads, link->now * link->slow);
        if (extra > 0 && after > most)
            most = after;
    }
    loads->change.busy = busy;
    loads->change.power = power;
    loads->change.over = over;
    loads->touched_most = most;
}

static void link_loads_try_move(struct nw_link_loads *loads,
                                const struct nw_move *move)
{
    loads->change = (struct nw_load_figures){0};
    for (int k = 0; k < move->count; k++)
        loads->mark[move->part[k].endpoint] = (uint8_t)(k + 1);
    if (link_loads_leaves_class(loads, move))
        link_loads_try_parts(loads, move);
    for (int k = 0; k < move->count; k++) {
        const struct nw_moving *part = &move->part[k];
        const struct nw_endpoint_flow *all = &loads->all[part->endpoint];

        loads->mark[part->endpoint] = 0;
        if (!loads->follows)
            continue;
        link_loads_load_own(loads, part->from, all, -1);
        link_loads_load_own(loads, part->to, all, 1);
    }
}

void nw_link_loads_try(struct nw_link_loads *loads, const struct nw_move *move)
{
    link_loads_try_move(loads, move);
    link_loads_sum_links(loads);
}

void nw_link_loads_try_distance(struct nw_link_loads *loads,
                                const struct nw_move *move)
{
    loads->follows = false;
    link_loads_try_move(loads, move);
    loads->follows = loads->has_links;
}

/* --- the largest congestion --- */

/* Updates the tree of largest congestion after the load of a link changed. */
static void link_loads_raise(struct nw_link_loads *loads, uint32_t hop)
{
    uint32_t at = loads->leaves + hop;

    loads->peak[at] = nw_link_loads_congestion(loads, hop);
    for (at /= 2; at; at /= 2) {
        double one = loads->peak[2 * at], other = loads->peak[2 * at + 1];
        double most = one > other ? one : other;

        if (loads->peak[at] == most)
            return;
        loads->peak[at] = most;
    }
}

double nw_link_loads_max(const struct nw_link_loads *loads)
{
    return loads->has_links ? loads->peak[1] : 0;
}

void nw_link_loads_end(struct nw_link_loads *loads, bool keep)
{
    double per = link_loads_inverse_scale(loads);

    for (size_t i = 0; i < loads->touch_count; i++) {
        uint32_t hop = loads->touch[i];
        struct nw_link_load *link = &loads->link[hop];
        double extra = link->more;

        link->touched = 0;
        link->more = 0;
        if (!keep || extra == 0)
            continue;
        link->now += extra;
        link->power = nw_eighth_power(link->now * link->slow * per);
        link_loads_raise(loads, hop);
    }
    loads->touch_count = 0;
    if (keep)
        nw_load_figures_add(&loads->now, &loads->change);
}

/* --- from scratch --- */

/* Computes the cost of the present slots as a trial that begins without load.
 */
static void link_loads_count_all(struct nw_link_loads *loads)
{
    const struct nw_slots *slots = loads->slots;

    loads->change = (struct nw_load_figures){0};
    for (int32_t a = 0; a < 2 * slots->rank_count; a++) {
        for (size_t t = slots->row[a]; t < slots->row[a + 1]; t++) {
            const struct nw_directed_edge *edge = &slots->edge[t];
            int32_t peer = slots->slot[edge->peer];

            if (edge->peer == a && loads->has_links)
                continue;
            link_loads_add_route(
                loads,
                (int32_t[]){link_loads_class_of(loads, slots->slot[a]),
                            link_loads_class_of(loads, peer)},
                edge->out, edge->out_messages);
        }
        if (loads->has_links && slots->slot[a] >= 0)
            link_loads_load_own(loads, slots->slot[a], &loads->all[a], 1);
    }
}

static void link_loads_sum_power(struct nw_link_loads *loads)
{
    for (uint32_t i = 0; i < loads->link_count; i++) {
        double congestion = nw_link_loads_congestion(loads, i);

        loads->link[i].power =
            nw_eighth_power(congestion * link_loads_inverse_scale(loads));
        if (loads->scale > 0)
            loads->now.power += nw_eighth_power(congestion / loads->scale);
    }
}

void nw_link_loads_recount(struct nw_link_loads *loads)
{
    link_loads_count_all(loads);
    for (uint32_t i = 0; loads->has_links && i < loads->link_count; i++)
        loads->link[i].now = 0;
    for (size_t i = 0; i < loads->touch_count; i++) {
        struct nw_link_load *link = &loads->link[loads->touch[i]];

        link->now = link->more;
        loads->change.busy += link->now * link->slow;
        link->touched = 0;
        link->more = 0;
    }
    loads->touch_count = 0;
    loads->now = loads->change;
    if (!loads->has_links)
        return;
    for (uint32_t i = 0; i < loads->link_count; i++)
        loads->peak[loads->leaves + i] = nw_link_loads_congestion(loads, i);
    for (uint32_t i = loads->leaves - 1; i; i--)
        loads->peak[i] = fmax(loads->peak[2 * i], loads->peak[2 * i + 1]);
    loads->scale = loads->peak[1];
    link_loads_sum_power(loads);
    nw_link_loads_set_target(loads, loads->target);
}

void nw_link_loads_set_target(struct nw_link_loads *loads, double target)
{
    loads->target = target;
    loads->now.over = 0;
    for (uint32_t i = 0; i < loads->link_count; i++)
        loads->now.over +=
            link_loads_beyond(loads, nw_link_loads_congestion(loads, i));
}

static nw_status link_loads_alloc_links(struct nw_link_loads *loads)
{
    const nw_topology *topology = loads->slots->problem->topology;
    size_t n = 2 * (size_t)nw_topology_link_count(topology);
    nw_status status;

    loads->link_count = (uint32_t)n;
    for (loads->leaves = 1; loads->leaves < n; loads->leaves *= 2)
        ;
    status =
        NW_ALLOC_ALL(NW_ARRAY(n, loads->link), NW_ARRAY(n + 1, loads->touch),
                     NW_ARRAY(2 * (size_t)loads->leaves, loads->peak));
    for (size_t i = 0; !status && i < n; i++)
        loads->link[i].slow =
            1 / nw_topology_link(topology, (int32_t)(i / 2)).bandwidth[i & 1];
    return status;
}

static nw_status link_loads_alloc_flows(struct nw_link_loads *loads)
{
    const struct nw_slots *slots = loads->slots;
    size_t route_classes = (size_t)loads->routes.route_classes;
    size_t actors = 2 * (size_t)slots->rank_count;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(route_classes, loads->flow),
                                    NW_ARRAY(route_classes, loads->met),
                                    NW_ARRAY(route_classes, loads->meet),
                                    NW_ARRAY(actors, loads->all),
                                    NW_ARRAY(actors, loads->mark));

    for (size_t a = 0; !status && a < actors; a++)
        for (size_t t = slots->row[a]; t < slots->row[a + 1]; t++)
            if ((size_t)slots->edge[t].peer != a) {
                loads->all[a].out += slots->edge[t].out;
                loads->all[a].in += slots->edge[t].in;
            }
    return status;
}

nw_status nw_link_loads_init(struct nw_link_loads *loads,
                             const struct nw_slots *slots,
                             struct nw_link_loads_wants wants)
{
    const nw_topology *topology = slots->problem->topology;
    bool links = wants.links && nw_topology_has_links(topology);
    nw_status status;

    *loads = (struct nw_link_loads){.slots = slots,
                                    .has_links = links,
                                    .follows = links,
                                    .routes = {.topology = topology,
                                               .end = slots->end,
                                               .count = slots->count,
                                               .keeps = true,
                                               .joins = true,
                                               .wants = wants}};
    status = nw_route_cache_init(&loads->routes);
    if (!status)
        status = link_loads_alloc_flows(loads);
    if (!status && loads->has_links)
        status = link_loads_alloc_links(loads);
    if (!status)
        nw_link_loads_recount(loads);
    return status;
}

void nw_link_loads_fini(struct nw_link_loads *loads)
{
    nw_route_cache_fini(&loads->routes);
    NW_FREE_ALL(loads->link, loads->peak, loads->all, loads->flow, loads->met,
                loads->meet, loads->touch, loads->mark);
    *loads = (struct nw_link_loads){0};
}
