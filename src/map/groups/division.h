/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks divided over pens, as searches for the best division hold them. Beyond
 * them are those who would sit on free seats and exchange nothing. */
#ifndef NW_MAP_GROUPS_DIVISION_H
#define NW_MAP_GROUPS_DIVISION_H

#include "map/congestion/objectives.h"
#include "map/groups/switch_groups.h"
#include "base/random.h"

struct nw_penned {
    struct nw_seats *seats; /* borrowed */
    struct nw_random random;
    struct nw_pens pens;
    int32_t *part;   /* [seats] */
    int32_t *member; /* [seats] those of each part from its first */
    int32_t *at;     /* [seats] index there */
};

/* Divisions are searched where the aim is congestion, ranks may go anywhere,
 * the hosts are not too many and there is time. */
bool nw_penned_serves(const struct nw_seats *seats, const struct nw_aim *aim);

/* `pens` is still to be found. */
NW_MUST_CHECK nw_status nw_penned_init(struct nw_penned *penned,
                                       struct nw_seats *seats);
void nw_penned_fini(struct nw_penned *penned);

void nw_penned_shuffle(struct nw_penned *penned);
/* Whom a rank exchanges bytes with, by chance; itself where it has nobody. */
int32_t nw_penned_draw_peer(struct nw_penned *penned, int32_t rank);
int32_t nw_penned_draw_member(struct nw_penned *penned, int32_t part);
void nw_penned_swap(struct nw_penned *penned, int32_t a, int32_t b);

/* Ties of a rank; none of those beyond. */
static inline size_t nw_penned_ties(const struct nw_penned *penned,
                                    int32_t rank, const struct nw_tie **tie)
{
    const struct nw_seats *seats = penned->seats;

    if (rank >= seats->rank_count)
        return 0;
    *tie = seats->tie + seats->row[rank];
    return seats->row[rank + 1] - seats->row[rank];
}

/* Of what each part sends: a mean of such powers is near to the most. */
static inline double nw_penned_eighth(double x)
{
    x *= x;
    x *= x;
    return x * x;
}

#endif
