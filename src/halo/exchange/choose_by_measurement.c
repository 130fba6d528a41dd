/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses methods by measuring whole exchanges. The first scheme is that of the
 * model. Then the classes of connections are taken one after the other: schemes
 * that differ in the method of this class are compared, and the fastest is
 * kept. The schemes of the first class also differ in the schedule.
 *
 * Schemes are compared by successive halving (Karnin, Koren and Somekh, "Almost
 * optimal exploration in multi-armed bandits", ICML 2013). All schemes have a
 * turn in each round, so that other load on the machine affects all of them.
 * After some rounds, the slower half is dropped. The time of an exchange is
 * that of the slowest rank. All ranks get the same times and so make the same
 * choice. The total time is limited.
 */
#include "halo/exchange/choose.h"
#include "halo/exchange/yielding_collectives.h"

#include "base/clock.h"
#include "base/median.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

#define LIMIT 2.25 /* seconds after which measurements of a halo end */
/* Seconds after which measurements of a halo end if ranks share cores: times
 * then mostly show effects of the scheduler, so that a long measurement is
 * useless. */
#define OVERSUBSCRIBED_LIMIT 0.45
#define SHARE 0.67 /* part of the time left that a comparison may use */
#define ROUNDS 16  /* most rounds until the slower half is dropped */
#define TURN 5     /* most exchanges in a turn; the first is not counted */
#define LONG 0.01  /* part of the time limit after which a turn ends */
/* most schemes to compare: each method, and the model's, in two schedules */
#define RIVALS ((NW_HALO_METHOD_COUNT + 1) * 2)
#define STAGES 5 /* number of halvings from RIVALS to 1 */

struct rival {
    struct nw_halo_set set;
    /* seconds[i]: shortest exchange of turn i; one for each of
     * measuring.rounds */
    double seconds[STAGES * ROUNDS];
    double quartile; /* lower quartile of `seconds` */
};

struct measuring {
    nw_halo *halo;
    bool allowed[2]; /* schedules: [0] at once, [1] in phases */
    uint64_t began_ns;
    double used; /* used part of the time limit, equal on all ranks */
    struct nw_random random;
    struct rival rival[RIVALS]; /* the schemes that are still compared */
    size_t count, rounds;       /* numbers of schemes; of rounds until now */
};

/* Runs one exchange. Sets *seconds to the time of the slowest rank. If the
 * exchange fails on a rank, returns an error on all ranks: others may have
 * finished their part of it. */
static nw_status measure_exchange(struct measuring *work, double *seconds)
{
    nw_halo *halo = work->halo;
    double limit = halo->oversubscribed ? OVERSUBSCRIBED_LIMIT : LIMIT;
    double own[3], most[3];
    nw_status status =
        nw_halo_mpi(nw_halo_barrier(halo->comm), "measure a halo");
    uint64_t since = nw_clock_ns(), now;
    int code;

    if (!status)
        status = nw_halo_start(halo, NULL, 0);
    if (!status)
        status = nw_halo_wait(halo);
    now = nw_clock_ns();
    own[0] = (double)(now - since) * 1e-9;
    own[1] = (double)(now - work->began_ns) * 1e-9 / limit;
    own[2] = status != NW_OK;
    code = nw_halo_allreduce(halo->comm, own, most, 3, MPI_DOUBLE, MPI_MAX);
    if (code != MPI_SUCCESS)
        return status ? status : nw_halo_mpi(code, "measure a halo");
    if (most[2] > 0) {
        halo->broken = true;
        return nw_halo_agree(halo->comm, status);
    }
    *seconds = most[0];
    work->used = most[1];
    return NW_OK;
}

/* Runs a few exchanges in a row, as a solver does. Sets *least to the shortest
 * time, since other load can only increase a time. The first exchange finds the
 * caches filled with buffers of other schemes, so it is not counted unless it
 * is the only one. */
static nw_status measure_turn(struct measuring *work, struct rival *rival,
                              double *least)
{
    double seconds = 0, until = work->used + LONG;
    nw_status status = NW_OK;

    nw_halo_set_swap(work->halo, &rival->set);
    for (int k = 0; !status && (!k || (k < TURN && work->used < until)); k++) {
        status = measure_exchange(work, &seconds);
        *least = k < 2 ? seconds : fmin(seconds, *least);
    }
    nw_halo_set_swap(work->halo, &rival->set);
    return status;
}

static int measure_by_quartile(const void *a, const void *b)
{
    const struct rival *x = a, *y = b;

    return (x->quartile > y->quartile) - (x->quartile < y->quartile);
}

/* Runs a stage of rounds, as long as less than `until` of the time limit is
 * used, and sorts the schemes, the fastest first. In each round, the schemes
 * have their turns in a new random order, which is the same on all ranks. Other
 * load only increases times, so a scheme is judged by the lower quartile of its
 * turns: the median of the lower half. */
static nw_status measure_stage(struct measuring *work, double until)
{
    size_t end = work->rounds + ROUNDS;
    int32_t order[RIVALS];
    nw_status status = NW_OK;

    for (int32_t i = 0; i < RIVALS; i++)
        order[i] = i;
    do {
        nw_random_shuffle(&work->random, order, work->count);
        for (size_t i = 0; !status && i < work->count; i++) {
            struct rival *rival = &work->rival[order[i]];

            status = measure_turn(work, rival, &rival->seconds[work->rounds]);
        }
    } while (!status && ++work->rounds < end && work->used < until);
    for (size_t i = 0; i < work->count; i++) {
        struct rival *rival = &work->rival[i];

        (void)nw_median(rival->seconds, work->rounds); /* sorts them */
        rival->quartile = nw_median(rival->seconds, (work->rounds + 1) / 2);
    }
    qsort(work->rival, work->count, sizeof *work->rival, measure_by_quartile);
    return status;
}

/* Closes the halo's connections and opens all schemes. Drops schemes for which
 * the memory does not suffice; returns NW_ENOMEM if no scheme is left. After an
 * error, work->rival has only schemes that are open. */
static nw_status measure_open(struct measuring *work)
{
    size_t count = work->count;
    nw_status status = NW_OK;

    nw_halo_connections_close(work->halo);
    work->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct nw_halo_scheme scheme = work->rival[i].set.scheme;

        status = nw_halo_connections_open(work->halo, &scheme);
        if (status == NW_ENOMEM)
            continue;
        if (status)
            return status;
        nw_halo_set_swap(work->halo, &work->rival[work->count++].set);
    }
    return work->count ? NW_OK : status;
}

