/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The quadratic assignment problem as in QAPLIB: n items with flows are
 * assigned to n places with distances; both matrices are dense. Tabu search,
 * annealing and branch and bound share it; it does not depend on ranks or
 * machines.
 */
#ifndef NW_MAP_QAP_QAP_H
#define NW_MAP_QAP_QAP_H

#include "base/random.h"

#include <nodewise/status.h>
#include <stdbool.h>

/* Items are ordered: real items that may move, then empty items that may move
 * (they stand for free places), then items that stay on their places. */
struct nw_qap {
    int32_t n;
    int32_t real;     /* items 0 .. real - 1 have flows and may move */
    int32_t movable;  /* items 0 .. movable - 1 may move */
    double *flow;     /* [n^2] flow[i * n + j]: flow from item i to item j */
    double *distance; /* [n^2] distance[a * n + b]: from place a to place b */
    bool symmetric;   /* both matrices are symmetric */
    double step;      /* all costs are multiples of it, and sums are exact; 0 if
                         flows or distances are not integers or are too large */
};

/* Allocates the matrices with all flows and distances 0 and all items real. */
NW_MUST_CHECK nw_status nw_qap_init(struct nw_qap *qap, int32_t n);
void nw_qap_fini(struct nw_qap *qap);
/* The caller must call this after filling flows and distances. If one matrix is
 * symmetric, the other is made symmetric, which changes no cost. */
void nw_qap_finish(struct nw_qap *qap);
/* Returns the sum of flow[i][j] x distance[place[i]][place[j]]. */
double nw_qap_cost(const struct nw_qap *qap, const int32_t *place);
/* Asserts that `cost`, which a search updated by changes from `start` on,
 * equals the cost computed from scratch. */
void nw_qap_check(const struct nw_qap *qap, const int32_t *place, double cost,
                  double start);

/* --- tabu search: each step makes the best swap that is not forbidden --- */

struct nw_robust_tabu;
/* Allocates a search, which borrows the problem; nw_robust_tabu_free frees it.
 */
NW_MUST_CHECK nw_status nw_robust_tabu_new(const struct nw_qap *qap,
                                           struct nw_robust_tabu **out);
void nw_robust_tabu_free(struct nw_robust_tabu *tabu);
/* Makes `steps` swaps from `place`, which becomes the best assignment found.
 * Returns its cost. */
double nw_robust_tabu_run(struct nw_robust_tabu *tabu, struct nw_random *random,
                          uint64_t steps, int32_t *place);

/* --- a population whose children are improved by tabu search --- */

/* The population and the search that improves it. */
struct nw_qap_memetic {
    const struct nw_qap *qap;
    struct nw_robust_tabu *tabu;
    struct nw_random random;
    int32_t size, count;  /* members wanted; members present */
    int32_t unchanged;    /* consecutive children that did not change the
                             population */
    int32_t *member;      /* [(size + 1) x n] place of each item; the last row
                             is the child */
    double *cost;         /* [size] cost of each member */
    uint64_t child_steps; /* steps of the tabu search of each child */
    uint64_t steps;       /* steps of all tabu searches so far */
    int32_t *best;        /* [n] best solution found */
    double best_cost;
    int32_t *open; /* [n] scratch: places that the child does not use yet */
    bool *taken;   /* [n] scratch: the child uses the place */
};
/* Makes a population whose first member is `start`. The caller calls
 * nw_qap_memetic_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_qap_memetic_init(struct nw_qap_memetic *memetic,
                                            const struct nw_qap *qap,
                                            uint64_t seed,
                                            const int32_t *start);
void nw_qap_memetic_fini(struct nw_qap_memetic *memetic);
/* Makes one more child. */
void nw_qap_memetic_next(struct nw_qap_memetic *memetic);

/* --- annealing --- */

/* Makes `steps` trials of swaps from `place`, which becomes the best assignment
 * found. Sets *cost to its cost. */
NW_MUST_CHECK nw_status nw_qap_anneal(const struct nw_qap *qap, uint64_t seed,
                                      uint64_t steps, int32_t *place,
                                      double *cost);

/* --- branch and bound --- */

/* The limits and the result of branch and bound. */
struct nw_qap_exact_search {
    uint64_t nodes_most; /* most bounds to compute */
    uint64_t nodes;      /* bounds computed so far */
    /* number of nodes at which goes_on is called; 0: never */
    uint64_t look;
    /* returns false to end the search; sets `look` again */
    bool (*goes_on)(struct nw_qap_exact_search *exact);
    void *user;
    bool proven; /* place is an optimum */
};
/* Improves `place`, to an optimum if the bounds suffice. Returns NW_EINVAL for
 * more than NW_LINEAR_ASSIGNMENT_MAX places. */
NW_MUST_CHECK nw_status nw_qap_branch_bound(const struct nw_qap *qap,
                                            struct nw_qap_exact_search *exact,
                                            int32_t *place);

#endif
