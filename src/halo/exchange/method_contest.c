/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares schemes by measurement. The schemes take turns, so that other load
 * on the machine affects all of them, and times are compared within a round, so
 * that slow changes cancel out. The time of the slowest rank counts. All ranks
 * get the same times and so make the same choice. */
#include "halo/exchange/connections.h"
#include "halo/exchange/yielding_collectives.h"

#include "base/clock.h"
#include "base/median.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS ((size_t)160)
#define TURN 5    /* exchanges of a scheme in a row; the first is not counted */
#define LOOK 4    /* rounds between checks for slow schemes */
#define FEW 8     /* fewer rounds cannot separate schemes of similar time */
#define SLOW 1.5  /* dropped after few rounds if this times slower */
#define TIE 1.02  /* schemes within this ratio count as equal */
#define LONG 0.02 /* a turn ends early after these seconds */

struct contest {
    nw_halo *halo;
    const struct nw_halo_rivals *rivals;
    size_t count;
    struct nw_halo_set *set;
    size_t rounds;
    double *seconds; /* [count][ROUNDS] least time of each turn */
    size_t *order;   /* [count] order of the schemes in this round */
    bool *out;       /* [count] dropped */
    size_t open;     /* schemes that memory sufficed for */
    double *scratch; /* [2][ROUNDS] */
    struct nw_random random;
    uint64_t began_ns;
    double spent; /* seconds since began_ns */
};

/* Runs one exchange; *seconds is the time of the slowest rank. Updates
 * contest->spent, equal on all ranks. */
static nw_status exchange(struct contest *contest, double *seconds)
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
    memcpy(contest->scratch, contest->seconds + i * ROUNDS,
           contest->rounds * sizeof(double));
    return nw_median(contest->scratch, contest->rounds);
}

/* The logarithm of the ratio of two schemes' times: the median over the rounds,
 * and its uncertainty (two standard errors of a median, estimated from the
 * median deviation). */
struct gap {
    double median, doubt;
};

static struct gap gap_of(const struct contest *contest, size_t i, size_t first)
{
    const double *a = contest->seconds + i * ROUNDS;
    const double *b = contest->seconds + first * ROUNDS;
    double *ratio = contest->scratch, *off = ratio + ROUNDS;
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

/* Returns the scheme with the least median time, or a scheme that was faster
 * than it in most rounds. */
static size_t first_of(const struct contest *contest)
{
    size_t first = contest->count;
    double least = 0;

    for (size_t i = 0; i < contest->count; i++) {
        double seconds = contest->out[i] ? 0 : median_of(contest, i);

        if (contest->out[i] || (first < contest->count && seconds >= least))
            continue;
        first = i;
        least = seconds;
    }
    for (size_t i = 0; i < contest->count; i++)
        if (!contest->out[i] && gap_of(contest, i, first).median < 0)
            first = i;
    return first;
}

/* Drops the schemes that are certainly slower than the first; sets *decided if
 * all others are as fast as the first. */
static void look(struct contest *contest, bool *decided)
{
    size_t first = first_of(contest);
    bool few = contest->rounds < FEW;

    *decided = !few;
    for (size_t i = 0; i < contest->count; i++) {
        struct gap gap;

        if (contest->out[i] || i == first)
            continue;
        gap = gap_of(contest, i, first);
        contest->out[i] = gap.median > (few ? log(SLOW) : gap.doubt);
        if (!contest->out[i] && gap.median + gap.doubt > log(TIE))
            *decided = false;
    }
}

/* Runs a few exchanges in a row, like a solver. The first exchange finds the
 * buffers of other schemes in the caches, so it is not counted unless it is the
 * only one. */
static nw_status take_turn(struct contest *contest, size_t i)
{
    double least = INFINITY, seconds = 0, until = contest->spent + LONG;
    nw_status status = NW_OK;
    int k = 0;

    nw_halo_set_swap(contest->halo, &contest->set[i]);
    do {
        status = exchange(contest, &seconds);
        /* other load on the machine can only increase a time */
        if (k)
            least = fmin(least, seconds);
    } while (!status && ++k < TURN && contest->spent < until);
    nw_halo_set_swap(contest->halo, &contest->set[i]);
    least = k > 1 ? least : seconds;
    contest->seconds[i * ROUNDS + contest->rounds] = fmax(least, 1e-9);
    return status;
}

/* Uses a new random order in each round, equal on all ranks. */
static nw_status run_round(struct contest *contest)
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
            status = take_turn(contest, contest->order[i]);
    return status;
}

static nw_status run_contest(struct contest *contest)
{
    bool decided = false;
    nw_status status = NW_OK;

    while (!status && !decided && contest->rounds < ROUNDS) {
        status = run_round(contest);
        contest->rounds++;
        if (contest->rounds % LOOK == 0)
            look(contest, &decided);
        if (contest->spent > contest->rivals->seconds)
            break;
    }
    return status;
}

/* Opens a scheme; drops it if there is not enough memory for it. */
static nw_status open_rival(struct contest *contest, size_t i)
{
    nw_halo *halo = contest->halo;
    nw_status status =
        nw_halo_connections_open(halo, &contest->rivals->scheme[i]);

    contest->out[i] = status == NW_ENOMEM;
    if (contest->out[i])
        return NW_OK;
    contest->open++;
    if (!status)
        nw_halo_set_swap(halo, &contest->set[i]);
    return status;
}

static nw_status open_contest(struct contest *contest)
{
    nw_halo *halo = contest->halo;
    nw_status status =
        nw_alloc(contest->count, sizeof *contest->set, &contest->set);

    if (!status)
        status = nw_alloc(contest->count * ROUNDS, sizeof(double),
                          &contest->seconds);
    if (!status)
        status = nw_alloc(contest->count, sizeof(size_t), &contest->order);
    if (!status)
        status = nw_alloc(contest->count, sizeof(bool), &contest->out);
    if (!status)
        status = nw_alloc(2 * ROUNDS, sizeof(double), &contest->scratch);
    status = nw_halo_agree(halo->comm, status);
    nw_random_init(&contest->random, 1);
    for (size_t i = 0; !status && i < contest->count; i++)
        contest->order[i] = i;
    for (size_t i = 0; !status && i < contest->count; i++)
        status = open_rival(contest, i);
    return !status && !contest->open ? NW_ENOMEM : status;
}

/* Returns the first scheme; but the holder if there is one and no scheme is
 * certainly faster. */
static size_t winner_of(const struct contest *contest)
{
    size_t first = first_of(contest);
    struct gap gap;

    if (!contest->rivals->holder || !first || contest->out[0])
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
        status = run_contest(&contest);
    if (!status)
        best = winner_of(&contest);
    for (size_t i = 0; contest.set && i < contest.count; i++) {
        if (!status && i == best)
            continue;
        nw_halo_set_swap(halo, &contest.set[i]);
        nw_halo_connections_close(halo);
        nw_halo_set_swap(halo, &contest.set[i]);
    }
    if (!status)
        nw_halo_set_swap(halo, &contest.set[best]);
    *spent = contest.spent;
    free(contest.set);
    free(contest.seconds);
    free(contest.order);
    free(contest.out);
    free(contest.scratch);
    return status;
}
