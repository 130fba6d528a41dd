/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares schemes by measurement. In each round, every scheme has a turn of a
 * few exchanges, so that other load on the machine affects all schemes. Times
 * are compared within a round, so that slow changes of the load cancel out. The
 * time of an exchange is that of the slowest rank. All ranks get the same times
 * and so make the same choice. */
#include "halo/exchange/connections.h"
#include "halo/exchange/yielding_collectives.h"

#include "base/clock.h"
#include "base/median.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 160
#define TURN 5 /* exchanges in a turn; the first is not counted */
#define LOOK 4 /* rounds between two checks for slow schemes */
#define FEW 8  /* minimum of rounds to compare schemes of similar time */
/* a scheme this much slower is dropped even after fewer rounds */
#define SLOW 1.5
#define TIE 1.02  /* times within this ratio count as equal */
#define LONG 0.02 /* time limit of a turn in seconds */

struct rival {
    struct nw_halo_set set;
    double seconds[ROUNDS]; /* minimum of the turn, for each round */
    /* rival[i].turn is the index of the scheme that has turn i in a round. */
    size_t turn;
    bool out; /* true: the scheme was dropped */
};

struct contest {
    nw_halo *halo;
    const struct nw_halo_rivals *rivals;
    size_t count, rounds;
    struct rival *rival; /* [count] the schemes that are compared */
    size_t open;         /* number of schemes that could be opened */
    struct nw_random random;
    uint64_t began_ns;
    double spent; /* seconds since began_ns */
};

/* Runs one exchange. Sets *seconds to the time of the slowest rank, and
 * contest->spent to the time since the start. Both are equal on all ranks. */
static nw_status method_contest_exchange(struct contest *contest,
                                         double *seconds)
{
    nw_halo *halo = contest->halo;
    double own[2], slowest[2];
    int code = halo->crowded ? nw_halo_barrier(halo->comm)
                             : NW_PMPI(Barrier)(halo->comm);
    nw_status status = nw_halo_mpi(code, "measure a halo");
    uint64_t since = nw_clock_ns(), now;

    if (status)
        return status;
    status = nw_halo_start(halo, NULL, 0);
    if (!status)
        status = nw_halo_wait(halo);
    now = nw_clock_ns();
    own[0] = (double)(now - since) * 1e-9;
    own[1] = (double)(now - contest->began_ns) * 1e-9;
    if (status)
        return status;
    code = nw_halo_allreduce(halo->comm, own, slowest, 2, MPI_DOUBLE, MPI_MAX);
    *seconds = slowest[0];
    contest->spent = slowest[1];
    return nw_halo_mpi(code, "measure a halo");
}

static double median_of(const struct contest *contest, size_t i)
{
    double seconds[ROUNDS];

    memcpy(seconds, contest->rival[i].seconds, sizeof seconds);
    return nw_median(seconds, contest->rounds);
}

/* The logarithm of the ratio of two schemes' times. `median` is its median over
 * the rounds. `doubt` is the uncertainty of this median: two standard errors,
 * estimated from the median absolute deviation. */
struct gap {
    double median, doubt;
};

static struct gap gap_of(const struct contest *contest, size_t i, size_t first)
{
    const double *a = contest->rival[i].seconds;
    const double *b = contest->rival[first].seconds;
    double ratio[ROUNDS], off[ROUNDS];
    size_t n = contest->rounds;
    struct gap gap;

    for (size_t k = 0; k < n; k++)
        ratio[k] = log(a[k] / b[k]);
    gap.median = nw_median(ratio, n);
    for (size_t k = 0; k < n; k++)
        off[k] = fabs(ratio[k] - gap.median);
    gap.doubt = 2 * 1.2533 * 1.4826 * nw_median(off, n) / sqrt((double)n);
    return gap;
}

/* Returns the index of the fastest scheme. This is the scheme with the least
 * median time, unless a comparison within rounds shows that another scheme is
 * faster in most of them. */
static size_t first_of(const struct contest *contest)
{
    size_t first = contest->count;
    double least = 0;

    for (size_t i = 0; i < contest->count; i++) {
        double seconds = contest->rival[i].out ? 0 : median_of(contest, i);

        if (contest->rival[i].out ||
            (first < contest->count && seconds >= least))
            continue;
        first = i;
        least = seconds;
    }
    for (size_t i = 0; i < contest->count; i++)
        if (!contest->rival[i].out && gap_of(contest, i, first).median < 0)
            first = i;
    return first;
}

/* Drops the schemes that are certainly slower than the fastest. Sets *decided
 * to true if all schemes that are left are practically as fast as the fastest.
 */
