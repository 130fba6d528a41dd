/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides the grid into rows and columns of parts. Ranks of unequal speed get
 * parts of unequal size: all parts of a row have the same height, all parts of
 * a column the same width. The sizes minimise the time of the slowest rank. */
#include "mpdata/program/job.h"
#include "base/array.h"
#include "base/status.h"

#include <nodewise/rowcol.h>

#include <math.h>
#include <stdlib.h>

/* Divides n cells into `parts` parts with shares weight[i], whose sum is 1, and
 * at least `least` cells each. Part i begins at low[i]; low[] has parts + 1
 * elements. */
static void divide_shares(int64_t n, int32_t parts, const double *weight,
                          int64_t least, int64_t *low)
{
    double sum = 0;

    low[0] = 0;
    for (int32_t i = 0; i < parts; i++) {
        sum += weight[i];
        int64_t next = (int64_t)llround((double)n * sum);
        int64_t most = n - least * (parts - 1 - i);
        if (next < low[i] + least)
            next = low[i] + least;
        low[i + 1] = next > most ? most : next;
    }
}

/* Sets the first cell of each row and column of parts, from the speeds. Along
 * an axis that is divided, a part has at least `least` cells. */
static nw_status set_low(struct nw_mp_grid *g, int64_t least)
{
    const struct nw_rowcol_problem problem = {.speed = g->speed};
    struct nw_rowcol a = {.rows = g->parts[0], .columns = g->parts[1]};
    double *weight[2] = {NULL, NULL};
    nw_status status = nw_alloc((size_t)g->size, sizeof *a.process, &a.process);

    for (int32_t i = 0; i < g->size && !status; i++)
        a.process[i] = i;
    for (int axis = 0; axis < 2 && !status; axis++) {
        size_t parts = (size_t)g->parts[axis];
        status = nw_alloc(parts + 1, sizeof **g->low, &g->low[axis]);
        if (!status)
            status = nw_alloc(parts, sizeof **weight, &weight[axis]);
    }
    if (!status)
        nw_rowcol_shares(&problem, &a, weight[0], weight[1]);
    for (int axis = 0; axis < 2 && !status; axis++)
        divide_shares(g->n[axis], g->parts[axis], weight[axis],
                      g->parts[axis] > 1 ? least : 1, g->low[axis]);
    free(weight[0]);
    free(weight[1]);
    free(a.process);
    return status;
}

static nw_status divide_check(const struct nw_mp_grid *g, int64_t least)
{
    static const char *const word[2] = {"rows", "columns"};

    for (int a = 0; a < 2; a++)
        if (g->parts[a] > 1 && g->n[a] < least * g->parts[a])
            return nw_fail(NW_EFORMAT,
                           "%lld cells are too few for %d %s of ranks: each "
                           "rank needs %lld for its halo",
                           (long long)g->n[a], g->parts[a], word[a],
                           (long long)least);
    return NW_OK;
}

nw_status nw_mp_divide(struct nw_mp_grid *g,
                       const struct nw_mpdata_options *options)
{
    int64_t least = nw_mpdata_halo(options);
    nw_status status = divide_check(g, least);

    if (!status)
        status = set_low(g, least);
    if (!status) {
        for (int a = 0; a < 2; a++) {
            g->first[a] = g->low[a][g->part[a]];
            g->own[a] = g->low[a][g->part[a] + 1] - g->first[a];
        }
        g->first[2] = 0;
        g->own[2] = g->n[2];
    }
    return nw_mp_agree(g->comm, status);
}

void nw_mp_grid_free(struct nw_mp_grid *g)
{
    free(g->low[0]);
    free(g->low[1]);
    free(g->speed);
    if (g->comm != MPI_COMM_NULL && g->comm != MPI_COMM_WORLD)
        MPI_Comm_free(&g->comm);
}
