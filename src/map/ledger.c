/* SPDX-License-Identifier: BSD-3-Clause */
/* Link loads by the move: a trial collects the bytes that leave and enter each
 * link and looks at no other. Loads are kept in bytes, whole numbers that do
 * not drift. */
#include "map/ledger.h"
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

/* --- one message way --- */

static void add_way(struct nw_ledger *ledger, const int32_t seat[2],
                    double bytes, double messages)
{
    struct nw_way way;

    if (bytes == 0 && messages == 0)
        return;
    way = nw_ways_find(&ledger->ways, seat[0], seat[1]);
    ledger->change.hop_bytes += bytes * way.distance;
    ledger->change.latency += messages * way.latency;
    if (!ledger->has_links || bytes == 0)
        return;
    for (uint32_t i = 0; i < way.count; i++) {
        uint32_t hop = way.hop[i];

        if (!ledger->touched[hop]) {
            ledger->touched[hop] = true;
            ledger->touch[ledger->touch_count++] = hop;
        }
        ledger->extra[hop] += bytes;
    }
}

static void add_tie(struct nw_ledger *ledger, const struct nw_tie *tie,
                    const int32_t seat[2], double sign)
{
    add_way(ledger, seat, sign * tie->out, sign * tie->out_messages);
    add_way(ledger, (int32_t[]){seat[1], seat[0]}, sign * tie->in,
            sign * tie->in_messages);
}

/* --- trials --- */

static void try_part(struct nw_ledger *ledger, const struct nw_move *move,
                     int k)
{
    const struct nw_seats *seats = ledger->seats;
    const struct nw_moving *part = &move->part[k];

    for (size_t t = seats->row[part->actor]; t < seats->row[part->actor + 1];
         t++) {
        const struct nw_tie *tie = &seats->tie[t];
        int other = ledger->mark[tie->peer];
        int32_t before[2] = {part->from, seats->seat[tie->peer]};
        int32_t after[2] = {part->to, before[1]};

        if (other && other - 1 < k)
            continue; /* told with that part */
        if (other)
            after[1] = move->part[other - 1].to;
        add_tie(ledger, tie, before, -1);
        add_tie(ledger, tie, after, 1);
    }
}

static double beyond(const struct nw_ledger *ledger, double congestion)
{
    return ledger->target > 0 ? fmax(0, congestion - ledger->target) : 0;
}

static void sum_links(struct nw_ledger *ledger)
{
    double per = ledger->scale > 0 ? 1 / ledger->scale : 0;

    ledger->touched_most = 0;
    for (size_t i = 0; i < ledger->touch_count; i++) {
        uint32_t hop = ledger->touch[i];
        double slow = ledger->slow[hop], extra = ledger->extra[hop];
        double before = ledger->load[hop] * slow;
        double after = (ledger->load[hop] + extra) * slow;

        if (extra == 0)
            continue;
        ledger->change.busy += extra * slow;
        ledger->change.power += eighth(after * per) - eighth(before * per);
        ledger->change.over += beyond(ledger, after) - beyond(ledger, before);
        if (extra > 0 && after > ledger->touched_most)
            ledger->touched_most = after;
    }
}

void nw_ledger_try(struct nw_ledger *ledger, const struct nw_move *move)
{
    ledger->change = (struct nw_figures){0};
    for (int k = 0; k < move->count; k++)
        ledger->mark[move->part[k].actor] = (uint8_t)(k + 1);
    for (int k = 0; k < move->count; k++)
        try_part(ledger, move, k);
    for (int k = 0; k < move->count; k++)
        ledger->mark[move->part[k].actor] = 0;
    sum_links(ledger);
}

/* --- the largest --- */

