/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients as in CG of the NAS benchmarks: a sparse matrix in blocks
 * over rows x columns of ranks, with as many columns as rows or twice as many.
 * Partial products are summed along a row by pairwise exchanges, and the result
 * is passed to the transposed rank. The solution is known. */
#include "nas.h"

#include <math.h>
#include <stdlib.h>

#define N 32768
#define STEPS 16
#define BANDS 4
static const int band[BANDS] = {1, 19, 401, 8009};

struct grid {
    MPI_Comm comm;
    int rank, rows, cols, row, col;
    int wide, high; /* number of unknowns of a column and of a row */
    int peer;       /* the transposed rank */
    double *w, *other;
};

static void open_grid(struct grid *g, MPI_Comm comm)
{
    int size, half;

    g->comm = comm;
    MPI_Comm_rank(comm, &g->rank);
    MPI_Comm_size(comm, &size);
    for (g->cols = g->rows = 1; g->cols * g->rows < size;)
        *(g->cols > g->rows ? &g->rows : &g->cols) *= 2;
    g->row = g->rank / g->cols;
    g->col = g->rank % g->cols;
    g->wide = N / g->cols;
    g->high = N / g->rows;
    half = g->cols / g->rows; /* 1 or 2 */
    g->peer = g->col / half * g->cols + g->row * half + g->col % half;
    g->w = calloc((size_t)g->high, sizeof *g->w);
    g->other = calloc((size_t)g->high, sizeof *g->other);
}

static void add_part(const struct grid *g, const double *p)
{
    int first = g->row * g->high, from = g->col * g->wide;

    for (int i = 0; i < g->high; i++)
        g->w[i] = 0;
    for (int i = 0; i < g->wide; i++)
        for (int k = -BANDS; k <= BANDS; k++) {
            int away = k < 0 ? -band[-k - 1] : k ? band[k - 1] : 0;
            int j = (from + i + away + N) % N - first;

            if (j >= 0 && j < g->high)
                g->w[j] += k ? -p[i] : 12 * p[i];
        }
}

/* Computes q = A p; both are in the part of the column. */
static void multiply(const struct grid *g, const double *p, double *q)
{
    int half = g->col % (g->cols / g->rows);

    add_part(g, p);
    for (int k = 1; k < g->cols; k *= 2) {
        int to = g->row * g->cols + (g->col ^ k);

        MPI_Sendrecv(g->w, g->high, MPI_DOUBLE, to, 1, g->other, g->high,
                     MPI_DOUBLE, to, 1, g->comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < g->high; i++)
            g->w[i] += g->other[i];
    }
    MPI_Sendrecv(g->w + half * g->wide, g->wide, MPI_DOUBLE, g->peer, 2, q,
                 g->wide, MPI_DOUBLE, g->peer, 2, g->comm, MPI_STATUS_IGNORE);
}

/* The dot product over the ranks of a row, which have all parts. */
static double dot(const struct grid *g, const double *a, const double *b)
{
    double sum = 0, other;

    for (int i = 0; i < g->wide; i++)
        sum += a[i] * b[i];
    for (int k = 1; k < g->cols; k *= 2) {
        int to = g->row * g->cols + (g->col ^ k);

        MPI_Sendrecv(&sum, 1, MPI_DOUBLE, to, 3, &other, 1, MPI_DOUBLE, to, 3,
                     g->comm, MPI_STATUS_IGNORE);
        sum += other;
    }
    return sum;
}

static void solve(const struct grid *g, double *vector[4])
{
    double *x = vector[0], *r = vector[1], *p = vector[2], *q = vector[3];
    double rho = dot(g, r, r);

    for (int step = 0; step < STEPS; step++) {
        double alpha, before = rho;

        multiply(g, p, q);
        alpha = rho / dot(g, p, q);
        for (int i = 0; i < g->wide; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        rho = dot(g, r, r);
        for (int i = 0; i < g->wide; i++)
            p[i] = r[i] + rho / before * p[i];
    }
}

static double known(const struct grid *g, int i)
{
    return 1 + (7 * (g->col * g->wide + i)) % 13 / 13.0;
}

double cg(MPI_Comm comm, double *seconds)
{
    struct grid g;
    double *vector[4], worst = 0, most;

    open_grid(&g, comm);
    for (int k = 0; k < 4; k++)
        vector[k] = calloc((size_t)g.wide, sizeof **vector);
    for (int i = 0; i < g.wide; i++)
        vector[2][i] = known(&g, i);
    multiply(&g, vector[2], vector[1]);
    for (int i = 0; i < g.wide; i++)
        vector[2][i] = vector[1][i];
    MPI_Barrier(comm);
    messages_begin();
    *seconds = -MPI_Wtime();
    solve(&g, vector);
    MPI_Barrier(comm);
    *seconds += MPI_Wtime();
    messages_end();
    for (int i = 0; i < g.wide; i++)
        worst = fmax(worst, fabs(vector[0][i] - known(&g, i)));
    MPI_Allreduce(&worst, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
    for (int k = 0; k < 4; k++)
        free(vector[k]);
    free(g.w);
    free(g.other);
    return most;
}
