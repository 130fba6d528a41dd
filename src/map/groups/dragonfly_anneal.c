/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short rounds of annealing, each from a random division: two ranks of
 * different groups change places, judged by a mean of eighth powers of what
 * each group sends each other one, by its links.
 */
#include "map/common/budget.h"
#include "map/groups/dragonfly_internal.h"

#include <math.h>
#include <string.h>

#define ROUNDS 16
#define DRAWS_EACH 6000 /* of a rank and round */
#define DRAWS_MOST 2000000
#define SLICE 4096
#define DRAWS_A_STEP 8 /* they are that much cheaper than trials */
#define MEAN 0.5       /* weight of the mean beside the most */

/* --- divisions --- */

static double energy_of(const struct nw_pairing *work, double power, double sum)
{
    int32_t parts = work->of.pens.parts;

    return work->scale * sqrt(sqrt(sqrt(fmax(0, power)))) +
           MEAN * sum / (parts * (parts - 1));
}

static void sum_up(struct nw_pairing *work)
{
    int32_t pairs = work->of.pens.parts * work->of.pens.parts;

    work->power = work->sum = 0;
    for (int32_t i = 0; i < pairs; i++) {
        work->power += nw_penned_eighth(work->load[i] / work->scale);
        work->sum += work->load[i];
    }
    work->energy = energy_of(work, work->power, work->sum);
}

static void count_loads(struct nw_pairing *work)
{
    const struct nw_seats *seats = work->of.seats;

    memset(work->load, 0, sizeof work->load);
    for (int32_t r = 0; r < seats->rank_count; r++)
        for (size_t t = seats->row[r]; t < seats->row[r + 1]; t++) {
            int pair = nw_pair_of(work, work->of.part[r],
                                  work->of.part[seats->tie[t].peer]);

            work->load[pair] += seats->tie[t].out * work->slow[pair];
        }
}

static void divide_at_random(struct nw_pairing *work)
{
    int32_t parts = work->of.pens.parts;

    nw_penned_shuffle(&work->of);
    count_loads(work);
    work->scale = 1;
    sum_up(work);
    work->scale = fmax(work->sum / (parts * (parts - 1)), 1e-300);
    sum_up(work);
}

static void keep_round(struct nw_pairing *work)
{
    struct nw_pairs_division *kept = &work->round;
    double most = 0;

    for (int32_t i = 0; i < work->of.pens.parts * work->of.pens.parts; i++)
        most = fmax(most, work->load[i]);
    if (most > kept->most * (1 + 1e-9) ||
        (most > kept->most * (1 - 1e-9) && work->sum >= kept->mean))
        return;
    kept->most = most;
    kept->mean = work->sum;
    memcpy(kept->part, work->of.part,
           (size_t)work->of.seats->rank_count * sizeof *kept->part);
}

/* --- one exchange --- */

static void add(struct nw_pairing *work, int32_t from, int32_t to, double bytes)
{
    int pair = nw_pair_of(work, from, to);

    if (from == to)
        return;
    if (!work->touched[pair]) {
        work->touched[pair] = true;
        work->touch[work->touch_count++] = pair;
    }
    work->extra[pair] += bytes * work->slow[pair];
}

/* What changes as two ranks change places, by one's ties; what they exchange
 * is told once. */
static void add_change(struct nw_pairing *work, int32_t rank, int32_t other)
{
    const struct nw_tie *tie = NULL;
    size_t ties = nw_penned_ties(&work->of, rank, &tie);
    int32_t from = work->of.part[rank], to = work->of.part[other];

    for (; ties--; tie++) {
        int32_t before = work->of.part[tie->peer], after = before;

        if (tie->peer == rank || (tie->peer == other && rank > other))
            continue;
        if (tie->peer == other)
            after = from;
        add(work, from, before, -tie->out);
        add(work, before, from, -tie->in);
        add(work, to, after, tie->out);
        add(work, after, to, tie->in);
    }
}

