/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a division, and random divisions. */
#include "map/groups/division.h"
#include "map/common/budget.h"
#include "map/congestion/digit_embedding.h"
#include "base/array.h"

#include <stdlib.h>

bool nw_division_applies(const struct nw_slots *slots,
                         const struct nw_objectives *objectives)
{
    return objectives->first == NW_OBJECTIVE_CONGESTION &&
           nw_slots_are_free(slots) &&
           slots->problem->host_count <= NW_SWITCH_GROUPS_HOSTS_MAX &&
           !slots->problem->budget->stopped;
}

nw_status nw_division_init(struct nw_division *division, struct nw_slots *slots)
{
    size_t n = (size_t)slots->core_count;
    nw_status status;

    *division = (struct nw_division){.slots = slots};
    nw_random_init(&division->random, slots->problem->options.seed);
    status = NW_ALLOC_ALL(
        NW_ARRAY((size_t)slots->problem->host_count, division->groups.group),
        NW_ARRAY(n, division->part), NW_ARRAY(n, division->member),
        NW_ARRAY(n, division->at));
    return status;
}

void nw_division_fini(struct nw_division *division)
{
    NW_FREE_ALL(division->groups.group, division->part, division->member,
                division->at);
}

void nw_division_shuffle(struct nw_division *division)
{
    int32_t n = division->slots->core_count;

    for (int32_t i = 0; i < n; i++)
        division->member[i] = i;
    nw_random_shuffle(&division->random, division->member, (size_t)n);
    for (int32_t i = 0, p = 0; i < n; i++) {
        p += i == division->groups.first[p + 1];
        division->part[division->member[i]] = p;
        division->at[division->member[i]] = i;
    }
}

int32_t nw_division_draw_peer(struct nw_division *division, int32_t rank)
{
    const struct nw_directed_edge *edge;
    size_t edges = nw_division_edges(division, rank, &edge);

    return edges ? edge[nw_random_below(&division->random, edges)].peer : rank;
}

int32_t nw_division_draw_member(struct nw_division *division, int32_t part)
{
    const int32_t *first = division->groups.first + part;

    return division->member[first[0] + (int32_t)nw_random_below(
                                           &division->random,
                                           (uint64_t)(first[1] - first[0]))];
}

void nw_division_swap(struct nw_division *division, int32_t a, int32_t b)
{
    int32_t part = division->part[a], at = division->at[a];

    division->part[a] = division->part[b];
    division->part[b] = part;
    division->at[a] = division->at[b];
    division->at[b] = at;
    division->member[division->at[a]] = a;
    division->member[division->at[b]] = b;
}
