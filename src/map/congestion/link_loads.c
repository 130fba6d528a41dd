/* SPDX-License-Identifier: BSD-3-Clause */
/* Link loads by the move: a trial collects the bytes that leave and enter each
 * link and looks at no other. What moves is summed by the nooks it talks to, so
 * that each way is followed once. Loads are kept in bytes, whole numbers that
 * do not drift. */
#include "map/congestion/link_loads.h"
#include "base/array.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double eighth(double x)
{
    x *= x;
    x *= x;
    return x * x;
}

/* --- links --- */

/* Without a branch, which nobody could foretell. */
static inline void load(struct nw_ledger *ledger, uint32_t hop, double bytes)
{
    struct nw_load *link = &ledger->link[hop];

    ledger->touch[ledger->touch_count] = hop;
    ledger->touch_count += !link->touched;
    link->touched = 1;
    link->more += bytes;
}

static void load_way(struct nw_ledger *ledger, const uint32_t *hop,
                     uint32_t count, double bytes)
{
    struct nw_load *link = ledger->link;
    uint32_t *touch = ledger->touch + ledger->touch_count;

    for (uint32_t i = 0; i < count; i++) {
        struct nw_load *one = &link[hop[i]];

        *touch = hop[i];
        touch += !one->touched;
        one->touched = 1;
        one->more += bytes;
    }
    ledger->touch_count = (size_t)(touch - ledger->touch);
}

/* What a seat has to itself carries all that its actor exchanges. */
static void load_own(struct nw_ledger *ledger, int32_t seat,
                     const struct nw_flow *flow, double sign)
{
    const struct nw_ways *ways = &ledger->ways;

    for (uint32_t i = ways->own[seat]; i < ways->own[seat + 1]; i++) {
        load(ledger, ways->own_hop[i][0], sign * flow->out);
        load(ledger, ways->own_hop[i][1], sign * flow->in);
    }
}

/* --- ways --- */

static void add_way(struct nw_ledger *ledger, const int32_t nook[2],
                    double bytes, double messages)
{
    struct nw_way way;

    if (bytes == 0 && messages == 0)
        return;
    way = nw_ways_find(&ledger->ways, nook[0], nook[1]);
    ledger->change.hop_bytes += bytes * way.distance;
    ledger->change.latency += messages * way.latency;
    if (ledger->follows)
        load_way(ledger, way.hop, way.count, bytes);
}

static void add_tie(struct nw_ledger *ledger, const struct nw_tie *tie,
                    const int32_t nook[2], double sign)
{
    add_way(ledger, nook, sign * tie->out, sign * tie->out_messages);
    add_way(ledger, (int32_t[]){nook[1], nook[0]}, sign * tie->in,
            sign * tie->in_messages);
}

/* --- trials --- */

static int32_t nook_of(const struct nw_ledger *ledger, int32_t seat)
{
    return ledger->ways.nook[seat];
}

/* With another that moves, or with itself: only matrices say how far that is.
 */
static void try_tie(struct nw_ledger *ledger, const struct nw_tie *tie,
                    const struct nw_moving *part, const struct nw_moving *other)
{
    if (part == other && ledger->has_links)
        return;
    add_tie(
        ledger, tie,
        (int32_t[]){nook_of(ledger, part->from), nook_of(ledger, other->from)},
        -1);
    add_tie(ledger, tie,
            (int32_t[]){nook_of(ledger, part->to), nook_of(ledger, other->to)},
            1);
}

/* What a part exchanges with those that stay, by nook. */
static void gather(struct nw_ledger *ledger, const struct nw_move *move, int k,
                   double sign)
{
    const struct nw_seats *seats = ledger->seats;
    const struct nw_moving *part = &move->part[k];

    for (size_t t = seats->row[part->actor]; t < seats->row[part->actor + 1];
         t++) {
        const struct nw_tie *tie = &seats->tie[t];
        int other = ledger->mark[tie->peer];
        int32_t nook;
        struct nw_flow *flow;

        if (other) { /* told with the first of the two */
            if (other > k)
                try_tie(ledger, tie, part, &move->part[other - 1]);
            continue;
        }
        nook = nook_of(ledger, seats->seat[tie->peer]);
        flow = &ledger->flow[nook];
        if (!ledger->met[nook]) {
            ledger->met[nook] = true;
            ledger->meet[ledger->meet_count++] = nook;
        }
        flow->out += sign * tie->out;
        flow->in += sign * tie->in;
        if (!ledger->ways.wants_latency)
            continue;
        flow->out_messages += sign * tie->out_messages;
        flow->in_messages += sign * tie->in_messages;
    }
}