static bool is_accepted(struct nw_pairing *work, double energy)
{
    return energy <= work->energy ||
           nw_random_unit(&work->of.random) <
               exp((work->energy - energy) / work->heat);
}

static void end(struct nw_pairing *work, bool keep)
{
    for (int i = 0; i < work->touch_count; i++) {
        int pair = work->touch[i];

        if (keep)
            work->load[pair] += work->extra[pair];
        work->extra[pair] = 0;
        work->touched[pair] = false;
    }
    work->touch_count = 0;
}

static void try_swap(struct nw_pairing *work)
{
    int32_t n = work->of.seats->rank_count;
    int32_t a = (int32_t)nw_random_below(&work->of.random, (uint64_t)n);
    int32_t b = nw_penned_draw_member(
        &work->of, work->of.part[nw_penned_draw_peer(&work->of, a)]);
    double power = work->power, sum = work->sum, energy, before = work->energy;

    if (work->of.part[a] == work->of.part[b])
        return;
    add_change(work, a, b);
    add_change(work, b, a);
    for (int i = 0; i < work->touch_count; i++) {
        int pair = work->touch[i];
        double load = work->load[pair], extra = work->extra[pair];

        sum += extra;
        power += nw_penned_eighth((load + extra) / work->scale) -
                 nw_penned_eighth(load / work->scale);
    }
    energy = energy_of(work, power, sum);
    if (!is_accepted(work, energy)) {
        end(work, false);
        return;
    }
    end(work, true);
    nw_penned_swap(&work->of, a, b);
    work->power = power;
    work->sum = sum;
    work->energy = energy;
    if (energy < before)
        keep_round(work);
}

/* --- rounds --- */

static double first_heat(const struct nw_pairing *work)
{
    const struct nw_seats *seats = work->of.seats;
    size_t ties = seats->row[seats->rank_count];
    double sum = 0;

    for (size_t t = 0; t < ties; t++)
        sum += seats->tie[t].out;
    return ties ? sum / (double)ties * work->slow[1] : 0;
}

static bool run_round(struct nw_pairing *work)
{
    struct nw_budget *budget = work->of.seats->problem->budget;
    uint64_t draws = (uint64_t)work->of.seats->rank_count * DRAWS_EACH;
    double cooling;

    draws = draws < DRAWS_MOST ? draws : DRAWS_MOST;
    cooling = pow(0.01, SLICE / (double)draws);
    work->heat = first_heat(work);
    work->round.most = INFINITY;
    divide_at_random(work);
    for (uint64_t done = 0; done < draws; done += SLICE) {
        for (int i = 0; i < SLICE; i++)
            try_swap(work);
        sum_up(work);
        work->heat *= cooling;
        if (!nw_budget_go(budget, SLICE / DRAWS_A_STEP, work->round.most))
            return false;
    }
    return true;
}

static bool is_less(const struct nw_pairs_division *a,
                    const struct nw_pairs_division *b)
{
    if (a->most < b->most * (1 - 1e-9))
        return true;
    return a->most <= b->most * (1 + 1e-9) && a->mean < b->mean * (1 - 1e-9);
}

static bool is_like(const struct nw_pairs_division *a,
                    const struct nw_pairs_division *b)
{
    return !isinf(b->most) && !is_less(a, b) && !is_less(b, a);
}

/* Of those alike the first. */
static void list_round(struct nw_pairing *work)
{
    for (int i = 0; i < NW_PAIRS_KEPT; i++)
        if (is_like(&work->round, &work->best[i]))
            return;
    for (int i = 0; i < NW_PAIRS_KEPT; i++)
        if (is_less(&work->round, &work->best[i])) {
            struct nw_pairs_division worse = work->best[i];

            work->best[i] = work->round;
            work->round = worse;
        }
}

/* --- the best of all --- */

bool nw_pairs_divide(struct nw_pairing *work, double below)
{
    for (int i = 0; i < ROUNDS && run_round(work); i++)
        list_round(work);
    return work->best[0].most < below * (1 - 1e-9);
}