/* Closes all schemes but the first `keep`. */
static void measure_close(struct measuring *work, size_t keep)
{
    while (work->count > keep) {
        struct nw_halo_set *set = &work->rival[--work->count].set;

        nw_halo_set_swap(work->halo, set);
        nw_halo_connections_close(work->halo);
        nw_halo_set_swap(work->halo, set);
    }
}

/* Compares the schemes, closes the slower ones and leaves the fastest open. If
 * there is an error, leaves none open. */
static nw_status measure_compare(struct measuring *work)
{
    double until = work->used + (1 - work->used) * SHARE;
    nw_status status = measure_open(work);

    while (!status && work->count > 1) {
        status = measure_stage(work, work->count > 2 ? (work->used + until) / 2
                                                     : until);
        measure_close(work, work->count - work->count / 2);
    }
    if (!status)
        nw_halo_set_swap(work->halo, &work->rival[0].set);
    else
        measure_close(work, 0);
    return status;
}

/* Compares the methods of a class, each in all schedules that are left, if
 * there are at least two choices. The first class that is compared decides the
 * schedule. */
static nw_status measure_methods_of(struct measuring *work,
                                    enum nw_halo_class class)
{
    struct nw_halo_scheme scheme = work->halo->scheme;
    uint32_t methods[NW_HALO_CLASS_COUNT] = {0};
    nw_status status = nw_halo_survey(work->halo, methods);

    work->count = work->rounds = 0;
    for (int phased = 0; phased < 2; phased++)
        for (uint32_t left = work->allowed[phased] ? methods[class] : 0; left;
             left &= left - 1) {
            scheme.phased = phased;
            scheme.methods[class] = left & -left;
            work->rival[work->count++] = (struct rival){.set.scheme = scheme};
        }
    if (status || work->count < 2)
        return status;
    status = measure_compare(work);
    work->allowed[!work->halo->scheme.phased] = false;
    return status;
}

/* An exchange waits for its slowest connection, so the classes with the slowest
 * links come first. The light classes follow, and connections inside one GPU or
 * inside one rank's host memory come last. */
nw_status nw_halo_measure(nw_halo *halo, const bool allowed[2])
{
    struct measuring work = {.halo = halo,
                             .allowed = {allowed[0], allowed[1]},
                             .began_ns = nw_clock_ns()};
    struct nw_halo_scheme model =
        nw_halo_scheme_all(!allowed[0], NW_HALO_MODELLED);
    nw_status status = nw_halo_connections_open(halo, &model);

    nw_random_init(&work.random, 1);
    for (int light = 0; light < 2; light++)
        for (int i = NW_HALO_CLASS_NETWORK + light; !status && i >= 0; i -= 2)
            status = measure_methods_of(&work, (enum nw_halo_class)i);
    return status;
}