/* Takes bytes from one way to another; what both have first or last stays. */
static void turn(struct nw_ledger *ledger, const struct nw_way *from,
                 const struct nw_way *to, double bytes)
{
    uint32_t m = from->count, n = to->count, i = 0;

    while (m && n && from->hop[m - 1] == to->hop[n - 1]) {
        m--;
        n--;
    }
    while (i < m && i < n && from->hop[i] == to->hop[i])
        i++;
    if (i < m)
        load_way(ledger, from->hop + i, m - i, -bytes);
    if (i < n)
        load_way(ledger, to->hop + i, n - i, bytes);
}

static struct nw_way find_way(struct nw_ledger *ledger, bool out, int32_t here,
                              int32_t there)
{
    return out ? nw_ways_find(&ledger->ways, here, there)
               : nw_ways_find(&ledger->ways, there, here);
}

static void turn_apart(struct nw_ledger *ledger, const int32_t nook[2],
                       int32_t peer, bool out)
{
    const struct nw_flow *flow = &ledger->flow[peer];

    for (int i = 0; i < 2; i++) {
        int32_t here = out ? nook[i] : peer, there = out ? peer : nook[i];
        double sign = i ? 1 : -1;

        add_way(ledger, (int32_t[]){here, there},
                sign * (out ? flow->out : flow->in),
                sign * (out ? flow->out_messages : flow->in_messages));
    }
}

static void turn_flow(struct nw_ledger *ledger, const int32_t nook[2],
                      int32_t peer, bool out)
{
    const struct nw_flow *flow = &ledger->flow[peer];
    double bytes = out ? flow->out : flow->in;
    double messages = out ? flow->out_messages : flow->in_messages;
    uint64_t asked = ledger->ways.asked;
    struct nw_way from, to;

    if (bytes == 0 && messages == 0)
        return;
    from = find_way(ledger, out, nook[0], peer);
    to = find_way(ledger, out, nook[1], peer);
    if (ledger->ways.asked != asked) { /* the first may be gone */
        turn_apart(ledger, nook, peer, out);
        return;
    }
    ledger->change.hop_bytes += bytes * (to.distance - from.distance);
    ledger->change.latency += messages * (to.latency - from.latency);
    if (ledger->follows && bytes != 0)
        turn(ledger, &from, &to, bytes);
}

/* What was gathered goes from one nook to another. */
static void spread(struct nw_ledger *ledger, const int32_t nook[2])
{
    for (size_t i = 0; i < ledger->meet_count; i++) {
        int32_t peer = ledger->meet[i];

        turn_flow(ledger, nook, peer, true);
        turn_flow(ledger, nook, peer, false);
        ledger->met[peer] = false;
        ledger->flow[peer] = (struct nw_flow){0};
    }
    ledger->meet_count = 0;
}

static bool exchanges(const struct nw_ledger *ledger,
                      const struct nw_move *move, int k)
{
    const struct nw_moving *part = &move->part[k];

    return k + 1 < move->count &&
           nook_of(ledger, part[0].from) == nook_of(ledger, part[1].to) &&
           nook_of(ledger, part[0].to) == nook_of(ledger, part[1].from);
}

static bool leaves_nook(const struct nw_ledger *ledger,
                        const struct nw_move *move)
{
    for (int k = 0; k < move->count; k++)
        if (nook_of(ledger, move->part[k].from) !=
            nook_of(ledger, move->part[k].to))
            return true;
    return false;
}

static void try_parts(struct nw_ledger *ledger, const struct nw_move *move)
{
    for (int k = 0; k < move->count; k++) {
        int32_t nook[2] = {nook_of(ledger, move->part[k].from),
                           nook_of(ledger, move->part[k].to)};
        bool two = exchanges(ledger, move, k);

        gather(ledger, move, k, 1);
        if (two)
            gather(ledger, move, ++k, -1);
        spread(ledger, nook);
    }
}

static void try_own(struct nw_ledger *ledger, const struct nw_move *move)
{
    for (int k = 0; k < move->count; k++) {
        const struct nw_moving *part = &move->part[k];

        load_own(ledger, part->from, &ledger->all[part->actor], -1);
        load_own(ledger, part->to, &ledger->all[part->actor], 1);
    }
}

static double beyond(const struct nw_ledger *ledger, double congestion)
{
    double over = congestion - ledger->target;

    return ledger->target > 0 && over > 0 ? over : 0;
}

static double inverse_scale(const struct nw_ledger *ledger)
{
    return ledger->scale > 0 ? 1 / ledger->scale : 0;
}

static void sum_over(struct nw_ledger *ledger)
{
    for (size_t i = 0; i < ledger->touch_count; i++) {
        const struct nw_load *link = &ledger->link[ledger->touch[i]];

        ledger->change.over +=
            beyond(ledger, (link->now + link->more) * link->slow) -
            beyond(ledger, link->now * link->slow);
    }
}

