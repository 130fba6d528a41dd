/* SPDX-License-Identifier: BSD-3-Clause */
/* Pens are grouped by distance as hosts are. What leaves a group goes by those
 * links that no two hosts inside it use. */
#include "map/groups/switch_levels.h"
#include "map/congestion/link_loads.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>

/* --- which pens are below one switch --- */

static double next_distance(const double *far, int32_t n, double beyond)
{
    double next = INFINITY;

    for (int32_t p = 0; p < n; p++)
        for (int32_t q = 0; q < p; q++)
            if (far[p * n + q] > beyond)
                next = fmin(next, far[p * n + q]);
    return next;
}

/* Pens at most so far from each other; false where that makes no groups. */
static bool group(const double *far, int32_t n, double reach,
                  struct nw_storey *storey)
{
    storey->parts = 0;
    for (int32_t p = 0; p < n; p++) {
        int32_t k = 0;

        while (k < p && far[p * n + k] > reach)
            k++;
        storey->of[p] = k < p ? storey->of[k] : storey->parts++;
        for (k = 0; k < p; k++)
            if ((far[p * n + k] <= reach) != (storey->of[p] == storey->of[k]))
                return false;
    }
    return storey->parts > 1;
}

static void find_groups(const double *far, int32_t n,
                        struct nw_storeys *storeys)
{
    double reach = next_distance(far, n, 0);

    while (storeys->count < NW_STOREYS_MOST && isfinite(reach) &&
           group(far, n, reach, &storeys->storey[storeys->count])) {
        storeys->count++;
        reach = next_distance(far, n, reach);
    }
}

/* --- their links --- */

enum { NOBODY = -1, MANY = -2 };

/* `owner` becomes the switch above which a link is, or MANY. */
static void visit_ways(const struct nw_seats *seats, const struct nw_pens *pens,
                       const struct nw_storey *storey, struct nw_ways *ways,
                       int32_t *owner)
{
    int32_t hosts = seats->problem->host_count;
    const int32_t *pen = pens->pen, *nook = ways->nook, *first = seats->first;

    for (int32_t a = 0; a < hosts; a++)
        for (int32_t b = 0; b < hosts; b++) {
            struct nw_way way =
                nw_ways_find(ways, nook[first[a]], nook[first[b]]);
            int32_t from = storey->of[pen[a]];
            bool leaves = from != storey->of[pen[b]];

            for (uint32_t i = 0; a != b && i < way.count; i++) {
                int32_t *mine = &owner[way.hop[i]];

                *mine =
                    leaves && (*mine == NOBODY || *mine == from) ? from : MANY;
            }
        }
}

/* s per byte that leaves a switch, in the mean; 0 where none has links. Where
 * they are two, what goes up from one alone comes down to the other. */
static double measure(const struct nw_seats *seats, const struct nw_pens *pens,
                      const struct nw_storey *storey, struct nw_ledger *ledger,
                      int32_t *owner)
{
    double fast = 0;

    for (uint32_t l = 0; l < ledger->link_count; l++)
        owner[l] = NOBODY;
    visit_ways(seats, pens, storey, &ledger->ways, owner);
    for (uint32_t l = 0; l < ledger->link_count; l++)
        if (owner[l] >= 0 && ledger->link[l].slow > 0)
            fast += 1 / ledger->link[l].slow;
    if (storey->parts == 2)
        fast /= 2;
    return fast > 0 ? storey->parts / fast : 0;
}

/* Storeys without links are left out with all above them. */
static nw_status weigh(const struct nw_seats *seats, const struct nw_pens *pens,
                       struct nw_storeys *storeys)
{
    struct nw_ledger ledger;
    int32_t *owner = NULL;
    int known = 0;
    nw_status status =
        nw_ledger_init(&ledger, seats, (struct nw_ledger_wants){.links = true});

    if (!status)
        status = nw_alloc(ledger.link_count, sizeof *owner, &owner);
    for (int s = 0; !status && ledger.has_links && s < storeys->count; s++) {
        struct nw_storey *storey = &storeys->storey[s];

        storey->weight = measure(seats, pens, storey, &ledger, owner);
        if (known == s && storey->weight > 0)
            known++;
    }
    for (int s = known; s-- > 0;)
        storeys->storey[s].weight /= storeys->storey[0].weight;
    if (!known)
        nw_storeys_lowest(pens, storeys);
    else
        storeys->count = known;
    free(owner);
    nw_ledger_fini(&ledger);
    return status;
}

void nw_storeys_lowest(const struct nw_pens *pens, struct nw_storeys *storeys)
{
    struct nw_storey *lowest = storeys->storey;

    storeys->count = 1;
    lowest->parts = pens->parts;
    lowest->weight = 1;
    for (int32_t p = 0; p < pens->parts; p++)
        lowest->of[p] = p;
}

nw_status nw_storeys_find(const struct nw_seats *seats,
                          const struct nw_pens *pens,
                          struct nw_storeys *storeys)
{
    size_t cells = (size_t)pens->parts * (size_t)pens->parts;
    double *far = NULL;
    nw_status status = nw_alloc(cells, sizeof *far, &far);

    nw_storeys_lowest(pens, storeys);
    if (!status) {
        nw_pens_measure(seats, pens, far);
        find_groups(far, pens->parts, storeys);
    }
    free(far);
    if (!status && storeys->count > 1)
        status = weigh(seats, pens, storeys);
    return status;
}
