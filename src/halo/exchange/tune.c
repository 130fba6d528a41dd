/* SPDX-License-Identifier: BSD-3-Clause */
/* Schemes measured against each other, in turns, so that what else the machine
 * does meets all of them. The slowest rank's time counts; all ranks see the
 * same figures and so choose the same. */
#include "halo/exchange/channels.h"

#include "base/clock.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 96
#define TURN 5     /* exchanges of a scheme in a row, the first not counted */
#define SIEVE 2    /* rounds after which the slow drop out, and ever so many */
#define SLOW 1.6   /* times the best: out at first; nearer later */
#define NEAR 1.1   /* but never those nearer than this */
#define ENOUGH 1.5 /* seconds of measuring */
#define SAMPLES ((size_t)ROUNDS * (TURN - 1))

struct contest {
    nw_halo *halo;
    size_t count;
    struct nw_halo_set *set;
    double *seconds; /* [count][SAMPLES] */
    size_t *samples; /* [count] measured */
    size_t *order;   /* [count] of this round */
    bool *out;       /* [count] dropped */
    double *sorted;  /* [SAMPLES] */
    struct nw_random random;
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

/* The lower decile: what others do on the machine only ever adds, and where
 * they are many it adds to most exchanges. */
static double decile(const struct contest *contest, size_t i)
{
    size_t n = contest->samples[i];

    memcpy(contest->sorted, contest->seconds + i * SAMPLES, n * sizeof(double));
    qsort(contest->sorted, n, sizeof(double), ascending);
    return contest->sorted[n / 10];
}

static size_t best_of(const struct contest *contest)
{
    size_t best = contest->count;
    double least = 0;

    for (size_t i = 0; i < contest->count; i++) {
        double seconds;

        if (contest->out[i] || !contest->samples[i])
            continue;
        seconds = decile(contest, i);
        if (best < contest->count && seconds >= least)
            continue;
        best = i;
        least = seconds;
    }
    return best;
}

/* The slow drop out, so that the time is spent on those that are near. */
static void sieve(struct contest *contest, double slow)
{
    size_t best = best_of(contest);
    double most;

    if (best == contest->count)
        return;
    most = fmax(slow, NEAR) * decile(contest, best);
    for (size_t i = 0; i < contest->count; i++)
        if (!contest->out[i] && decile(contest, i) > most)
            contest->out[i] = true;
}

/* A few exchanges in a row, as a solver makes them: the first finds other
 * schemes' buffers in the caches and is not counted. */
static nw_status take_turn(struct contest *contest, size_t i, double *spent)
{
    nw_status status = NW_OK;

    nw_halo_set_swap(contest->halo, &contest->set[i]);
    for (int k = 0; !status && k < TURN; k++) {
        double seconds = 0;

        status = exchange(contest->halo, &seconds);
        *spent += seconds;
        if (k)
            contest->seconds[i * SAMPLES + contest->samples[i]++] = seconds;
    }
    nw_halo_set_swap(contest->halo, &contest->set[i]);
    return status;
}

/* In another order each round, the same on all ranks. */
static nw_status run_round(struct contest *contest, double *spent)
{
    nw_status status = NW_OK;

    for (size_t i = contest->count - 1; i > 0; i--) {
        size_t j = nw_random_below(&contest->random, i + 1);
        size_t held = contest->order[i];

        contest->order[i] = contest->order[j];
        contest->order[j] = held;
    }
    for (size_t i = 0; !status && i < contest->count; i++)
        if (!contest->out[contest->order[i]])
            status = take_turn(contest, contest->order[i], spent);
    return status;
}

static nw_status run_contest(struct contest *contest)
{
    double spent = 0, slow = SLOW;
    nw_status status = NW_OK;

    for (int round = 1; !status && round <= ROUNDS; round++) {
        status = run_round(contest, &spent);
        if (round % SIEVE == 0) {
            sieve(contest, slow);
            slow *= 0.95;
        }
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
        status = nw_alloc(contest->count * SAMPLES, sizeof(double),
                          &contest->seconds);
    if (!status)
        status = nw_alloc(contest->count, sizeof(size_t), &contest->samples);
    if (!status)
        status = nw_alloc(contest->count, sizeof(size_t), &contest->order);
    if (!status)
        status = nw_alloc(contest->count, sizeof(bool), &contest->out);
    if (!status)
        status = nw_alloc(SAMPLES, sizeof(double), &contest->sorted);
    status = nw_halo_agree(halo->comm, status);
    nw_random_init(&contest->random, 1);
    for (size_t i = 0; !status && i < contest->count; i++)
        contest->order[i] = i;
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
    free(contest.samples);
    free(contest.order);
    free(contest.out);
    free(contest.sorted);
    return status;
}
