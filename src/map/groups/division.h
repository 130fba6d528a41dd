/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks divided over switch groups, and short rounds of annealing from random
 * divisions: two ranks of different groups change places. The energy is a mean
 * of eighth powers of some loads, such as the bytes that each group sends.
 * Members beyond the ranks stand for free slots and exchange nothing. */
#ifndef NW_MAP_GROUPS_DIVISION_H
#define NW_MAP_GROUPS_DIVISION_H

#include "map/congestion/objectives.h"
#include "map/groups/switch_groups.h"
#include "base/random.h"

#define NW_DIVISION_LOADS_MAX (NW_SWITCH_GROUPS_MAX * NW_SWITCH_GROUPS_MAX)

/* A division of ranks into parts, and its loads. */
struct nw_best_division {
    int32_t parts;       /* number of loads */
    int32_t *part;       /* [ranks] */
    double least, total; /* the largest load, and all together */
};
bool nw_best_division_is_less(const struct nw_best_division *a,
                              const struct nw_best_division *b);
/* Takes over `part` if it is better: less in the largest load, then in total.
 */
void nw_best_division_keep(struct nw_best_division *division,
                           const int32_t *part, const double *load,
                           int32_t ranks);

struct nw_division {
    struct nw_slots *slots; /* borrowed */
    struct nw_random random;
    struct nw_switch_groups groups;
    int32_t *part;   /* [slots] */
    int32_t *member; /* [slots] members of each part, from its first slot on */
    int32_t *at;     /* [slots] index in `member` */
    struct nw_best_division best;
    double load[NW_DIVISION_LOADS_MAX]; /* best.parts of them are used */
    double more[NW_DIVISION_LOADS_MAX]; /* changes by the exchange on trial */
    bool touched[NW_DIVISION_LOADS_MAX];
    int32_t touch[NW_DIVISION_LOADS_MAX];
    int touch_count;
    double scale, power, sum, energy, temperature;
};

/* How divisions are annealed. */
struct nw_division_annealing {
    double mean;        /* weight of the mean load beside the maximum */
    int32_t loads;      /* loads that the mean is taken over */
    int boundary_tries; /* a rank is drawn so many times until one is at the
                           boundary of its part; 0: any rank */
    uint64_t draws;
    double temperature; /* the first one */
    void *user;         /* of the functions: */
    /* Fills `load`. */
    void (*count)(void *user);
    /* Calls nw_division_add for what changes if two ranks are exchanged. */
    void (*change)(void *user, int32_t a, int32_t b);
};

/* Divisions are searched if the objective is congestion, ranks may go anywhere,
 * there are not too many hosts, and time is left. */
bool nw_division_applies(const struct nw_slots *slots,
                         const struct nw_objectives *objectives);

/* Leaves `groups` to be filled. */
NW_MUST_CHECK nw_status nw_division_init(struct nw_division *division,
                                         struct nw_slots *slots);
void nw_division_fini(struct nw_division *division);

static inline void nw_division_add(struct nw_division *division, int32_t load,
                                   double more)
{
    if (!division->touched[load]) {
        division->touched[load] = true;
        division->touch[division->touch_count++] = load;
    }
    division->more[load] += more;
}

/* Anneals from a random division. False where the budget is at its end. */
bool nw_division_anneal(struct nw_division *division,
                        const struct nw_division_annealing *annealing);

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

#endif
