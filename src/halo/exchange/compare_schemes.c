/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares schemes by measurement. In each round, every scheme has a turn of a
 * few exchanges, so that other load on the machine affects all schemes. Times
 * are compared within a round, so that slow changes of the load cancel out. The
 * time of an exchange is that of the slowest rank. All ranks get the same times
 * and so make the same choice. */
#include "halo/exchange/choose.h"
#include "halo/exchange/yielding_collectives.h"

#include "base/clock.h"
#include "base/median.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

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
    bool out;               /* true: the scheme was dropped */
};

struct comparison {
    nw_halo *halo;
    const struct nw_halo_rivals *rivals;
    size_t rounds;
    struct rival *rival; /* [rivals->count] the schemes that are compared */
    struct nw_random random;
    uint64_t began_ns;
    double spent; /* seconds since began_ns */
};

/* Runs one exchange. Sets *seconds to the time of the slowest rank, and
 * comparison->spent to the time since the start. Both are equal on all ranks.
 */
static nw_status compare_schemes_exchange(struct comparison *comparison,
                                          double *seconds)
{
    nw_halo *halo = comparison->halo;
    double own[2], slowest[2];
    int code = halo->oversubscribed ? nw_halo_barrier(halo->comm)
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
    own[1] = (double)(now - comparison->began_ns) * 1e-9;
    if (status)
        return status;
    code = nw_halo_allreduce(halo->comm, own, slowest, 2, MPI_DOUBLE, MPI_MAX);
    *seconds = slowest[0];
    comparison->spent = slowest[1];
    return nw_halo_mpi(code, "measure a halo");
}

/* The logarithm of the ratio of two schemes' times. `median` is its median over
 * the rounds. `doubt` is the uncertainty of this median: two standard errors,
 * estimated from the median absolute deviation. */
struct gap {
    double median, doubt;
};

static struct gap gap_of(const struct comparison *comparison, size_t i,
                         size_t first)
{
    const double *a = comparison->rival[i].seconds;
    const double *b = comparison->rival[first].seconds;
    double ratio[ROUNDS], off[ROUNDS];
    size_t n = comparison->rounds;
    struct gap gap;

    for (size_t k = 0; k < n; k++)
        ratio[k] = log(a[k] / b[k]);
    gap.median = nw_median(ratio, n);
    for (size_t k = 0; k < n; k++)
        off[k] = fabs(ratio[k] - gap.median);
    gap.doubt = 2 * 1.2533 * 1.4826 * nw_median(off, n) / sqrt((double)n);
    return gap;
}

/* Returns the index of the fastest scheme: comparisons within rounds show that
 * it is faster than the others in most rounds. */
static size_t first_of(const struct comparison *comparison)
{
    size_t first = 0;

    for (size_t i = 1; i < comparison->rivals->count; i++)
        if (!comparison->rival[i].out &&
            (comparison->rival[first].out ||
             gap_of(comparison, i, first).median < 0))
            first = i;
    return first;
}

/* Drops the schemes that are certainly slower than the fastest. Sets *decided
 * to true if all schemes that are left are practically as fast as the fastest.
 */
static void compare_schemes_look(struct comparison *comparison, bool *decided)
{
    size_t first = first_of(comparison);
    bool few = comparison->rounds < FEW;

    *decided = !few;
    for (size_t i = 0; i < comparison->rivals->count; i++) {
        struct gap gap;

        if (comparison->rival[i].out || i == first)
            continue;
        gap = gap_of(comparison, i, first);
        comparison->rival[i].out = gap.median > (few ? log(SLOW) : gap.doubt);
        if (!comparison->rival[i].out && gap.median + gap.doubt > log(TIE))
            *decided = false;
    }
}

/* Runs the turn of scheme i: a few exchanges in a row, as a solver does. The
 * first exchange finds the caches filled with buffers of other schemes, so it
 * is not counted unless it is the only one. */