static void raise(struct nw_ledger *ledger, uint32_t hop)
{
    uint32_t at = ledger->leaves + hop;

    ledger->peak[at] = ledger->load[hop] * ledger->slow[hop];
    for (at /= 2; at; at /= 2) {
        double most = fmax(ledger->peak[2 * at], ledger->peak[2 * at + 1]);

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
    for (size_t i = 0; i < ledger->touch_count; i++) {
        uint32_t hop = ledger->touch[i];
        double extra = ledger->extra[hop];

        ledger->touched[hop] = false;
        ledger->extra[hop] = 0;
        if (!keep || extra == 0)
            continue;
        ledger->load[hop] += extra;
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

static void count_all(struct nw_ledger *ledger)
{
    const struct nw_seats *seats = ledger->seats;

    ledger->change = (struct nw_figures){0};
    for (int32_t a = 0; a < 2 * seats->rank_count; a++)
        for (size_t t = seats->row[a]; t < seats->row[a + 1]; t++) {
            const struct nw_tie *tie = &seats->tie[t];

            add_way(ledger, (int32_t[]){seats->seat[a], seats->seat[tie->peer]},
                    tie->out, tie->out_messages);
        }
}

static void fill_peaks(struct nw_ledger *ledger)
{
    for (uint32_t i = 0; i < ledger->link_count; i++)
        ledger->peak[ledger->leaves + i] = ledger->load[i] * ledger->slow[i];
    for (uint32_t i = ledger->leaves - 1; i; i--)
        ledger->peak[i] = fmax(ledger->peak[2 * i], ledger->peak[2 * i + 1]);
}

void nw_ledger_recount(struct nw_ledger *ledger)
{
    count_all(ledger);
    if (ledger->has_links)
        memset(ledger->load, 0, ledger->link_count * sizeof *ledger->load);
    for (size_t i = 0; i < ledger->touch_count; i++) {
        uint32_t hop = ledger->touch[i];

        ledger->load[hop] = ledger->extra[hop];
        ledger->change.busy += ledger->load[hop] * ledger->slow[hop];
        ledger->touched[hop] = false;
        ledger->extra[hop] = 0;
    }
    ledger->touch_count = 0;
    ledger->now = ledger->change;
    if (!ledger->has_links)
        return;
    fill_peaks(ledger);
    ledger->scale = ledger->peak[1];
    for (uint32_t i = 0; ledger->scale > 0 && i < ledger->link_count; i++)
        ledger->now.power +=
            eighth(ledger->load[i] * ledger->slow[i] / ledger->scale);
    nw_ledger_seek(ledger, ledger->target);
}

void nw_ledger_seek(struct nw_ledger *ledger, double target)
{
    ledger->target = target;
    ledger->now.over = 0;
    for (uint32_t i = 0; i < ledger->link_count; i++)
        ledger->now.over += beyond(ledger, ledger->load[i] * ledger->slow[i]);
}

static nw_status alloc_links(struct nw_ledger *ledger)
{
    const nw_topology *topology = ledger->seats->problem->topology;
    size_t n = 2 * (size_t)nw_topology_link_count(topology);
    nw_status status = nw_alloc(n, sizeof(double), &ledger->load);

    ledger->link_count = (uint32_t)n;
    for (ledger->leaves = 1; ledger->leaves < n; ledger->leaves *= 2)
        ;
    if (!status)
        status = nw_alloc(n, sizeof(double), &ledger->slow);
    if (!status)
        status = nw_alloc(n, sizeof(double), &ledger->extra);
    if (!status)
        status = nw_alloc(n, sizeof(bool), &ledger->touched);
    if (!status)
        status = nw_alloc(n, sizeof(uint32_t), &ledger->touch);
    if (!status)
        status =
            nw_alloc(2 * (size_t)ledger->leaves, sizeof(double), &ledger->peak);
    for (size_t i = 0; !status && i < n; i++) {
        int32_t class = nw_topology_link_class_of(topology, (int32_t)(i / 2));

        if (class >= 0)
            ledger->slow[i] = 1 / topology->class[class].bandwidth[i & 1];
    }
    return status;
}

nw_status nw_ledger_init(struct nw_ledger *ledger, const struct nw_seats *seats,
                         struct nw_ledger_wants wants)
{
    const nw_topology *topology = seats->problem->topology;
    nw_status status;

    *ledger = (struct nw_ledger){.seats = seats,
                                 .has_links = wants.links &&
                                              nw_topology_has_links(topology),
                                 .ways = {.topology = topology,
                                          .end = seats->end,
                                          .count = seats->count,
                                          .keeps = true,
                                          .wants_hops = wants.links,
                                          .wants_latency = wants.latency,
                                          .wants_distance = wants.hop_bytes}};
    status = nw_ways_init(&ledger->ways);
    if (!status)
        status = nw_alloc(2 * (size_t)seats->rank_count, sizeof *ledger->mark,
                          &ledger->mark);
    if (!status && ledger->has_links)
        status = alloc_links(ledger);
    if (!status)
        nw_ledger_recount(ledger);
    return status;
}

void nw_ledger_fini(struct nw_ledger *ledger)
{
    nw_ways_fini(&ledger->ways);
    free(ledger->load);
    free(ledger->slow);
    free(ledger->peak);
    free(ledger->extra);
    free(ledger->touched);
    free(ledger->touch);
    free(ledger->mark);
    *ledger = (struct nw_ledger){0};
}
