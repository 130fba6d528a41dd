/* SPDX-License-Identifier: BSD-3-Clause */
/* Divisions of ranks among switch groups, searched by short rounds of annealing
 * from random divisions: a trial swaps two ranks of different groups. The
 * energy is a mean of eighth powers of some loads, such as the bytes that each
 * group sends. Members numbered from the rank count on stand for free slots and
 * exchange nothing. */
#ifndef NW_MAP_GROUPS_DIVISION_H
#define NW_MAP_GROUPS_DIVISION_H

#include "map/congestion/objectives.h"
#include "map/groups/switch_groups.h"
#include "base/random.h"

#define NW_DIVISION_LOADS_MAX (NW_SWITCH_GROUPS_MAX * NW_SWITCH_GROUPS_MAX)

/* A division of ranks into parts, and its loads. */
struct nw_best_division {
    int32_t parts;       /* number of loads */
    int32_t *part;       /* [ranks] part of each rank */
    double least, total; /* the largest load; the sum of all loads */
};
bool nw_best_division_is_less(const struct nw_best_division *a,
                              const struct nw_best_division *b);
/* Copies `part` into the best division if it is better: a smaller largest load,
 * or an equal one and a smaller sum of loads. */
void nw_best_division_keep(struct nw_best_division *division,
                           const int32_t *part, const double *load,
                           int32_t ranks);

/* The present division, the best one, and the trial of a swap. */
struct nw_division {
    struct nw_slots *slots; /* the assignment that is divided; borrowed */
    struct nw_random random;
    struct nw_switch_groups groups;
    int32_t *part;   /* [slots] part of each member */
    int32_t *member; /* [slots] members of each part; those of part p begin at
                        groups.first[p] */
    int32_t *at;     /* [slots] index in `member` */
    struct nw_best_division best;
    /* the first best.parts entries are used */
    double load[NW_DIVISION_LOADS_MAX];
    double more[NW_DIVISION_LOADS_MAX];   /* changes of the loads by the swap on
                                             trial */
    bool touched[NW_DIVISION_LOADS_MAX];  /* the load is listed in `touch` */
    int32_t touch[NW_DIVISION_LOADS_MAX]; /* loads that the swap changes */
    int touch_count;
    /* load that divides all others in `power`; sum of (load / scale)^8; sum of
     * the loads; energy of the present division; temperature */
    double scale, power, sum, energy, temperature;
};

/* How divisions are annealed. */
struct nw_division_annealing {
    /* weight of the mean load relative to the largest load */
    double mean;
    int32_t loads;      /* number of loads that the mean is taken over */
    int boundary_tries; /* most draws of a rank until one is at the boundary of
                           its part; 0: any rank */
    uint64_t draws;
    double temperature; /* temperature of the first round */
    void *user;         /* argument of the two functions */
    /* Fills nw_division.load for the present division. */
    void (*count)(void *user);
    /* Calls nw_division_add for each load that a swap of a and b changes. */
    void (*change)(void *user, int32_t a, int32_t b);
};

/* Returns true if divisions are worth a search: the objective is congestion,
 * ranks may go anywhere, there are not too many hosts, and time is left. */
bool nw_division_applies(const struct nw_slots *slots,
                         const struct nw_objectives *objectives);

/* Allocates all arrays; the caller fills `groups`. The caller calls
 * nw_division_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_division_init(struct nw_division *division,
                                         struct nw_slots *slots);
void nw_division_fini(struct nw_division *division);

/* Adds `more` to the change of a load by the swap on trial. */
static inline void nw_division_add(struct nw_division *division, int32_t load,
                                   double more)
{
    if (!division->touched[load]) {
        division->touched[load] = true;
        division->touch[division->touch_count++] = load;
    }
    division->more[load] += more;
}

/* Anneals from a random division and updates division->best. Returns false if
 * the budget has ended. */
bool nw_division_anneal(struct nw_division *division,
                        const struct nw_division_annealing *annealing);

/* Points *edge to the edges of a rank and returns their number; 0 for a member
 * that stands for a free slot. */
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