static void sum_links(struct nw_ledger *ledger)
{
    double per = inverse_scale(ledger), busy = 0, power = 0, most = 0;

    for (size_t i = 0; i < ledger->touch_count; i++) {
        const struct nw_load *link = &ledger->link[ledger->touch[i]];
        double extra = link->more, after = (link->now + extra) * link->slow;

        if (extra == 0)
            continue;
        busy += extra * link->slow;
        power += eighth(after * per) - link->power;
        if (extra > 0 && after > most)
            most = after;
    }
    ledger->change.busy = busy;
    ledger->change.power = power;
    ledger->touched_most = most;
    if (ledger->target > 0)
        sum_over(ledger);
}

static void try_move(struct nw_ledger *ledger, const struct nw_move *move)
{
    ledger->change = (struct nw_figures){0};
    for (int k = 0; k < move->count; k++)
        ledger->mark[move->part[k].actor] = (uint8_t)(k + 1);
    if (leaves_nook(ledger, move))
        try_parts(ledger, move);
    if (ledger->follows)
        try_own(ledger, move);
    for (int k = 0; k < move->count; k++)
        ledger->mark[move->part[k].actor] = 0;
}

void nw_ledger_try(struct nw_ledger *ledger, const struct nw_move *move)
{
    try_move(ledger, move);
    sum_links(ledger);
}

void nw_ledger_weigh(struct nw_ledger *ledger, const struct nw_move *move)
{
    ledger->follows = false;
    try_move(ledger, move);
    ledger->follows = ledger->has_links;
}

/* --- the largest --- */

static void raise(struct nw_ledger *ledger, uint32_t hop)
{
    uint32_t at = ledger->leaves + hop;

    ledger->peak[at] = ledger->link[hop].now * ledger->link[hop].slow;
    for (at /= 2; at; at /= 2) {
        double one = ledger->peak[2 * at], other = ledger->peak[2 * at + 1];
        double most = one > other ? one : other;

        if (ledger->peak[at] == most)
            return;
        ledger->peak[at] = most;
    }
}

double nw_ledger_most(const struct nw_ledger *ledger)
{
    return ledger->has_links ? ledger->peak[1] : 0;
}

void nw_ledger_end(struct nw_ledger *ledger, bool keep)
{
    double per = inverse_scale(ledger);

    for (size_t i = 0; i < ledger->touch_count; i++) {
        uint32_t hop = ledger->touch[i];
        struct nw_load *link = &ledger->link[hop];
        double extra = link->more;

        link->touched = 0;
        link->more = 0;
        if (!keep || extra == 0)
            continue;
        link->now += extra;
        link->power = eighth(link->now * link->slow * per);
        raise(ledger, hop);
    }
    ledger->touch_count = 0;
    if (!keep)
        return;
    ledger->now.hop_bytes += ledger->change.hop_bytes;
    ledger->now.latency += ledger->change.latency;
    ledger->now.busy += ledger->change.busy;
    ledger->now.power += ledger->change.power;
    ledger->now.over += ledger->change.over;
}

/* --- from scratch --- */

static void count_tie(struct nw_ledger *ledger, int32_t actor,
                      const struct nw_tie *tie)
{
    const struct nw_seats *seats = ledger->seats;

    if (tie->peer == actor && ledger->has_links)
        return;
    add_way(ledger,
            (int32_t[]){nook_of(ledger, seats->seat[actor]),
                        nook_of(ledger, seats->seat[tie->peer])},
            tie->out, tie->out_messages);
}

static void count_all(struct nw_ledger *ledger)
{
    const struct nw_seats *seats = ledger->seats;

    ledger->change = (struct nw_figures){0};
    for (int32_t a = 0; a < 2 * seats->rank_count; a++) {
        for (size_t t = seats->row[a]; t < seats->row[a + 1]; t++)
            count_tie(ledger, a, &seats->tie[t]);
        if (ledger->has_links && seats->seat[a] >= 0)
            load_own(ledger, seats->seat[a], &ledger->all[a], 1);
    }
}

static void fill_peaks(struct nw_ledger *ledger)
{
    for (uint32_t i = 0; i < ledger->link_count; i++)
        ledger->peak[ledger->leaves + i] =
            ledger->link[i].now * ledger->link[i].slow;
    for (uint32_t i = ledger->leaves - 1; i; i--)
        ledger->peak[i] = fmax(ledger->peak[2 * i], ledger->peak[2 * i + 1]);
}

