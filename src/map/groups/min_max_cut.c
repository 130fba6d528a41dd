/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short rounds of annealing, each from a random division: two ranks of
 * different parts change places, judged by a mean of eighth powers of what the
 * parts send, and where there are switches above them what these do. The best
 * division is then seated, rank by rank within each part.
 */
#include "map/groups/min_max_cut.h"
#include "map/congestion/node_swaps.h"
#include "map/groups/slicing_tree.h"
#include "map/congestion/digit_embedding.h"
#include "map/common/budget.h"
#include "map/groups/division.h"
#include "map/groups/switch_levels.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 24
#define VAIN 8           /* of them that find nothing, after an even carving */
#define DRAWS_EACH 12000 /* of a rank and round */
#define DRAWS_MOST 4000000
#define SLICE 4096
#define DRAWS_A_STEP 16 /* they are that much cheaper than trials */
#define EDGE_TRIES 6    /* draws of a rank at the border of its part */
#define MEAN 0.1        /* weight of the mean beside the most */

struct parting {
    struct nw_penned of;
    struct nw_storeys storeys;
    double *leaving; /* [switches] bytes, both ways, as they weigh; those of
                        one storey after the other */
    double scale, power, total, energy, heat;
    struct nw_division best; /* parts: of all storeys */
};

/* --- divisions --- */

static bool is_full(const struct parting *work)
{
    return work->of.seats->rank_count == work->of.seats->core_count;
}

/* Parts take as many ranks each as the next. */
static bool are_equal(const struct parting *work)
{
    for (int32_t p = 1; p < work->of.pens.parts; p++)
        if (work->of.pens.first[p + 1] - work->of.pens.first[p] !=
            work->of.pens.first[1])
            return false;
    return is_full(work);
}

static void count_leaving(struct parting *work)
{
    const struct nw_seats *seats = work->of.seats;
    const int32_t *part = work->of.part;
    double *leaving = work->leaving;

    memset(leaving, 0, (size_t)work->best.parts * sizeof *leaving);
    for (int s = 0; s < work->storeys.count; s++) {
        const struct nw_storey *storey = &work->storeys.storey[s];

        for (int32_t r = 0; r < seats->rank_count; r++)
            for (size_t t = seats->row[r]; t < seats->row[r + 1]; t++) {
                const struct nw_tie *tie = &seats->tie[t];

                if (storey->of[part[r]] != storey->of[part[tie->peer]])
                    leaving[storey->of[part[r]]] +=
                        storey->weight * (tie->out + tie->in);
            }
        leaving += storey->parts;
    }
}

static double energy_of(const struct parting *work, double power, double total)
{
    return work->scale * sqrt(sqrt(sqrt(fmax(0, power)))) +
           MEAN * total / work->of.pens.parts;
}

static void sum_up(struct parting *work)
{
    work->power = work->total = 0;
    for (int32_t p = 0; p < work->best.parts; p++) {
        work->power += nw_penned_eighth(work->leaving[p] / work->scale);
        work->total += work->leaving[p];
    }
    work->energy = energy_of(work, work->power, work->total);
}

static void divide_at_random(struct parting *work)
{
    nw_penned_shuffle(&work->of);
    count_leaving(work);
    work->scale = 1;
    sum_up(work);
    work->scale = fmax(work->total / work->of.pens.parts, 1e-300);
    sum_up(work);
}

/* --- one exchange --- */

/* One of the part, at its border where that is soon found. */
static int32_t draw_member(struct parting *work, int32_t part)
{
    int32_t rank = -1;

    for (int i = 0; i < EDGE_TRIES; i++) {
        rank = nw_penned_draw_member(&work->of, part);
        if (work->of.part[nw_penned_draw_peer(&work->of, rank)] != part)
            break;
    }
    return rank;
}

/* What changes in what switches send: those that one of two ranks is below. */
struct change {
    int count;
    int32_t at[2 * NW_STOREYS_MOST]; /* in leaving */
    double more[2 * NW_STOREYS_MOST];
};

/* What a rank's going over to the part of `other` changes in what both switches
 * of a storey send; `other` comes back. */
