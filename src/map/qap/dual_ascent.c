/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dual ascent of Hahn and Grant (Operations Research 46, 1998), which computes
 * a lower bound of a quadratic assignment problem. Variable (i, p) is 1 if
 * facility i is on location p, otherwise 0. Two transformations do not change
 * the cost of any assignment. The cost of a pair of variables is stored in two
 * entries, and may be moved between them. The cost of a variable may be spread
 * over its pairs with other variables. Each round moves costs, solves a linear
 * assignment problem for the pairs of every variable, and then one for all
 * variables. The minima of these problems are added to the bound. Costs change
 * in the arrays of the problem, so a subproblem starts from the result of the
 * larger problem.
 */
#include "map/qap/dual_ascent.h"

#include <string.h>

#define MOST NW_QAP_EXACT_MOST
#define WIDE NW_QAP_WIDE
/* The ascent stops if this many more rounds, with the gain of the last one,
 * would not raise the bound enough. */
#define PATIENCE 8

static double *row_of(struct nw_dual_ascent *problem, int i, int p)
{
    size_t n = (size_t)problem->n;

    return problem->pair + ((size_t)i * n + (size_t)p) * n * n;
}

/* Spreads the cost of variable (i, p) equally over its pairs with other
 * variables. */
static void dual_ascent_spread(struct nw_dual_ascent *problem, int i, int p)
{
    int n = problem->n;
    double *pair = row_of(problem, i, p);
    double part = problem->linear[i * n + p] / (n - 1);

    problem->linear[i * n + p] = 0;
    for (int j = 0; j < n * n; j++)
        pair[j] += part;
}

/* Fills the matrix `out`, which has no row i and no column p, with the costs of
 * all pairs of variable (i, p): the sum of both entries of a pair. Pairs with
 * an excluded variable get the cost `never`. If `ahead` is set, adds the linear
 * cost of the other variable of each pair; otherwise sets the entries at the
 * other variables to 0. */
static inline void dual_ascent_take(struct nw_dual_ascent *problem, int i,
                                    int p, double never, bool ahead,
                                    double *out)
{
    int n = problem->n;
    double *pair = row_of(problem, i, p);

    for (int j = 0; j < n; j++) {
        if (j == i)
            continue;
        for (int q = 0, k = 0; q < n; q++) {
            double *other = row_of(problem, j, q) + i * n + p;
            double linear = problem->linear[j * n + q];

            if (q == p)
                continue;
            out[k++] = linear >= never
                           ? never
                           : (ahead ? linear : 0) + pair[j * n + q] + *other;
            if (!ahead)
                *other = 0;
        }
        out += WIDE;
    }
}

static void dual_ascent_put(struct nw_dual_ascent *problem, int i, int p,
                            const double *from)
{
    int n = problem->n;
    double *pair = row_of(problem, i, p);

    for (int j = 0; j < n; j++) {
        if (j == i)
            continue;
        for (int q = 0, k = 0; q < n; q++)
            if (q != p)
                pair[j * n + q] = from[k++];
        from += WIDE;
    }
}

/* Solves the linear assignment problem of the linear costs of all variables.
 * Moves its minimum from these costs into the bound. */
static void dual_ascent_settle(struct nw_dual_ascent *problem)
{
    int n = problem->n;
    double matrix[WIDE * WIDE];

    for (int i = 0; i < n; i++)
        memcpy(matrix + i * WIDE, problem->linear + i * n,
               (size_t)n * sizeof *matrix);
    problem->bound += nw_qap_padded_assignment(matrix, n);
    for (int i = 0; i < n; i++)
        memcpy(problem->linear + i * n, matrix + i * WIDE,
               (size_t)n * sizeof *matrix);
}

static void round_of(struct nw_dual_ascent *problem, double enough)
{
    int n = problem->n;
    double matrix[WIDE * WIDE], never = enough - problem->bound;

    for (int i = 0; i < n; i++)
        for (int p = 0; p < n; p++)
            if (problem->linear[i * n + p] < never)
                dual_ascent_spread(problem, i, p);
    for (int i = 0; i < n; i++)
        for (int p = 0; p < n; p++) {
            if (problem->linear[i * n + p] >= never)
                continue;
            dual_ascent_take(problem, i, p, never, false, matrix);
            problem->linear[i * n + p] =
                nw_qap_padded_assignment(matrix, n - 1);
            dual_ascent_put(problem, i, p, matrix);
        }
    dual_ascent_settle(problem);
}

void nw_dual_ascent_run(struct nw_dual_ascent *problem, double enough,
                        int rounds)
{
    while (rounds-- && problem->bound < enough) {
        double before = problem->bound;

        round_of(problem, enough);
        if ((problem->bound - before) * PATIENCE < enough - problem->bound)
            break;
    }
}

void nw_dual_ascent_look(struct nw_dual_ascent *problem, double enough)
{
    int n = problem->n;
    double matrix[WIDE * WIDE], never = enough - problem->bound;

    for (int i = 0; i < n; i++)
        for (int p = 0; p < n; p++) {
            double *linear = &problem->linear[i * n + p];
            double *ahead = &problem->ahead[i * n + p];

            *ahead = *linear;
            if (*linear >= never)
                continue;
            dual_ascent_take(problem, i, p, never, true, matrix);
            *ahead += nw_qap_padded_assignment(matrix, n - 1);
            if (*ahead >= never)
                *linear = never;
        }
}

void nw_dual_ascent_fix(const struct nw_dual_ascent *problem, int i, int p,
                        struct nw_dual_ascent *out)
{
    size_t n = (size_t)problem->n;
    int left = 0, places = 0, rows[MOST], columns[MOST];
    double *to = out->pair;

    for (int k = 0; k < problem->n; k++) {
        if (k != i)
            rows[left++] = k;
        if (k != p)
            columns[places++] = k;
    }
    out->n = left;
    out->bound = problem->bound + problem->linear[(size_t)i * n + (size_t)p];
    for (int a = 0; a < left; a++) {
        out->facility[a] = problem->facility[rows[a]];
        out->location[a] = problem->location[columns[a]];
        for (int b = 0; b < left; b++) {
            size_t place = (size_t)rows[a] * n + (size_t)columns[b];
            size_t fixed = (size_t)i * n + (size_t)p;
            const double *pair = problem->pair + place * n * n;

            out->linear[a * left + b] = problem->linear[place] + pair[fixed] +
                                        problem->pair[fixed * n * n + place];
            for (int c = 0; c < left; c++)
                for (int d = 0; d < left; d++)
                    *to++ = pair[(size_t)rows[c] * n + (size_t)columns[d]];
        }
    }
}
