/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Solves a quadratic assignment problem by branch and bound. Variable (i, p) is
 * 1 if facility i is on location p, otherwise 0. Lower bounds come from the
 * dual ascent of dual_ascent.c, and from a look-ahead that sets every variable
 * to 1. Each step selects the facility or the location with the fewest
 * variables that are not excluded (known to be 0), and branches on these
 * variables. If variables are symmetric, only one of them is tried, and if one
 * is excluded, all are.
 */
#include "map/qap/dual_ascent.h"
#include "map/qap/qap.h"
#include "map/qap/symmetry.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define MOST NW_QAP_EXACT_MOST
#define ROOT_ROUNDS 200
#define ROUNDS 12

struct hahn_grant_search {
    const struct nw_qap *problem;
    struct nw_qap_exact_search *exact;
    /* the facilities with their flows, the locations with their distances */
    struct nw_qap_symmetry side[2];
    /* [n] subproblem at each depth of the search tree */
    struct nw_dual_ascent *level;
    int32_t at[MOST];
    double best_cost;
    int32_t *best;
};

/* The data of one node of the search tree. A line is a row or a column of the
 * matrix of variables: one facility with each location, or one location with
 * each facility. */
struct hahn_grant_node {
    /* whether some facilities [0], or some locations [1], are symmetric */
    bool symmetric[2];
    int orbit[2][MOST]; /* orbit (symmetry.h) of each facility [0] and of each
                           location [1] */
    double cost[MOST];  /* lower bound of how much the cost exceeds the bound of
                           this node if a variable of the line is 1 */
    /* For each variable of the line: the first variable that is symmetric to
     * it. */
    int first[MOST];
};

static void hahn_grant_lay_out(const struct nw_qap *problem,
                               struct nw_dual_ascent *out)
{
    const double *f = problem->flow, *d = problem->distance;
    int n = problem->n;
    double *pair = out->pair;

    out->n = n;
    out->bound = 0;
    for (int i = 0; i < n; i++) {
        out->facility[i] = out->location[i] = i;
        for (int p = 0; p < n; p++) {
            out->linear[i * n + p] = f[i * n + i] * d[p * n + p];
            for (int j = 0; j < n; j++)
                for (int q = 0; q < n; q++)
                    *pair++ = f[i * n + j] * d[p * n + q];
        }
    }
}

static double hahn_grant_enough(const struct hahn_grant_search *search)
{
    return search->best_cost * (1 - NW_QAP_TOLERANCE);
}

/* Computes the cost of a complete assignment, and keeps the assignment if it is
 * the best so far. */
static void hahn_grant_keep(struct hahn_grant_search *search)
{
    double cost = nw_qap_cost(search->problem, search->at);

    if (cost >= hahn_grant_enough(search))
        return;
    search->best_cost = cost;
    memcpy(search->best, search->at,
           (size_t)search->problem->n * sizeof *search->at);
}

/* Sets node->cost and node->first for the variables of a line. Lines are
 * numbered: first the facilities, then the locations. Symmetric variables have
 * equal true costs, so the greatest of their bounds holds for all of them. */
static void hahn_grant_read_line(const struct nw_dual_ascent *problem, int line,
                                 struct hahn_grant_node *node)
{
    int n = problem->n;
    bool row = line < n;
    const int *number = row ? problem->location : problem->facility;
    const int *orbit = node->orbit[row];
    int at[MOST];

    for (int k = 0; k < n; k++) {
        node->cost[k] = row ? problem->ahead[line * n + k]
                            : problem->ahead[k * n + line - n];
        node->first[k] = k;
        if (!node->symmetric[row])
            continue;
        if (orbit[number[k]] == number[k]) {
            at[number[k]] = k;
            continue;
        }
        node->first[k] = at[orbit[number[k]]];
        if (node->cost[k] > node->cost[node->first[k]])
            node->cost[node->first[k]] = node->cost[k];
    }
}

/* Returns the line with the fewest variables that still have to be tried: those
 * whose bound is less than the given difference between the cost to beat and
 * the bound of this node. If several lines have equally few, returns the one
 * whose variables to be tried have the greatest mean bound. */
