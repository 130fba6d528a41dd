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

/* An instance of the problem. Its n items are numbered in this order: real
 * items that may move, then empty items that may move (they stand for free
 * places), then items that stay on their places. */
struct nw_qap {
    int32_t n;
    int32_t real;     /* items 0 .. real - 1 have flows and may move */
    int32_t movable;  /* items 0 .. movable - 1 may move */
    double *flow;     /* [n^2] flow[i * n + j]: flow from item i to item j */
    double *distance; /* [n^2] distance[a * n + b]: from place a to place b */
    bool symmetric;   /* both matrices are symmetric */
    double step;      /* every cost is an integral multiple of `step` and is
                         computed without rounding; 0: flows or distances are
                         not integers, or too large for that */
};

/* Allocates the matrices with all flows and distances 0 and all items real. */
NW_MUST_CHECK nw_status nw_qap_init(struct nw_qap *qap, int32_t n);
void nw_qap_fini(struct nw_qap *qap);
/* Sets `symmetric` and `step`; must be called after flows and distances were
 * filled. If one matrix is symmetric, the other is made symmetric, too, which
 * changes no cost. */
void nw_qap_finish(struct nw_qap *qap);
/* Returns the sum of flow[i][j] x distance[place[i]][place[j]]. */
double nw_qap_cost(const struct nw_qap *qap, const int32_t *place);
/* Asserts that `cost` is the cost of place[], except for rounding errors. A
 * search had the cost `start` at first and added the changes of its swaps. */
void nw_qap_check(const struct nw_qap *qap, const int32_t *place, double cost,
                  double start);

/* --- tabu search: each step makes the best swap that is not forbidden --- */

struct nw_robust_tabu;
/* Allocates a tabu search for the problem, which it borrows; the caller frees
 * it with nw_robust_tabu_free. */
NW_MUST_CHECK nw_status nw_robust_tabu_new(const struct nw_qap *qap,
                                           struct nw_robust_tabu **out);
void nw_robust_tabu_free(struct nw_robust_tabu *tabu);
/* Makes up to `steps` swaps, one each step unless all are forbidden, beginning
 * with place[] (the place of each item). On return place[] is the best
 * assignment found. Returns its cost. */
double nw_robust_tabu_run(struct nw_robust_tabu *tabu, struct nw_random *random,
                          uint64_t steps, int32_t *place);

/* --- a population whose children are improved by tabu search --- */

/* A population of solutions, and the tabu search that improves each of them. */
struct nw_qap_memetic {
    const struct nw_qap *qap;
    struct nw_robust_tabu *tabu;
    struct nw_random random;
    int32_t count;     /* number of members made so far */
    int32_t unchanged; /* how many children in a row have not changed the
                          population */
    int32_t *member;   /* [members + 1][n] place of each item in each member;
                          the last row is the child */
    double *cost;      /* [members] cost of each member; INFINITY: perturbed, to
                          be replaced */
    uint64_t child_steps; /* steps of tabu search that each child gets */
    uint64_t steps;       /* steps of all tabu searches so far */
    int32_t *best;        /* [n] place of each item in the best solution
                             found */
    double best_cost;
    int32_t *open; /* [n] scratch: places that the child does not use */
    bool *taken;   /* [n] scratch: an item of the child is on the place */
};
/* Prepares a population whose first member will be start[n] (the place of each
 * item), improved by tabu search. The caller calls nw_qap_memetic_fini, also
 * after a failure. */
NW_MUST_CHECK nw_status nw_qap_memetic_init(struct nw_qap_memetic *memetic,
                                            const struct nw_qap *qap,
                                            uint64_t seed,
                                            const int32_t *start);
void nw_qap_memetic_fini(struct nw_qap_memetic *memetic);
/* Adds a member if the population is not yet complete. Otherwise makes one
 * child of two members and improves it; it replaces the worst member if it is
 * better and differs from all members. If too many children in a row did not
 * replace a member, perturbs all members but the best. */
void nw_qap_memetic_next(struct nw_qap_memetic *memetic);

/* --- annealing --- */

/* Tries `steps` random swaps, beginning with place[] (the place of each item).
 * On return place[] is the best assignment found and *cost its cost. */
NW_MUST_CHECK nw_status nw_qap_anneal(const struct nw_qap *qap, uint64_t seed,
                                      uint64_t steps, int32_t *place,
                                      double *cost);

/* --- branch and bound --- */

/* The limits and the result of branch and bound. */
struct nw_qap_exact_search {
    uint64_t nodes_most; /* limit on `nodes` */
    uint64_t nodes;      /* nodes of the search tree bounded so far */
    /* when `nodes` reaches this number, goes_on is called; 0: never */
    uint64_t look;
    /* called by the search; returns false to end it, otherwise sets `look` to a
     * later number of nodes */
    bool (*goes_on)(struct nw_qap_exact_search *exact);
    void *user;
    bool proven; /* out: place[] is an optimum */
};
/* Improves place[] (the place of each item) by branch and bound. It becomes an
 * optimum, and exact->proven is set, if neither the limit of nodes nor goes_on
 * ends the search before. Returns NW_EINVAL for more than
 * NW_LINEAR_ASSIGNMENT_MAX places. */
NW_MUST_CHECK nw_status nw_qap_gilmore_lawler(const struct nw_qap *qap,
                                              struct nw_qap_exact_search *exact,
                                              int32_t *place);

/* Improves the solution place[n] of a problem of at most NW_QAP_EXACT_MOST
 * items (dual_ascent.h), all of which may move, by branch and bound with the
 * bounds of the dual ascent. It becomes an optimum (up to NW_QAP_TOLERANCE),
 * and exact->proven is set, if the limit of nodes does not end the search
 * before. Does not call goes_on. */
NW_MUST_CHECK nw_status nw_qap_hahn_grant(const struct nw_qap *problem,
                                          struct nw_qap_exact_search *exact,
                                          int32_t *place);

#endif