static void method_contest_look(struct contest *contest, bool *decided)
{
    size_t first = first_of(contest);
    bool few = contest->rounds < FEW;

    *decided = !few;
    for (size_t i = 0; i < contest->count; i++) {
        struct gap gap;

        if (contest->rival[i].out || i == first)
            continue;
        gap = gap_of(contest, i, first);
        contest->rival[i].out = gap.median > (few ? log(SLOW) : gap.doubt);
        if (!contest->rival[i].out && gap.median + gap.doubt > log(TIE))
            *decided = false;
    }
}

/* Runs the turn of scheme i: a few exchanges in a row, as a solver does. The
 * first exchange finds the caches filled with buffers of other schemes, so it
 * is not counted unless it is the only one. */
static nw_status take_turn(struct contest *contest, size_t i)
{
    double least = INFINITY, seconds = 0, until = contest->spent + LONG;
    nw_status status = NW_OK;
    int k = 0;

    nw_halo_set_swap(contest->halo, &contest->rival[i].set);
    do {
        status = method_contest_exchange(contest, &seconds);
        /* the minimum is used, since other load can only increase a time */
        if (k)
            least = fmin(least, seconds);
    } while (!status && ++k < TURN && contest->spent < until);
    nw_halo_set_swap(contest->halo, &contest->rival[i].set);
    least = k > 1 ? least : seconds;
    contest->rival[i].seconds[contest->rounds] = fmax(least, 1e-9);
    return status;
}

/* Runs one round. The schemes have their turns in a new random order, which is
 * the same on all ranks. */
static nw_status method_contest_run_round(struct contest *contest)
{
    nw_status status = NW_OK;

    for (size_t i = contest->count - 1; i > 0; i--) {
        size_t j = nw_random_below(&contest->random, i + 1);
        size_t held = contest->rival[i].turn;

        contest->rival[i].turn = contest->rival[j].turn;
        contest->rival[j].turn = held;
    }
    for (size_t i = 0; !status && i < contest->count; i++)
        if (!contest->rival[contest->rival[i].turn].out)
            status = take_turn(contest, contest->rival[i].turn);
    return status;
}

static nw_status method_contest_run_contest(struct contest *contest)
{
    bool decided = false;
    nw_status status = NW_OK;

    while (!status && !decided && contest->rounds < ROUNDS) {
        status = method_contest_run_round(contest);
        contest->rounds++;
        if (contest->rounds % LOOK == 0)
            method_contest_look(contest, &decided);
        if (contest->spent > contest->rivals->seconds)
            break;
    }
    return status;
}

/* Opens scheme i. If the memory does not suffice, drops the scheme and returns
 * NW_OK. */
static nw_status open_rival(struct contest *contest, size_t i)
{
    nw_halo *halo = contest->halo;
    nw_status status =
        nw_halo_connections_open(halo, &contest->rivals->scheme[i]);

    contest->rival[i].out = status == NW_ENOMEM;
    if (contest->rival[i].out)
        return NW_OK;
    contest->open++;
    if (!status)
        nw_halo_set_swap(halo, &contest->rival[i].set);
    return status;
}

static nw_status open_contest(struct contest *contest)
{
    nw_halo *halo = contest->halo;
    nw_status status =
        nw_alloc(contest->count, sizeof *contest->rival, &contest->rival);

    status = nw_halo_agree(halo->comm, status);
    nw_random_init(&contest->random, 1);
    for (size_t i = 0; !status && i < contest->count; i++)
        contest->rival[i].turn = i;
    for (size_t i = 0; !status && i < contest->count; i++)
        status = open_rival(contest, i);
    return !status && !contest->open ? NW_ENOMEM : status;
}

/* Returns the index of the fastest scheme. If rivals->holder is true, returns
 * 0, the first scheme, unless another is certainly faster. */
static size_t winner_of(const struct contest *contest)
{
    size_t first = first_of(contest);
    struct gap gap;

    if (!contest->rivals->holder || !first || contest->rival[0].out)
        return first;
    if (contest->rounds < LOOK)
        return 0;
    gap = gap_of(contest, first, 0);
    return gap.median + gap.doubt < 0 ? first : 0;
}

nw_status nw_halo_tune(nw_halo *halo, const struct nw_halo_rivals *rivals,
                       double *spent)
{
    struct contest contest = {.halo = halo,
                              .rivals = rivals,
                              .count = rivals->count,
                              .began_ns = nw_clock_ns()};
    size_t best = 0;
    nw_status status = open_contest(&contest);

    if (!status)
        status = method_contest_run_contest(&contest);
    if (!status)
        best = winner_of(&contest);
    for (size_t i = 0; contest.rival && i < contest.count; i++) {
        if (!status && i == best)
            continue;
        nw_halo_set_swap(halo, &contest.rival[i].set);
        nw_halo_connections_close(halo);
        nw_halo_set_swap(halo, &contest.rival[i].set);
    }
    if (!status)
        nw_halo_set_swap(halo, &contest.rival[best].set);
    *spent = contest.spent;
    free(contest.rival);
    return status;
}