static void sum_power(struct nw_ledger *ledger)
{
    for (uint32_t i = 0; i < ledger->link_count; i++) {
        struct nw_load *link = &ledger->link[i];
        double congestion = link->now * link->slow;

        link->power = eighth(congestion * inverse_scale(ledger));
        if (ledger->scale > 0)
            ledger->now.power += eighth(congestion / ledger->scale);
    }
}

void nw_ledger_recount(struct nw_ledger *ledger)
{
    count_all(ledger);
    for (uint32_t i = 0; ledger->has_links && i < ledger->link_count; i++)
        ledger->link[i].now = 0;
    for (size_t i = 0; i < ledger->touch_count; i++) {
        struct nw_load *link = &ledger->link[ledger->touch[i]];

        link->now = link->more;
        ledger->change.busy += link->now * link->slow;
        link->touched = 0;
        link->more = 0;
    }
    ledger->touch_count = 0;
    ledger->now = ledger->change;
    if (!ledger->has_links)
        return;
    fill_peaks(ledger);
    ledger->scale = ledger->peak[1];
    sum_power(ledger);
    nw_ledger_seek(ledger, ledger->target);
}

void nw_ledger_seek(struct nw_ledger *ledger, double target)
{
    ledger->target = target;
    ledger->now.over = 0;
    for (uint32_t i = 0; i < ledger->link_count; i++)
        ledger->now.over +=
            beyond(ledger, ledger->link[i].now * ledger->link[i].slow);
}

static nw_status alloc_links(struct nw_ledger *ledger)
{
    const nw_topology *topology = ledger->seats->problem->topology;
    size_t n = 2 * (size_t)nw_topology_link_count(topology);
    nw_status status = nw_alloc(n, sizeof *ledger->link, &ledger->link);

    ledger->link_count = (uint32_t)n;
    for (ledger->leaves = 1; ledger->leaves < n; ledger->leaves *= 2)
        ;
    if (!status)
        status = nw_alloc(n + 1, sizeof(uint32_t), &ledger->touch);
    if (!status)
        status =
            nw_alloc(2 * (size_t)ledger->leaves, sizeof(double), &ledger->peak);
    for (size_t i = 0; !status && i < n; i++) {
        int32_t class = nw_topology_link_class_of(topology, (int32_t)(i / 2));

        if (class >= 0)
            ledger->link[i].slow = 1 / topology->class[class].bandwidth[i & 1];
    }
    return status;
}

static nw_status alloc_flows(struct nw_ledger *ledger)
{
    const struct nw_seats *seats = ledger->seats;
    size_t nooks = (size_t)ledger->ways.nooks;
    size_t actors = 2 * (size_t)seats->rank_count;
    nw_status status = nw_alloc(nooks, sizeof *ledger->flow, &ledger->flow);

    if (!status)
        status = nw_alloc(nooks, sizeof *ledger->met, &ledger->met);
    if (!status)
        status = nw_alloc(nooks, sizeof *ledger->meet, &ledger->meet);
    if (!status)
        status = nw_alloc(actors, sizeof *ledger->all, &ledger->all);
    for (size_t a = 0; !status && a < actors; a++)
        for (size_t t = seats->row[a]; t < seats->row[a + 1]; t++)
            if ((size_t)seats->tie[t].peer != a) {
                ledger->all[a].out += seats->tie[t].out;
                ledger->all[a].in += seats->tie[t].in;
            }
    return status;
}

nw_status nw_ledger_init(struct nw_ledger *ledger, const struct nw_seats *seats,
                         struct nw_ledger_wants wants)
{
    const nw_topology *topology = seats->problem->topology;
    bool links = wants.links && nw_topology_has_links(topology);
    nw_status status;

    *ledger = (struct nw_ledger){.seats = seats,
                                 .has_links = links,
                                 .follows = links,
                                 .ways = {.topology = topology,
                                          .end = seats->end,
                                          .count = seats->count,
                                          .keeps = true,
                                          .joins = true,
                                          .wants_hops = wants.links,
                                          .wants_latency = wants.latency,
                                          .wants_distance = wants.hop_bytes}};
    status = nw_ways_init(&ledger->ways);
    if (!status)
        status = nw_alloc(2 * (size_t)seats->rank_count, sizeof *ledger->mark,
                          &ledger->mark);
    if (!status)
        status = alloc_flows(ledger);
    if (!status && ledger->has_links)
        status = alloc_links(ledger);
    if (!status)
        nw_ledger_recount(ledger);
    return status;
}

void nw_ledger_fini(struct nw_ledger *ledger)
{
    nw_ways_fini(&ledger->ways);
    free(ledger->link);
    free(ledger->peak);
    free(ledger->all);
    free(ledger->flow);
    free(ledger->met);
    free(ledger->meet);
    free(ledger->touch);
    free(ledger->mark);
    *ledger = (struct nw_ledger){0};
}
