/* SPDX-License-Identifier: BSD-3-Clause */
/* A linearised quadratic assignment problem, and the dual ascent that computes
 * a lower bound of its cost. */
#ifndef NW_MAP_QAP_DUAL_ASCENT_H
#define NW_MAP_QAP_DUAL_ASCENT_H

#include <nodewise/status.h>

#include <stdbool.h>

#define NW_QAP_EXACT_MOST 16
/* A solution counts as better only if it costs less than the best one by more
 * than this fraction, since costs and bounds are sums of rounded numbers. */
#define NW_QAP_TOLERANCE 1e-9

/* A quadratic assignment problem with n facilities and n locations that are not
 * fixed yet. The cost of an assignment is the sum of these terms, which are
 * never negative:
 * - `bound`;
 * - linear[i * n + p] for each facility i on location p;
 * - pair[((i * n + p) * n + j) * n + q] for each facility i on location p and
 *   each other facility j on location q.
 * `facility` and `location` are the numbers in the whole problem.
 * nw_dual_ascent_look sets `ahead`. */
struct nw_dual_ascent {
    int n;
    int facility[NW_QAP_EXACT_MOST], location[NW_QAP_EXACT_MOST];
    double bound;
    double linear[NW_QAP_EXACT_MOST * NW_QAP_EXACT_MOST];
    double ahead[NW_QAP_EXACT_MOST * NW_QAP_EXACT_MOST];
    double *pair; /* [n^4] costs of pairs; allocated and freed by the caller */
};

/* Raises problem->bound (problem->n > 1) until it reaches `enough`, in at most
 * `rounds` rounds. Stops earlier if a round gains too little. The costs of all
 * assignments that cost less than `enough` stay unchanged. In such an
 * assignment, facility i is not on location p if linear[i * n + p] >= enough -
 * bound. */
void nw_dual_ascent_run(struct nw_dual_ascent *problem, double enough,
                        int rounds);
/* Sets ahead[i * n + p] to a lower bound of how much the cost exceeds
 * problem->bound if facility i is on location p (problem->n > 1). If `bound`
 * plus this reaches `enough`, excludes the location for this facility by its
 * linear cost. */
void nw_dual_ascent_look(struct nw_dual_ascent *problem, double enough);
/* Sets *out to the problem that remains if facility i is fixed on location p.
 * The caller has allocated out->pair. */
void nw_dual_ascent_fix(const struct nw_dual_ascent *problem, int i, int p,
                        struct nw_dual_ascent *out);

/* Solves a linear assignment problem: returns the least sum of n numbers of an
 * n x n matrix, one from each row and one from each column. No number may be
 * negative. The rows of `cost` are NW_QAP_WIDE numbers apart, and n is at most
 * NW_QAP_WIDE. On return, each element of `cost` holds a lower bound of the
 * increase of this sum if the element must be used. */
#define NW_QAP_WIDE 16
double nw_qap_padded_assignment(double *cost, int n);

#endif