static int hahn_grant_choose_line(const struct nw_dual_ascent *problem,
                                  double room, struct hahn_grant_node *node)
{
    int n = problem->n, best = 0, least = n + 1;
    double best_sum = 0;

    for (int line = 0; line < 2 * n; line++) {
        double sum = 0;
        int left = 0;

        hahn_grant_read_line(problem, line, node);
        for (int k = 0; k < n; k++) {
            if (node->first[k] != k)
                continue;
            left += node->cost[k] < room;
            sum += node->cost[k] < room ? node->cost[k] : 0;
        }
        sum = left ? sum / left : 0;
        if (left < least || (left == least && sum > best_sum)) {
            best = line;
            least = left;
            best_sum = sum;
        }
    }
    return best;
}

static void hahn_grant_branch(struct hahn_grant_search *search, int depth,
                              const bool symmetric[2]);

static void hahn_grant_try_place(struct hahn_grant_search *search, int depth,
                                 const bool symmetric[2], const int place[2])
{
    struct nw_dual_ascent *here = &search->level[depth];
    int facility = here->facility[place[0]],
        location = here->location[place[1]];

    search->at[facility] = location;
    search->side[0].taken[facility] = true;
    search->side[1].taken[location] = true;
    nw_dual_ascent_fix(here, place[0], place[1], &search->level[depth + 1]);
    hahn_grant_branch(search, depth + 1, symmetric);
    search->side[0].taken[facility] = false;
    search->side[1].taken[location] = false;
}

/* Searches all assignments below one node of the search tree. `symmetric` says
 * whether the parent node found symmetries among facilities [0] and locations
 * [1]. If the parent found no symmetry, this node has no symmetry either,
 * because fixing more facilities cannot create one. */
static void hahn_grant_branch(struct hahn_grant_search *search, int depth,
                              const bool symmetric[2])
{
    struct nw_dual_ascent *here = &search->level[depth];
    struct hahn_grant_node node = {.symmetric = {false, false}};
    int n = here->n, line;

    if (search->exact->nodes++ >= search->exact->nodes_most)
        return;
    if (n == 1) {
        search->at[here->facility[0]] = here->location[0];
        hahn_grant_keep(search);
        return;
    }
    nw_dual_ascent_run(here, hahn_grant_enough(search),
                       depth ? ROUNDS : ROOT_ROUNDS);
    if (here->bound >= hahn_grant_enough(search))
        return;
    nw_dual_ascent_look(here, hahn_grant_enough(search));
    for (int s = 0; s < 2; s++)
        node.symmetric[s] =
            symmetric[s] && nw_qap_orbits(&search->side[s], node.orbit[s]);
    line = hahn_grant_choose_line(here, hahn_grant_enough(search) - here->bound,
                                  &node);
    hahn_grant_read_line(here, line, &node);
    for (int k = 0; k < n; k++) {
        const int place[2] = {line < n ? line : k, line < n ? k : line - n};

        if (node.first[k] == k &&
            here->bound + node.cost[k] < hahn_grant_enough(search))
            hahn_grant_try_place(search, depth, node.symmetric, place);
    }
}

nw_status nw_qap_hahn_grant(const struct nw_qap *problem,
                            struct nw_qap_exact_search *exact, int32_t *place)
{
    struct hahn_grant_search search = {
        .problem = problem,
        .exact = exact,
        .side = {{.matrix = problem->flow, .n = problem->n},
                 {.matrix = problem->distance, .n = problem->n}},
        .best = place,
        .best_cost = nw_qap_cost(problem, place),
    };
    nw_status status =
        nw_alloc((size_t)problem->n, sizeof *search.level, &search.level);

    for (int i = 0; !status && i < problem->n; i++) {
        size_t left = (size_t)(problem->n - i);

        status = nw_alloc(left * left * left * left, sizeof(double),
                          &search.level[i].pair);
    }
    if (!status) {
        exact->nodes = 0;
        hahn_grant_lay_out(problem, search.level);
        hahn_grant_branch(&search, 0, (const bool[2]){true, true});
        exact->proven = exact->nodes < exact->nodes_most;
    }
    for (int i = 0; search.level && i < problem->n; i++)
        free(search.level[i].pair);
    free(search.level);
    return status;
}
