/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid as in MG of the NAS benchmarks: V-cycles on a periodic cube, where
 * ghost cells are exchanged along one dimension after the other on every level.
 * The solution is known. The coarsest level has two points per rank in its
 * shortest dimension, where NAS goes on with fewer ranks. */
#include "nas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 64 /* points along each dimension of the finest level */
#define CYCLES 5
#define LEVELS 8
#define SMOOTH 2
#define COARSEST 8
#define DAMPING (6.0 / 7)

struct level {
    int n[3];       /* number of points of this rank */
    size_t step[3]; /* distance between neighbours along a dimension */
    size_t cells;   /* number of points, with ghosts */
    double *u, *f, *r;
};

struct cube {
    MPI_Comm comm;
    int dims[3], at[3];
    int before[3], after[3]; /* ranks of the neighbours */
    int levels;
    struct level level[LEVELS];
    double *face[4];
};

static size_t cell(const struct level *l, int i, int j, int k)
{
    return (size_t)i * l->step[0] + (size_t)j * l->step[1] + (size_t)k;
}

/* --- ghosts --- */

/* Copies the plane `where` across dimension d, including ghosts of the other
 * dimensions, to or from `face`. */
static int copy_face(const struct level *l, int d, int where, double *grid,
                     double *face, int out)
{
    int a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2, count = 0;
    size_t base = (size_t)where * l->step[d];

    for (int i = 0; i < l->n[a] + 2; i++)
        for (int j = 0; j < l->n[b] + 2; j++) {
            double *at =
                grid + base + (size_t)i * l->step[a] + (size_t)j * l->step[b];

            if (out)
                face[count++] = *at;
            else
                *at = face[count++];
        }
    return count;
}

static void exchange(const struct cube *c, const struct level *l, double *grid)
{
    for (int d = 0; d < 3; d++) {
        MPI_Request request[2];
        int n = copy_face(l, d, 1, grid, c->face[0], 1);

        copy_face(l, d, l->n[d], grid, c->face[1], 1);
        MPI_Irecv(c->face[2], n, MPI_DOUBLE, c->after[d], 2 * d, c->comm,
                  &request[0]);
        MPI_Irecv(c->face[3], n, MPI_DOUBLE, c->before[d], 2 * d + 1, c->comm,
                  &request[1]);
        MPI_Send(c->face[0], n, MPI_DOUBLE, c->before[d], 2 * d, c->comm);
        MPI_Send(c->face[1], n, MPI_DOUBLE, c->after[d], 2 * d + 1, c->comm);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        copy_face(l, d, l->n[d] + 1, grid, c->face[2], 0);
        copy_face(l, d, 0, grid, c->face[3], 0);
    }
}

/* --- the work on a level; A u = 6 u - the sum of its six neighbours --- */

static double apply(const struct level *l, const double *u, size_t at)
{
    return 6 * u[at] - u[at - l->step[0]] - u[at + l->step[0]] -
           u[at - l->step[1]] - u[at + l->step[1]] - u[at - 1] - u[at + 1];
}

#define FOR_ALL(l)                                                             \
    for (int i = 1; i <= (l)->n[0]; i++)                                       \
        for (int j = 1; j <= (l)->n[1]; j++)                                   \
            for (int k = 1; k <= (l)->n[2]; k++)

static void find_residual(const struct level *l)
{
    FOR_ALL(l)
    {
        size_t at = cell(l, i, j, k);

        l->r[at] = l->f[at] - apply(l, l->u, at);
    }
}

static void smooth(const struct cube *c, const struct level *l, int times)
{
    while (times-- > 0) {
        find_residual(l);
        FOR_ALL(l)
        l->u[cell(l, i, j, k)] += DAMPING / 6 * l->r[cell(l, i, j, k)];
        exchange(c, l, l->u);
    }
}

/* Two points along each dimension become one: the residual is averaged. A of
 * the coarse level is for twice the distance, so that the right side is four
 * times the mean. */
static void restrict_to(const struct level *fine, const struct level *coarse)
{
    memset(coarse->u, 0, coarse->cells * sizeof *coarse->u);
    FOR_ALL(coarse)
    {
        double sum = 0;

        for (int e = 0; e < 8; e++)
            sum += fine->r[cell(fine, 2 * i - (e & 1), 2 * j - (e >> 1 & 1),
                                2 * k - (e >> 2))];
        coarse->f[cell(coarse, i, j, k)] = sum / 8 * 4;
    }
}

/* Interpolates linearly between the centres of cells: 3/4 of the own cell, 1/4
 * of the next. */