static void add_change(const struct parting *work,
                       const struct nw_storey *storey, int32_t rank,
                       int32_t other, double change[2])
{
    const struct nw_tie *tie = NULL;
    size_t ties = nw_penned_ties(&work->of, rank, &tie);
    const int32_t *part = work->of.part;
    int32_t from = storey->of[part[rank]], to = storey->of[part[other]];

    for (; ties--; tie++) {
        double bytes = tie->out + tie->in;
        int32_t there = storey->of[part[tie->peer]];

        if (tie->peer == other || tie->peer == rank)
            continue;
        change[0] += there == from ? bytes : -bytes;
        change[1] += there == to ? -bytes : bytes;
    }
}

/* Two ranks of different parts change places. */
static void find_change(const struct parting *work, int32_t a, int32_t b,
                        struct change *change)
{
    const int32_t *part = work->of.part;
    int32_t first = 0;

    change->count = 0;
    for (int s = 0; s < work->storeys.count; s++) {
        const struct nw_storey *storey = &work->storeys.storey[s];
        int32_t from = storey->of[part[a]], to = storey->of[part[b]];
        double mine[2] = {0, 0}, theirs[2] = {0, 0};

        if (from == to)
            break; /* and so above */
        add_change(work, storey, a, b, mine);
        add_change(work, storey, b, a, theirs);
        change->at[change->count] = first + from;
        change->more[change->count++] = storey->weight * (mine[0] + theirs[1]);
        change->at[change->count] = first + to;
        change->more[change->count++] = storey->weight * (mine[1] + theirs[0]);
        first += storey->parts;
    }
}

static void swap(struct parting *work, int32_t a, int32_t b)
{
    double power = work->power, total = work->total, energy;
    double *leaving = work->leaving;
    struct change change;

    find_change(work, a, b, &change);
    for (int i = 0; i < change.count; i++) {
        double before = leaving[change.at[i]], after = before + change.more[i];

        power += nw_penned_eighth(after / work->scale) -
                 nw_penned_eighth(before / work->scale);
        total += change.more[i];
    }
    energy = energy_of(work, power, total);
    if (energy > work->energy && nw_random_unit(&work->of.random) >=
                                     exp((work->energy - energy) / work->heat))
        return;
    nw_penned_swap(&work->of, a, b);
    for (int i = 0; i < change.count; i++)
        leaving[change.at[i]] += change.more[i];
    work->power = power;
    work->total = total;
    work->energy = energy;
    nw_division_keep(&work->best, work->of.part, leaving,
                     work->of.seats->rank_count);
}

static void try_swap(struct parting *work)
{
    int32_t n = work->of.seats->rank_count;
    int32_t a = (int32_t)nw_random_below(&work->of.random, (uint64_t)n);
    int32_t to = work->of.part[nw_penned_draw_peer(&work->of, a)];

    if (work->of.part[a] != to)
        swap(work, a, draw_member(work, to));
}

/* --- the search --- */

/* Begins as hot as a bond of the mean size. */
static double first_heat(const struct nw_seats *seats)
{
    size_t ties = seats->row[seats->rank_count];
    double sum = 0;

    for (size_t t = 0; t < ties; t++)
        sum += seats->tie[t].out + seats->tie[t].in;
    return ties ? sum / (double)ties : 0;
}

static bool run_round(struct parting *work, uint64_t draws)
{
    struct nw_budget *budget = work->of.seats->problem->budget;
    double cooling;

    cooling = pow(0.01, SLICE / (double)draws);
    work->heat = first_heat(work->of.seats);
    divide_at_random(work);
    for (uint64_t done = 0; done < draws; done += SLICE) {
        for (int i = 0; i < SLICE; i++)
            try_swap(work);
        sum_up(work);
        work->heat *= cooling;
        if (!nw_budget_go(budget, SLICE / DRAWS_A_STEP, work->best.least))
            return false;
    }
    return true;
}

/* Fewer where many ranks make them long, and where they seem to find nothing
 * after a carving. */
