/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks divided over pens, as searches for the best division hold them. Beyond
 * them are those who would sit on free seats and exchange nothing. */
#ifndef NW_MAP_GROUPS_DIVISION_H
#define NW_MAP_GROUPS_DIVISION_H

#include "map/congestion/objectives.h"
#include "map/groups/switch_groups.h"
#include "base/random.h"

struct nw_division {
    struct nw_slots *slots; /* borrowed */
    struct nw_random random;
    struct nw_switch_groups groups;
    int32_t *part;   /* [seats] */
    int32_t *member; /* [seats] those of each part from its first */
    int32_t *at;     /* [seats] index there */
};

/* Divisions are searched where the aim is congestion, ranks may go anywhere,
 * the hosts are not too many and there is time. */
bool nw_division_applies(const struct nw_slots *slots,
                         const struct nw_objectives *objectives);

/* `groups` is still to be found. */
NW_MUST_CHECK nw_status nw_division_init(struct nw_division *division,
                                         struct nw_slots *slots);
void nw_division_fini(struct nw_division *division);

void nw_division_shuffle(struct nw_division *division);
/* Whom a rank exchanges bytes with, by chance; itself where it has nobody. */
int32_t nw_division_draw_peer(struct nw_division *division, int32_t rank);
int32_t nw_division_draw_member(struct nw_division *division, int32_t part);
void nw_division_swap(struct nw_division *division, int32_t a, int32_t b);

/* Ties of a rank; none of those beyond. */
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

/* Of what each part sends: a mean of such powers is near to the most. */
static inline double nw_division_eighth(double x)
{
    x *= x;
    x *= x;
    return x * x;
}

#endif