static void prolong(const struct level *coarse, const struct level *fine)
{
    FOR_ALL(fine)
    {
        int at[3] = {i, j, k}, own[3], next[3];
        double sum = 0;

        for (int d = 0; d < 3; d++) {
            own[d] = (at[d] + 1) / 2;
            next[d] = own[d] + (at[d] % 2 ? -1 : 1);
        }
        for (int e = 0; e < 8; e++)
            sum += (e & 1 ? 0.25 : 0.75) * (e & 2 ? 0.25 : 0.75) *
                   (e & 4 ? 0.25 : 0.75) *
                   coarse->u[cell(coarse, e & 1 ? next[0] : own[0],
                                  e & 2 ? next[1] : own[1],
                                  e & 4 ? next[2] : own[2])];
        fine->u[cell(fine, i, j, k)] += sum;
    }
}

static void cycle(struct cube *c, int number)
{
    struct level *l = &c->level[number];

    if (number == c->levels - 1) {
        smooth(c, l, COARSEST);
        return;
    }
    smooth(c, l, SMOOTH);
    find_residual(l);
    restrict_to(l, l + 1);
    cycle(c, number + 1);
    prolong(l + 1, l);
    exchange(c, l, l->u);
    smooth(c, l, SMOOTH);
}

/* --- setting up --- */

static void open_cube(struct cube *c, MPI_Comm comm)
{
    int size, rank, stride[3], most = 0;

    memset(c, 0, sizeof *c);
    c->comm = comm;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Dims_create(size, 3, c->dims);
    stride[2] = 1;
    stride[1] = c->dims[2];
    stride[0] = c->dims[1] * c->dims[2];
    for (int d = 0; d < 3; d++) {
        int up, down;

        c->at[d] = rank / stride[d] % c->dims[d];
        up = (c->at[d] + 1) % c->dims[d];
        down = (c->at[d] + c->dims[d] - 1) % c->dims[d];
        c->after[d] = rank + (up - c->at[d]) * stride[d];
        c->before[d] = rank + (down - c->at[d]) * stride[d];
        if (N / c->dims[d] + 2 > most)
            most = N / c->dims[d] + 2;
    }
    for (int i = 0; i < 4; i++)
        c->face[i] = calloc((size_t)most * (size_t)most, sizeof(double));
}

static void open_levels(struct cube *c)
{
    for (int n = N; c->levels < LEVELS; n /= 2) {
        struct level *l = &c->level[c->levels];

        for (int d = 0; d < 3; d++)
            l->n[d] = n / c->dims[d];
        if (n / c->dims[0] < 2 || n / c->dims[1] < 2 || n / c->dims[2] < 2)
            return;
        l->step[2] = 1;
        l->step[1] = (size_t)l->n[2] + 2;
        l->step[0] = l->step[1] * ((size_t)l->n[1] + 2);
        l->cells = l->step[0] * ((size_t)l->n[0] + 2);
        l->u = calloc(l->cells, sizeof *l->u);
        l->f = calloc(l->cells, sizeof *l->f);
        l->r = calloc(l->cells, sizeof *l->r);
        c->levels++;
    }
}

static void close_cube(struct cube *c)
{
    for (int i = 0; i < c->levels; i++) {
        free(c->level[i].u);
        free(c->level[i].f);
        free(c->level[i].r);
    }
    for (int i = 0; i < 4; i++)
        free(c->face[i]);
}

/* The known solution, whose mean over the cube is 0 as that of the computed
 * one. */
static double known(const struct cube *c, int i, int j, int k)
{
    const struct level *l = &c->level[0];
    double turn = 2 * acos(-1) / N;

    return sin(turn * (c->at[0] * l->n[0] + i)) *
               cos(turn * 3 * (c->at[1] * l->n[1] + j)) +
           sin(turn * 9 * (c->at[2] * l->n[2] + k));
}

static void set_known(struct cube *c)
{
    struct level *l = &c->level[0];

    FOR_ALL(l) l->u[cell(l, i, j, k)] = known(c, i, j, k);
    exchange(c, l, l->u);
    FOR_ALL(l) l->f[cell(l, i, j, k)] = apply(l, l->u, cell(l, i, j, k));
    memset(l->u, 0, l->cells * sizeof *l->u);
}

static double find_error(const struct cube *c)
{
    const struct level *l = &c->level[0];
    double worst = 0, most;

    FOR_ALL(l)
    worst = fmax(worst, fabs(l->u[cell(l, i, j, k)] - known(c, i, j, k)));
    MPI_Allreduce(&worst, &most, 1, MPI_DOUBLE, MPI_MAX, c->comm);
    return most;
}

double mg(MPI_Comm comm, double *seconds)
{
    struct cube c;
    double error;

    open_cube(&c, comm);
    open_levels(&c);
    set_known(&c);
    MPI_Barrier(comm);
    messages_begin();
    *seconds = -MPI_Wtime();
    for (int i = 0; i < CYCLES; i++)
        cycle(&c, 0);
    MPI_Barrier(comm);
    *seconds += MPI_Wtime();
    messages_end();
    error = find_error(&c);
    close_cube(&c);
    return error;
}