static void run_rounds(struct parting *work, bool carved)
{
    double want = (double)work->of.seats->rank_count * DRAWS_EACH;
    double part = fmin(1, DRAWS_MOST / want);
    int rounds = (int)ceil(ROUNDS * part * part), vain = 0;

    for (; rounds > 0 && vain < (carved ? VAIN : ROUNDS); rounds--) {
        double before = work->best.least;

        if (!run_round(work, (uint64_t)(part * want)))
            return;
        vain = work->best.least < before * (1 - 1e-9) ? 0 : vain + 1;
    }
}

/* As they are seated. */
static void begin(struct parting *work)
{
    const struct nw_seats *seats = work->of.seats;

    for (int32_t r = 0; r < seats->rank_count; r++)
        work->of.part[r] = work->of.pens.pen[seats->host[seats->seat[r]]];
    for (int s = 0; s < work->storeys.count; s++)
        work->best.parts += work->storeys.storey[s].parts;
    count_leaving(work);
    work->best.least = INFINITY;
    nw_division_keep(&work->best, work->of.part, work->leaving,
                     seats->rank_count);
}

/* What is no grid is divided by all storeys at once. */
static nw_status begin_search(struct parting *work, bool *grid,
                              struct nw_tiling *tiling)
{
    const struct nw_seats *seats = work->of.seats;
    nw_status status = nw_seats_find_grid(seats, tiling, grid);

    if (!status && *grid)
        nw_storeys_lowest(&work->of.pens, &work->storeys);
    else if (!status)
        status = nw_storeys_find(seats, &work->of.pens, &work->storeys);
    if (!status)
        begin(work);
    return status;
}

/* True where it sends less than the seating. */
static nw_status search(struct parting *work, bool *unlike, bool *found)
{
    struct nw_tiling tiling;
    bool grid = false, even;
    double before;
    nw_status status = begin_search(work, &grid, &tiling);

    before = work->best.least;
    even = grid && are_equal(work);
    if (!status && (even || (grid && !is_full(work))))
        status =
            nw_carve(work->of.seats, &tiling, work->of.pens.first, &work->best);
    if (!status)
        run_rounds(work, even);
    *found = !status && work->best.least < before * (1 - 1e-9);
    *unlike = work->storeys.count > 1;
    if (*found && !*unlike)
        status = nw_pens_arrange(work->of.seats, &work->of.pens,
                                 &work->of.random, work->best.part, unlike);
    return status;
}

/* --- back to seats --- */

/* Nodes by `aim` too, where there is one. */
static nw_status settle(struct parting *work, const struct nw_aim *aim)
{
    struct nw_aim near = {.first = NW_OBJECTIVE_HOP_BYTES,
                          .second = NW_OBJECTIVE_CONGESTION};
    nw_status status;

    nw_pens_sit(work->of.seats, &work->of.pens, work->best.part);
    work->of.seats->pen = work->of.pens.pen;
    status = nw_seats_search(work->of.seats, &near, NW_SEARCH_FULL);
    if (!status && aim)
        status = nw_bundles_search(work->of.seats, aim, NW_SEARCH_BRIEF);
    work->of.seats->pen = NULL;
    return status;
}

static nw_status alloc(struct parting *work, struct nw_seats *seats)
{
    nw_status status = nw_penned_init(&work->of, seats);

    if (!status)
        status = nw_alloc((size_t)seats->rank_count, sizeof *work->best.part,
                          &work->best.part);
    if (!status)
        status = nw_alloc(NW_STOREYS_MOST * NW_PENS_MOST, sizeof *work->leaving,
                          &work->leaving);
    return status;
}

nw_status nw_seats_part(struct nw_seats *seats, const struct nw_aim *aim,
                        bool *found)
{
    struct parting work = {.total = 0};
    bool unlike = false;
    nw_status status;

    *found = false;
    if (!nw_penned_serves(seats, aim))
        return NW_OK;
    status = alloc(&work, seats);
    if (!status && nw_pens_nearest(seats, &work.of.pens))
        status = search(&work, &unlike, found);
    if (!status && *found)
        status = settle(&work, unlike ? aim : NULL);
    nw_penned_fini(&work.of);
    free(work.best.part);
    free(work.leaving);
    return status;
}
