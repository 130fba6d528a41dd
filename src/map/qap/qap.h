/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The quadratic assignment problem as in QAPLIB: items with flows onto as many
 * places with distances, all dense. Shared by tabu search, annealing and branch
 * and bound; nothing here knows ranks or machines.
 */
#ifndef NW_MAP_QAP_QAP_H
#define NW_MAP_QAP_QAP_H

#include "base/random.h"

#include <nodewise/status.h>
#include <stdbool.h>

/* Items are ordered: real ones that may move, empty ones that may move (they
 * stand for places left free), then those that stay where they are. */
struct nw_qap {
    int32_t n;
    int32_t real;    /* items 0 .. real - 1 have flows and may move */
    int32_t movable; /* items 0 .. movable - 1 may move */
    double *flow;    /* [n^2] row i: what item i sends */
    double *distance;
    bool symmetric; /* both are */
    double step;    /* costs are whole multiples of it, and all sums exact; 0
                       where flows or distances are not whole or too large */
};

/* All flows 0, distances 0, everything real. */
NW_MUST_CHECK nw_status nw_qap_init(struct nw_qap *qap, int32_t n);
void nw_qap_fini(struct nw_qap *qap);
/* Call it after filling flows and distances. If one matrix is symmetric, the
 * other is made symmetric, which changes no cost. */
void nw_qap_finish(struct nw_qap *qap);
/* Sum of flow[i][j] x distance[place[i]][place[j]]. */
double nw_qap_cost(const struct nw_qap *qap, const int32_t *place);
/* Asserts that a cost kept by changes, from `start` on, is the one from
 * scratch. */
void nw_qap_check(const struct nw_qap *qap, const int32_t *place, double cost,
                  double start);

/* --- tabu search: each step is the best swap that is not forbidden --- */

struct nw_robust_tabu;
NW_MUST_CHECK nw_status nw_robust_tabu_new(const struct nw_qap *qap,
                                           struct nw_robust_tabu **out);
void nw_robust_tabu_free(struct nw_robust_tabu *tabu);
/* `steps` swaps from `place`, which becomes the best found. Returns its
 * cost. */
double nw_robust_tabu_run(struct nw_robust_tabu *tabu, struct nw_random *random,
                          uint64_t steps, int32_t *place);

/* --- a population whose children are improved by tabu search --- */

struct nw_qap_memetic {
    const struct nw_qap *qap;
    struct nw_robust_tabu *tabu;
    struct nw_random random;
    int32_t size, count;  /* members wanted and there */
    int32_t unchanged;    /* children in a row that changed nothing */
    int32_t *member;      /* [(size + 1) x n], the last is the child */
    double *cost;         /* [size] */
    uint64_t child_steps; /* of the tabu search of each */
    uint64_t steps;       /* so far */
    int32_t *best;        /* [n] */
    double best_cost;
    int32_t *open; /* [n] places not taken by the child */
    bool *taken;   /* [n] */
};
/* `start` is the first member. The caller calls nw_qap_memetic_fini, also after
 * a failure. */
NW_MUST_CHECK nw_status nw_qap_memetic_init(struct nw_qap_memetic *memetic,
                                            const struct nw_qap *qap,
                                            uint64_t seed,
                                            const int32_t *start);
void nw_qap_memetic_fini(struct nw_qap_memetic *memetic);
/* One more child. */
void nw_qap_memetic_next(struct nw_qap_memetic *memetic);

/* --- annealing --- */

/* `steps` trials of swaps from `place`, which becomes the best found. Returns
 * its cost. */
NW_MUST_CHECK nw_status nw_qap_anneal(const struct nw_qap *qap, uint64_t seed,
                                      uint64_t steps, int32_t *place,
                                      double *cost);

/* --- branch and bound --- */

struct nw_qap_exact_search {
    uint64_t nodes_most; /* bounds to compute at most */
    uint64_t nodes;      /* computed */
    uint64_t look;       /* goes_on is asked at that many; 0: never */
    /* sets `look` again */
    bool (*goes_on)(struct nw_qap_exact_search *exact);
    void *user;
    bool proven; /* place is an optimum */
};
/* Improves `place`, to an optimum where the bounds suffice. NW_EINVAL for more
 * than NW_LINEAR_ASSIGNMENT_MAX places. */
NW_MUST_CHECK nw_status nw_qap_branch_bound(const struct nw_qap *qap,
                                            struct nw_qap_exact_search *exact,
                                            int32_t *place);

#endif
