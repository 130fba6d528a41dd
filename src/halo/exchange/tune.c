/* SPDX-License-Identifier: BSD-3-Clause */
/* Schemes measured against each other, in turns, so that what else the machine
 * does meets all of them. The slowest rank's time counts; all ranks see the
 * same figures and so choose the same. */
#include "halo/exchange/channels.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 31
#define SIEVE 5    /* rounds after which the slow ones drop out */
#define SLOW 1.4   /* times the best */
#define ENOUGH 1.5 /* seconds of measuring */
#define TURN 3     /* exchanges of a scheme in a row */

struct contest {
    nw_halo *halo;
    size_t count;
    struct nw_halo_set *set;
    double (*seconds)[ROUNDS]; /* [count] */
    int *rounds;               /* [count] measured */
    bool *out;                 /* [count] dropped */
};

static nw_status exchange(nw_halo *halo, double *seconds)
{
    uint64_t since;
    double own;
    int code = NW_PMPI(Barrier)(halo->comm);
    nw_status status = nw_halo_mpi(code, "measure a halo");

    if (status)
        return status;
    since = nw_clock_ns();
    status = nw_halo_start(halo, NULL, 0);
    if (!status)
        status = nw_halo_wait(halo);
    own = (double)(nw_clock_ns() - since) * 1e-9;
    return status ? status
                  : nw_halo_mpi(NW_PMPI(Allreduce)(&own, seconds, 1, MPI_DOUBLE,
                                                   MPI_MAX, halo->comm),
                                "measure a halo");
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The lower quartile: what others do on the machine only ever adds. The first
 * round is left out, since it touches pages and connections for the first
 * time. */
static double quartile(const struct contest *contest, size_t i)
{
    double sorted[ROUNDS];
    int n = contest->rounds[i], skip = n > 2 ? 1 : 0;

    memcpy(sorted, contest->seconds[i] + skip,
           (size_t)(n - skip) * sizeof *sorted);
    qsort(sorted, (size_t)(n - skip), sizeof *sorted, ascending);
    return sorted[(n - skip) / 4];
}

static size_t best_of(const struct contest *contest)
{
    size_t best = contest->count;

    for (size_t i = 0; i < contest->count; i++)
        if (!contest->out[i] && contest->rounds[i] &&
            (best == contest->count ||
             quartile(contest, i) < quartile(contest, best)))
            best = i;
    return best;
}

static void sieve(struct contest *contest)
{
    size_t best = best_of(contest);

    for (size_t i = 0; best < contest->count && i < contest->count; i++)
        if (quartile(contest, i) > SLOW * quartile(contest, best))
            contest->out[i] = true;
}

/* A few exchanges in a row, as a solver makes them: the first finds other
 * schemes' buffers in the caches and is not counted, the best of the rest is.
 */
static nw_status take_turn(nw_halo *halo, double *best, double *spent)
{
    nw_status status = NW_OK;

    for (int i = 0; !status && i < TURN; i++) {
        double seconds = 0;

        status = exchange(halo, &seconds);
        *spent += seconds;
        if (i == 1 || (i > 1 && seconds < *best))
            *best = seconds;
    }
    return status;
}

static nw_status run_round(struct contest *contest, int round, double *spent)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < contest->count; i++) {
        double *seconds = &contest->seconds[i][round];

        if (contest->out[i])
            continue;
        nw_halo_set_swap(contest->halo, &contest->set[i]);
        status = take_turn(contest->halo, seconds, spent);
        nw_halo_set_swap(contest->halo, &contest->set[i]);
        contest->rounds[i] = round + 1;
    }
    return status;
}

static nw_status run_contest(struct contest *contest)
{
    double spent = 0;
    nw_status status = NW_OK;

    for (int round = 0; !status && round < ROUNDS; round++) {
        status = run_round(contest, round, &spent);
        if (round == SIEVE)
            sieve(contest);
        /* all ranks have the same sum */
        if (round > 1 && spent > ENOUGH)
            break;
    }
    return status;
}

static nw_status open_contest(struct contest *contest,
                              const struct nw_halo_scheme *scheme)
{
    nw_halo *halo = contest->halo;
    nw_status status =
        nw_alloc(contest->count, sizeof *contest->set, &contest->set);

    if (!status)
        status = nw_alloc(contest->count, sizeof *contest->seconds,
                          &contest->seconds);
    if (!status)
        status = nw_alloc(contest->count, sizeof(int), &contest->rounds);
    if (!status)
        status = nw_alloc(contest->count, sizeof(bool), &contest->out);
    status = nw_halo_agree(halo->comm, status);
    for (size_t i = 0; !status && i < contest->count; i++) {
        status = nw_halo_channels_open(halo, &scheme[i]);
        if (!status)
            nw_halo_set_swap(halo, &contest->set[i]);
    }
    return status;
}

nw_status nw_halo_tune(nw_halo *halo, const struct nw_halo_scheme *scheme,
                       size_t count)
{
    struct contest contest = {.halo = halo, .count = count};
    size_t best = 0;
    nw_status status = open_contest(&contest, scheme);

    if (!status)
        status = run_contest(&contest);
    if (!status)
        best = best_of(&contest);
    for (size_t i = 0; contest.set && i < count; i++) {
        if (!status && i == best)
            continue;
        nw_halo_set_swap(halo, &contest.set[i]);
        nw_halo_channels_close(halo);
        nw_halo_set_swap(halo, &contest.set[i]);
    }
    if (!status)
        nw_halo_set_swap(halo, &contest.set[best]);
    free(contest.set);
    free(contest.seconds);
    free(contest.rounds);
    free(contest.out);
    return status;
}
