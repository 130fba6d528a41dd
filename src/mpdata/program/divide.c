/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grid in r rows and c columns of parts. Ranks of unequal speed get parts
 * of unequal size: a row of parts has one height, a column one width, and they
 * are chosen so that the slowest rank is done as early as that allows.
 */
#include "mpdata/program/job.h"
#include "base/array.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void nw_mp_shares(int64_t n, int32_t parts, const double *weight, int64_t least,
                  int64_t *low)
{
    double all = 0, sum = 0;

    for (int32_t i = 0; i < parts; i++)
        all += weight ? weight[i] : 1;
    low[0] = 0;
    for (int32_t i = 0; i < parts; i++) {
        sum += weight ? weight[i] : 1;
        int64_t next = (int64_t)llround((double)n * sum / all);
        int64_t most = n - least * (parts - 1 - i);
        if (next < low[i] + least)
            next = low[i] + least;
        low[i + 1] = next > most ? most : next;
    }
}

/* Heights for given widths: as high as the slowest of each row allows. */
static void balance(const struct nw_mp_grid *g, int axis, const double *other,
                    double *weight)
{
    for (int32_t i = 0; i < g->parts[axis]; i++) {
        double slowest = 0;
        for (int32_t j = 0; j < g->parts[!axis]; j++) {
            int32_t rank = axis ? j * g->parts[1] + i : i * g->parts[1] + j;
            slowest = fmax(slowest, other[j] / g->speed[rank]);
        }
        weight[i] = 1 / slowest;
    }
}

static nw_status set_low(struct nw_mp_grid *g, int64_t least)
{
    double *weight[2] = {NULL, NULL};
    nw_status status = NW_OK;

    for (int a = 0; a < 2 && !status; a++) {
        status = nw_alloc((size_t)g->parts[a] + 1, sizeof **g->low, &g->low[a]);
        if (!status)
            status = nw_alloc((size_t)g->parts[a], sizeof **weight, &weight[a]);
        for (int32_t i = 0; !status && i < g->parts[a]; i++)
            weight[a][i] = 1;
    }
    for (int turn = 0; !status && g->speed && turn < 40; turn++)
        balance(g, turn % 2, weight[!(turn % 2)], weight[turn % 2]);
    for (int a = 0; a < 2 && !status; a++)
        nw_mp_shares(g->n[a], g->parts[a], weight[a],
                     g->parts[a] > 1 ? least : 1, g->low[a]);
    free(weight[0]);
    free(weight[1]);
    return status;
}

static nw_status check(const struct nw_mp_grid *g, int64_t least)
{
    static const char *const word[2] = {"rows", "columns"};

    for (int a = 0; a < 2; a++)
        if (g->parts[a] > 1 && g->n[a] < least * g->parts[a])
            return nw_fail(NW_EFORMAT,
                           "%lld cells in %d %s of ranks: each needs the "
                           "halo's %lld",
                           (long long)g->n[a], g->parts[a], word[a],
                           (long long)least);
    return NW_OK;
}

nw_status nw_mp_divide(struct nw_mp_grid *g,
                       const struct nw_mpdata_options *options)
{
    int64_t least = nw_mpdata_halo(options);
    nw_status status = check(g, least);

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
