/* SPDX-License-Identifier: BSD-3-Clause */
/* Divisions of the ranks into parts, one for each group of hosts
 * (switch_groups.h). They are searched by short rounds of annealing from random
 * divisions: a trial swaps two members of different parts. The energy is the
 * eighth root of the sum of eighth powers of some loads, such as the bytes that
 * each group sends, plus a multiple of the mean load. The members of the parts
 * are the ranks; members numbered from the rank count on stand for free slots
 * and exchange nothing. */
#ifndef NW_MAP_GROUPS_DIVISION_H
#define NW_MAP_GROUPS_DIVISION_H

#include "map/congestion/objectives.h"
#include "map/groups/switch_groups.h"
#include "base/random.h"

#define NW_DIVISION_LOADS_MAX (NW_SWITCH_GROUPS_MAX * NW_SWITCH_GROUPS_MAX)

/* The best division so far of the ranks into parts, and the largest and the
 * total of its loads. */
struct nw_best_division {
    /* number of loads; it may differ from the number of parts of the division
     */
    int32_t parts;
    int32_t *part;       /* [ranks] part of each rank */
    double least, total; /* largest of the loads; sum of all loads */
};
bool nw_best_division_is_less(const struct nw_best_division *a,
                              const struct nw_best_division *b);
/* Copies `part` into the best division if it is better: its largest load is
 * smaller, or equal with a smaller sum of loads. load[division->parts] are the
 * loads of `part`. */
void nw_best_division_keep(struct nw_best_division *division,
                           const int32_t *part, const double *load,
                           int32_t ranks);

/* The present division, the best one, and the trial of a swap. */
struct nw_division {
    struct nw_slots *slots; /* assignment of the ranks that are divided;
                               borrowed */
    struct nw_random random;
    struct nw_switch_groups groups;
    int32_t *part;   /* [core slots] part of each member (rank or free slot) */
    int32_t *member; /* [core slots] members, part by part; those of part p
                        begin at groups.first[p] */
    int32_t *at;     /* [core slots] index in `member` of each member */
    struct nw_best_division best;
    /* loads of the present division; the first best.parts entries are used */
    double load[NW_DIVISION_LOADS_MAX];
    /* change of each load by the swap on trial */
    double more[NW_DIVISION_LOADS_MAX];
    /* true if the swap on trial changes this load */
    bool touched[NW_DIVISION_LOADS_MAX];
    /* [touch_count] loads that the swap on trial changes */
    int32_t touch[NW_DIVISION_LOADS_MAX];
    int touch_count;
    /* scale: divisor of loads in `power`; power: sum of (load / scale)^8; sum:
     * sum of all loads; energy: energy of the present division */
    double scale, power, sum, energy, temperature;
    /* parameters of the present nw_division_anneal */
    const struct nw_division_annealing *annealing;
};

/* The parameters of nw_division_anneal, and two functions of the caller that
 * define the loads of a division. */
struct nw_division_annealing {
    /* weight of the mean load in the energy; the largest load has weight 1 */
    double mean;
    int32_t loads; /* number of loads that may differ from 0: the mean is the
                      sum of the loads divided by this number */
    int boundary_tries; /* a swap partner is drawn at most this many times,
                           until a random peer of it is in another part; 0: one
                           draw without that check */
    uint64_t draws;     /* number of ranks drawn in each round; a swap is tried
                           if a random peer of the rank is in another part */
    /* initial temperature; has the unit of the loads, which `count` defines
     * (bytes or seconds) */
    double temperature;
    void *user; /* argument of `count` and `change` */
    /* Adds the loads of the present division to nw_division.load, which is 0.
     */
    void (*count)(void *user);
    /* Calls nw_division_add for each load that a swap of members a and b
     * changes. */
    void (*change)(void *user, int32_t a, int32_t b);
};

/* Returns true if divisions are worth a search: the objective is congestion,
 * every rank may move to any free slot (nw_slots_are_free), there are not too
 * many hosts, and the budget has not ended. */
bool nw_division_applies(const struct nw_slots *slots,
                         const struct nw_objectives *objectives);

/* Allocates all arrays; the caller fills `groups`. The caller calls
 * nw_division_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_division_init(struct nw_division *division,
                                         struct nw_slots *slots);
void nw_division_fini(struct nw_division *division);

/* Adds `more` to the change of load number `load` by the swap on trial. */
static inline void nw_division_add(struct nw_division *division, int32_t load,
                                   double more)
{
    if (!division->touched[load]) {
        division->touched[load] = true;
        division->touch[division->touch_count++] = load;
    }
    division->more[load] += more;
}

/* Runs one round: anneals from a random division and updates division->best.
 * Returns false if the budget has ended. */
bool nw_division_anneal(struct nw_division *division,
                        const struct nw_division_annealing *annealing);

/* Sets *edge to the edges of member `rank` and returns their number. Returns 0
 * without setting *edge if the member stands for a free slot. */
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