static nw_status take_turn(struct comparison *comparison, size_t i)
{
    double least = INFINITY, seconds = 0, until = comparison->spent + LONG;
    nw_status status = NW_OK;
    int k = 0;

    nw_halo_set_swap(comparison->halo, &comparison->rival[i].set);
    do {
        status = compare_schemes_exchange(comparison, &seconds);
        /* the minimum is used, since other load can only increase a time */
        if (k)
            least = fmin(least, seconds);
    } while (!status && ++k < TURN && comparison->spent < until);
    nw_halo_set_swap(comparison->halo, &comparison->rival[i].set);
    least = k > 1 ? least : seconds;
    comparison->rival[i].seconds[comparison->rounds] = fmax(least, 1e-9);
    return status;
}

/* Runs rounds until the schemes are compared or the time is over. In each
 * round, the schemes have their turns in a new random order, which is the same
 * on all ranks. */
static nw_status compare_schemes_run(struct comparison *comparison)
{
    size_t count = comparison->rivals->count;
    int32_t order[NW_HALO_RIVALS];
    bool decided = false;
    nw_status status = NW_OK;

    for (size_t i = 0; i < count; i++)
        order[i] = (int32_t)i;
    while (!status && !decided && comparison->rounds < ROUNDS) {
        nw_random_shuffle(&comparison->random, order, count);
        for (size_t i = 0; !status && i < count; i++)
            if (!comparison->rival[order[i]].out)
                status = take_turn(comparison, (size_t)order[i]);
        if (++comparison->rounds % LOOK == 0)
            compare_schemes_look(comparison, &decided);
        if (comparison->spent > comparison->rivals->seconds)
            break;
    }
    return status;
}

/* Opens all schemes. Drops those for which the memory does not suffice. */
static nw_status compare_schemes_open(struct comparison *comparison)
{
    nw_halo *halo = comparison->halo;
    size_t count = comparison->rivals->count, opened = 0;
    nw_status status =
        nw_halo_agree(halo->comm, nw_alloc(count, sizeof *comparison->rival,
                                           &comparison->rival));

    for (size_t i = 0; !status && i < count; i++) {
        status = nw_halo_connections_open(halo, &comparison->rivals->scheme[i]);
        if (!status) {
            nw_halo_set_swap(halo, &comparison->rival[i].set);
            opened++;
        }
        comparison->rival[i].out = status == NW_ENOMEM;
        if (comparison->rival[i].out)
            status = NW_OK;
    }
    return !status && !opened ? NW_ENOMEM : status;
}

/* Returns the index of the fastest scheme. If rivals->holder is true, returns
 * 0, the first scheme, unless another is certainly faster. */
static size_t winner_of(const struct comparison *comparison)
{
    size_t first = first_of(comparison);
    struct gap gap;

    if (!comparison->rivals->holder || !first || comparison->rival[0].out)
        return first;
    if (comparison->rounds < LOOK)
        return 0;
    gap = gap_of(comparison, first, 0);
    return gap.median + gap.doubt < 0 ? first : 0;
}

nw_status nw_halo_tune(nw_halo *halo, const struct nw_halo_rivals *rivals,
                       double *spent)
{
    struct comparison comparison = {
        .halo = halo, .rivals = rivals, .began_ns = nw_clock_ns()};
    size_t best = rivals->count;
    nw_status status;

    nw_random_init(&comparison.random, 1);
    status = compare_schemes_open(&comparison);
    if (!status)
        status = compare_schemes_run(&comparison);
    if (!status)
        best = winner_of(&comparison);
    for (size_t i = 0; comparison.rival && i < rivals->count; i++) {
        if (i == best)
            continue;
        nw_halo_set_swap(halo, &comparison.rival[i].set);
        nw_halo_connections_close(halo);
        nw_halo_set_swap(halo, &comparison.rival[i].set);
    }
    if (!status)
        nw_halo_set_swap(halo, &comparison.rival[best].set);
    *spent = comparison.spent;
    free(comparison.rival);
    return status;
}
