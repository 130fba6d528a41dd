/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per algorithm: what it is called, how it answers. */
#ifndef NW_MAP_PORTFOLIO_ALGORITHM_H
#define NW_MAP_PORTFOLIO_ALGORITHM_H

#include "map/phases/phases.h"

struct nw_algorithm {
    const char *name;
    const char *summary;
    /* Fills an empty answer; NULL: the best of several. */
    nw_status (*run)(const struct nw_algorithm *algorithm,
                     const struct nw_problem *problem, struct nw_answer *answer,
                     struct nw_map_report *report);
    const char *phase[3]; /* placers of its phases; NULL: the default's way */
    unsigned kinds;       /* what phase 1 looks at */
    bool baseline;        /* returned as it is, even where worse */
    bool by_distance;     /* partitions lower hop-bytes before congestion */
};

const struct nw_algorithm *nw_algorithm_find(const char *name);

/* The phases of an algorithm with those that the options replace. */
NW_MUST_CHECK nw_status nw_algorithm_phases(
    const struct nw_algorithm *algorithm, const struct nw_map_options *options,
    struct nw_phases *out);

/* NW_EINVAL where an objective needs links and the machine has none. */
NW_MUST_CHECK nw_status nw_objectives_need_links(
    const nw_topology *topology, const struct nw_map_options *options);

/* A mapping and the figures it is judged by. */
struct nw_candidate {
    nw_mapping *mapping; /* owned */
    struct nw_cost cost; /* owned */
    const char *algorithm;
    double figure[2]; /* the objective; what decides between equals */
    double guard[3];  /* hop-bytes; congestion (0: no links); where answers
                         are careful, s: when an exchange ends */
};
void nw_candidate_fini(struct nw_candidate *candidate);
NW_MUST_CHECK nw_status nw_candidate_from_answer(
    const struct nw_problem *problem, const struct nw_answer *answer,
    const char *algorithm, struct nw_candidate *out);
NW_MUST_CHECK nw_status nw_candidate_run(const struct nw_algorithm *algorithm,
                                         const struct nw_problem *problem,
                                         struct nw_map_report *report,
                                         struct nw_candidate *out);
/* Brings each rank's core, GPU and NIC near each other as long as no figure
 * gets worse; moves only the GPU if cores stay. Not for mappings with remote
 * GPUs. cores_near_gpus.c */
NW_MUST_CHECK nw_status nw_cores_near_gpus(const struct nw_problem *problem,
                                           bool cores_stay,
                                           struct nw_candidate *best);
/* The best of the cheap algorithms; auto.c */
NW_MUST_CHECK nw_status nw_choose_best(const struct nw_problem *problem,
                                       struct nw_map_report *report,
                                       struct nw_candidate *out);
/* True where a is better than b: in the objective, or equal there (relative
 * 1e-9) and better in the other figure. */
bool nw_candidate_better(const struct nw_candidate *a,
                         const struct nw_candidate *b);
/* No more than those; NULL: any. */
bool nw_candidate_within(const struct nw_candidate *candidate,
                         const double guard[3]);

/* exchange_makespan.c; `cost` is the mapping's. */
NW_MUST_CHECK nw_status nw_exchange_makespan(const struct nw_problem *problem,
                                             const nw_mapping *mapping,
                                             const struct nw_cost *cost,
                                             double *out);

/* Runs of rows. */
nw_status nw_run_phases(const struct nw_algorithm *algorithm,
                        const struct nw_problem *problem,
                        struct nw_answer *answer, struct nw_map_report *report);
nw_status nw_run_all_units(const struct nw_algorithm *algorithm,
                           const struct nw_problem *problem,
                           struct nw_answer *answer,
                           struct nw_map_report *report);
nw_status nw_run_default(const struct nw_algorithm *algorithm,
                         const struct nw_problem *problem,
                         struct nw_answer *answer,
                         struct nw_map_report *report);
nw_status nw_run_independent(const struct nw_algorithm *algorithm,
                             const struct nw_problem *problem,
                             struct nw_answer *answer,
                             struct nw_map_report *report);
nw_status nw_run_independent_remap(const struct nw_algorithm *algorithm,
                                   const struct nw_problem *problem,
                                   struct nw_answer *answer,
                                   struct nw_map_report *report);

#endif
