/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The best divisions of a pattern over a dragonfly's groups are seated: near
 * within each group, then by the aim; the best answer stays.
 */
#include "map/groups/dragonfly.h"
#include "map/common/budget.h"
#include "map/congestion/node_swaps.h"
#include "map/congestion/digit_embedding.h"
#include "map/groups/dragonfly_internal.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BEYOND 10 /* weight of hop-bytes beyond the limit */

/* --- the links of each pair --- */

enum { NOBODY = -1, MANY = -2 };

/* `owner` becomes the pair that alone uses a link. */
static void visit_ways(struct nw_pairing *work, struct nw_ways *ways,
                       int *owner)
{
    const struct nw_seats *seats = work->of.seats;
    const int32_t *pen = work->of.pens.pen, *first = seats->first;
    int32_t hosts = seats->problem->host_count;

    for (int32_t a = 0; a < hosts; a++)
        for (int32_t b = 0; b < hosts; b++) {
            int pair =
                pen[a] == pen[b] ? MANY : nw_pair_of(work, pen[a], pen[b]);
            struct nw_way way =
                nw_ways_find(ways, ways->nook[first[a]], ways->nook[first[b]]);

            for (uint32_t i = 0; a != b && i < way.count; i++) {
                int *mine = &owner[way.hop[i]];

                *mine = *mine == NOBODY || *mine == pair ? pair : MANY;
            }
        }
}

/* True where each pair has links. */
static bool sum_links(struct nw_pairing *work, const struct nw_ledger *ledger,
                      const int *owner)
{
    double fast[NW_PAIRS_MOST] = {0};

    for (uint32_t l = 0; l < ledger->link_count; l++)
        if (owner[l] >= 0 && ledger->link[l].slow > 0)
            fast[owner[l]] += 1 / ledger->link[l].slow;
    for (int32_t p = 0; p < work->of.pens.parts; p++)
        for (int32_t q = 0; q < work->of.pens.parts; q++) {
            int pair = nw_pair_of(work, p, q);

            if (p != q && fast[pair] <= 0)
                return false;
            work->slow[pair] = p == q ? 0 : 1 / fast[pair];
        }
    return true;
}

static nw_status find_links(struct nw_pairing *work, bool *found)
{
    struct nw_ledger ledger;
    int *owner = NULL;
    nw_status status = nw_ledger_init(&ledger, work->of.seats,
                                      (struct nw_ledger_wants){.links = true});

    *found = false;
    if (!status)
        status = nw_alloc(ledger.link_count, sizeof *owner, &owner);
    if (!status && ledger.has_links) {
        memset(owner, NOBODY, ledger.link_count * sizeof *owner);
        visit_ways(work, &ledger.ways, owner);
        *found = sum_links(work, &ledger, owner);
    }
    free(owner);
    nw_ledger_fini(&ledger);
    return status;
}

/* --- back to seats --- */

/* Congestion, and far more where hop-bytes are beyond their limit. */
static nw_status judge(const struct nw_pairing *work, double *out)
{
    double limit = work->aim->hop_limit;
    struct nw_ledger ledger;
    nw_status status =
        nw_ledger_init(&ledger, work->of.seats, nw_aim_wants(work->aim));

    if (!status)
        *out = nw_ledger_most(&ledger);
    if (!status && limit > 0)
        *out *= 1 + BEYOND * fmax(0, ledger.now.hop_bytes / limit - 1);
    nw_ledger_fini(&ledger);
    return status;
}

static nw_status settle(struct nw_pairing *work,
                        const struct nw_pairs_division *division, double *value)
{
    struct nw_aim near = {.first = NW_OBJECTIVE_HOP_BYTES,
                          .second = NW_OBJECTIVE_CONGESTION};
    struct nw_seats *seats = work->of.seats;
    nw_status status;

    nw_pens_sit(seats, &work->of.pens, division->part);
    seats->pen = work->of.pens.pen;
    status = nw_seats_search(seats, &near, NW_SEARCH_BRIEF);
    if (!status)
        status = nw_bundles_search(seats, work->aim, NW_SEARCH_BRIEF);
    if (!status)
        status = nw_seats_search(seats, work->aim, NW_SEARCH_FULL);
    seats->pen = NULL;
    return status ? status : judge(work, value);
}

static nw_status settle_all(struct nw_pairing *work, double below)
{
    struct nw_seats *seats = work->of.seats;
    size_t size = (size_t)seats->rank_count * sizeof *seats->seat;
    double least = INFINITY;
    nw_status status = NW_OK;

    for (int i = 0; !status && i < NW_PAIRS_KEPT && work->best[i].most < below;
         i++) {
        double value = INFINITY;

        status = settle(work, &work->best[i], &value);
        if (status || value >= least)
            continue;
        least = value;
        memcpy(work->of.part, seats->seat, size);
    }
    if (!status) {
        memcpy(seats->seat, work->of.part, size);
        nw_seats_sit(seats, seats->seat);
    }
    return status;
}

/* --- the whole --- */

static nw_status alloc(struct nw_pairing *work, struct nw_seats *seats)
{
    size_t n = (size_t)seats->rank_count;
    nw_status status = nw_penned_init(&work->of, seats);

    if (!status)
        status = nw_alloc(n, sizeof *work->round.part, &work->round.part);
    for (int i = 0; !status && i < NW_PAIRS_KEPT; i++) {
        work->best[i].most = INFINITY;
        status = nw_alloc(n, sizeof *work->best[i].part, &work->best[i].part);
    }
    return status;
}

static void release(struct nw_pairing *work)
{
    nw_penned_fini(&work->of);
    free(work->round.part);
    for (int i = 0; i < NW_PAIRS_KEPT; i++)
        free(work->best[i].part);
    free(work);
}

/* Patterns without a grid do better by what leaves routers. */
static nw_status search(struct nw_pairing *work, double below,
                        enum nw_paired *out)
{
    struct nw_tiling tiling;
    bool grid = false;
    bool grouped = nw_pens_nearest(work->of.seats, &work->of.pens) &&
                   nw_pens_dragonfly(work->of.seats, &work->of.pens);
    nw_status status = nw_seats_find_grid(work->of.seats, &tiling, &grid);

    if (!status && grid && grouped)
        status = find_links(work, &grouped);
    if (status || !grid || !grouped)
        return status;
    *out = NW_PAIRED_IN_VAIN;
    if (!nw_pairs_divide(work, below))
        return NW_OK;
    *out = NW_PAIRED;
    return settle_all(work, below);
}

nw_status nw_seats_pair(struct nw_seats *seats, const struct nw_aim *aim,
                        double below, enum nw_paired *out)
{
    struct nw_pairing *work = NULL;
    nw_status status;

    *out = NW_PAIRED_NOT;
    if (!nw_penned_serves(seats, aim))
        return NW_OK;
    status = nw_alloc(1, sizeof *work, &work);
    if (status)
        return status;
    work->aim = aim;
    status = alloc(work, seats);
    if (!status)
        status = search(work, below, out);
    release(work);
    return status;
}
