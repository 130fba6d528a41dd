/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is in which part, and by chance another division. */
#include "map/groups/division.h"
#include "map/common/budget.h"
#include "map/congestion/digit_embedding.h"
#include "base/array.h"

#include <stdlib.h>

bool nw_penned_serves(const struct nw_seats *seats, const struct nw_aim *aim)
{
    return aim->first == NW_OBJECTIVE_CONGESTION && nw_seats_are_free(seats) &&
           seats->problem->host_count <= NW_PENS_HOSTS_MOST &&
           !seats->problem->budget->stopped;
}

nw_status nw_penned_init(struct nw_penned *penned, struct nw_seats *seats)
{
    size_t n = (size_t)seats->core_count;
    nw_status status;

    *penned = (struct nw_penned){.seats = seats};
    nw_random_init(&penned->random, seats->problem->options.seed);
    status = nw_alloc((size_t)seats->problem->host_count,
                      sizeof *penned->pens.pen, &penned->pens.pen);
    if (!status)
        status = nw_alloc(n, sizeof *penned->part, &penned->part);
    if (!status)
        status = nw_alloc(n, sizeof *penned->member, &penned->member);
    if (!status)
        status = nw_alloc(n, sizeof *penned->at, &penned->at);
    return status;
}

void nw_penned_fini(struct nw_penned *penned)
{
    free(penned->pens.pen);
    free(penned->part);
    free(penned->member);
    free(penned->at);
}

void nw_penned_shuffle(struct nw_penned *penned)
{
    int32_t n = penned->seats->core_count;

    for (int32_t i = 0; i < n; i++)
        penned->member[i] = i;
    nw_random_shuffle(&penned->random, penned->member, (size_t)n);
    for (int32_t i = 0, p = 0; i < n; i++) {
        p += i == penned->pens.first[p + 1];
        penned->part[penned->member[i]] = p;
        penned->at[penned->member[i]] = i;
    }
}

int32_t nw_penned_draw_peer(struct nw_penned *penned, int32_t rank)
{
    const struct nw_tie *tie;
    size_t ties = nw_penned_ties(penned, rank, &tie);

    return ties ? tie[nw_random_below(&penned->random, ties)].peer : rank;
}

int32_t nw_penned_draw_member(struct nw_penned *penned, int32_t part)
{
    const int32_t *first = penned->pens.first + part;

    return penned->member[first[0] + (int32_t)nw_random_below(
                                         &penned->random,
                                         (uint64_t)(first[1] - first[0]))];
}

void nw_penned_swap(struct nw_penned *penned, int32_t a, int32_t b)
{
    int32_t part = penned->part[a], at = penned->at[a];

    penned->part[a] = penned->part[b];
    penned->part[b] = part;
    penned->at[a] = penned->at[b];
    penned->at[b] = at;
    penned->member[penned->at[a]] = a;
    penned->member[penned->at[b]] = b;
}
