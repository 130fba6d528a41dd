/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks divided over switch groups, as the searches for a division hold them.
 * Members beyond the ranks stand for free slots and exchange nothing. */
#ifndef NW_MAP_GROUPS_DIVISION_H
#define NW_MAP_GROUPS_DIVISION_H

#include "map/congestion/objectives.h"
#include "map/groups/switch_groups.h"
#include "base/random.h"

struct nw_division {
    struct nw_slots *slots; /* borrowed */
    struct nw_random random;
    struct nw_switch_groups groups;
    int32_t *part;   /* [slots] */
    int32_t *member; /* [slots] members of each part, from its first slot on */
    int32_t *at;     /* [slots] index in `member` */
};

/* Divisions are searched if the objective is congestion, ranks may go anywhere,
 * there are not too many hosts, and time is left. */
bool nw_division_applies(const struct nw_slots *slots,
                         const struct nw_objectives *objectives);

/* Leaves `groups` to be filled. */
NW_MUST_CHECK nw_status nw_division_init(struct nw_division *division,
                                         struct nw_slots *slots);
void nw_division_fini(struct nw_division *division);

void nw_division_shuffle(struct nw_division *division);
/* A random peer of a rank; the rank itself if it has none. */
int32_t nw_division_draw_peer(struct nw_division *division, int32_t rank);
int32_t nw_division_draw_member(struct nw_division *division, int32_t part);
void nw_division_swap(struct nw_division *division, int32_t a, int32_t b);

/* The edges of a rank; none for a free slot. */
static inline size_t nw_division_edges(const struct nw_division *division,
                                       int32_t rank,
                                       const struct nw_directed_edge **edge)
{
    const struct nw_slots *slots = division->slots;

    if (rank >= slots->rank_count)
        return 0;
    *edge = slots->edge + slots->row[rank];
    return slots->row[rank + 1] - slots->row[rank];
}

/* The mean of eighth powers approximates the maximum. */
static inline double nw_division_eighth(double x)
{
    x *= x;
    x *= x;
    return x * x;
}

#endif
