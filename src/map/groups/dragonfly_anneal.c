/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short rounds of annealing, each from a random division: two ranks of
 * different groups change places, judged by a mean of eighth powers of what
 * each group sends each other one, by its links.
 */
#include "map/common/budget.h"
#include "map/groups/dragonfly_internal.h"
#include "map/common/parameters.h"

#include <math.h>
#include <string.h>

/* --- divisions --- */

static double dragonfly_anneal_energy_of(const struct nw_dragonfly_search *work,
                                         double power, double sum)
{
    int32_t parts = work->of.groups.parts;

    return work->scale * sqrt(sqrt(sqrt(fmax(0, power)))) +
           nw_tuned.dragonfly.mean * sum / (parts * (parts - 1));
}

static void dragonfly_anneal_sum_up(struct nw_dragonfly_search *work)
{
    int32_t pairs = work->of.groups.parts * work->of.groups.parts;

    work->power = work->sum = 0;
    for (int32_t i = 0; i < pairs; i++) {
        work->power += nw_division_eighth(work->load[i] / work->scale);
        work->sum += work->load[i];
    }
    work->energy = dragonfly_anneal_energy_of(work, work->power, work->sum);
}

static void dragonfly_anneal_count_loads(struct nw_dragonfly_search *work)
{
    const struct nw_slots *slots = work->of.slots;

    memset(work->load, 0, sizeof work->load);
    for (int32_t r = 0; r < slots->rank_count; r++)
        for (size_t t = slots->row[r]; t < slots->row[r + 1]; t++) {
            int pair = nw_dragonfly_pair(work, work->of.part[r],
                                         work->of.part[slots->edge[t].peer]);

            work->load[pair] += slots->edge[t].out * work->slow[pair];
        }
}

static void dragonfly_anneal_divide_at_random(struct nw_dragonfly_search *work)
{
    int32_t parts = work->of.groups.parts;

    nw_division_shuffle(&work->of);
    dragonfly_anneal_count_loads(work);
    work->scale = 1;
    dragonfly_anneal_sum_up(work);
    work->scale = fmax(work->sum / (parts * (parts - 1)), 1e-300);
    dragonfly_anneal_sum_up(work);
}

static void dragonfly_anneal_keep_round(struct nw_dragonfly_search *work)
{
    struct nw_dragonfly_division *kept = &work->round;
    double most = 0;

    for (int32_t i = 0; i < work->of.groups.parts * work->of.groups.parts; i++)
        most = fmax(most, work->load[i]);
    if (most > kept->most * (1 + 1e-9) ||
        (most > kept->most * (1 - 1e-9) && work->sum >= kept->mean))
        return;
    kept->most = most;
    kept->mean = work->sum;
    memcpy(kept->part, work->of.part,
           (size_t)work->of.slots->rank_count * sizeof *kept->part);
}

/* --- one exchange --- */

static void dragonfly_anneal_add(struct nw_dragonfly_search *work, int32_t from,
                                 int32_t to, double bytes)
{
    int pair = nw_dragonfly_pair(work, from, to);

    if (from == to)
        return;
    if (!work->touched[pair]) {
        work->touched[pair] = true;
        work->touch[work->touch_count++] = pair;
    }
    work->extra[pair] += bytes * work->slow[pair];
}

/* The change of the loads if two ranks are exchanged, by the edges of one of
 * them; their own edge is counted once. */
static void dragonfly_anneal_add_change(struct nw_dragonfly_search *work,
                                        int32_t rank, int32_t other)
{
    const struct nw_directed_edge *edge = NULL;
    size_t edges = nw_division_edges(&work->of, rank, &edge);
    int32_t from = work->of.part[rank], to = work->of.part[other];

    for (; edges--; edge++) {
        int32_t before = work->of.part[edge->peer], after = before;

        if (edge->peer == rank || (edge->peer == other && rank > other))
            continue;
        if (edge->peer == other)
            after = from;
        dragonfly_anneal_add(work, from, before, -edge->out);
        dragonfly_anneal_add(work, before, from, -edge->in);
        dragonfly_anneal_add(work, to, after, edge->out);
        dragonfly_anneal_add(work, after, to, edge->in);
    }
}

static bool dragonfly_anneal_is_accepted(struct nw_dragonfly_search *work,
                                         double energy)
{
    return energy <= work->energy ||
           nw_random_unit(&work->of.random) <
               exp((work->energy - energy) / work->temperature);
}

static void dragonfly_anneal_end(struct nw_dragonfly_search *work, bool keep)
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

static void dragonfly_anneal_try_swap(struct nw_dragonfly_search *work)
{
    int32_t n = work->of.slots->rank_count;
    int32_t a = (int32_t)nw_random_below(&work->of.random, (uint64_t)n);
    int32_t b = nw_division_draw_member(
        &work->of, work->of.part[nw_division_draw_peer(&work->of, a)]);
    double power = work->power, sum = work->sum, energy, before = work->energy;

    if (work->of.part[a] == work->of.part[b])
        return;
    dragonfly_anneal_add_change(work, a, b);
    dragonfly_anneal_add_change(work, b, a);
    for (int i = 0; i < work->touch_count; i++) {
        int pair = work->touch[i];
        double load = work->load[pair], extra = work->extra[pair];

        sum += extra;
        power += nw_division_eighth((load + extra) / work->scale) -
                 nw_division_eighth(load / work->scale);
    }
    energy = dragonfly_anneal_energy_of(work, power, sum);
    if (!dragonfly_anneal_is_accepted(work, energy)) {
        dragonfly_anneal_end(work, false);
        return;
    }
    dragonfly_anneal_end(work, true);
    nw_division_swap(&work->of, a, b);
    work->power = power;
    work->sum = sum;
    work->energy = energy;
    if (energy < before)
        dragonfly_anneal_keep_round(work);
}

/* --- rounds --- */

static double
dragonfly_anneal_first_temperature(const struct nw_dragonfly_search *work)
{
    const struct nw_slots *slots = work->of.slots;
    size_t edges = slots->row[slots->rank_count];
    double sum = 0;

    for (size_t t = 0; t < edges; t++)
        sum += slots->edge[t].out;
    return edges ? sum / (double)edges * work->slow[1] : 0;
}

static bool dragonfly_anneal_run_round(struct nw_dragonfly_search *work)
{
    struct nw_budget *budget = work->of.slots->problem->budget;
    uint64_t draws =
        (uint64_t)work->of.slots->rank_count * nw_tuned.dragonfly.draws_each;
    double cooling;

    draws = draws < nw_tuned.dragonfly.draws_max ? draws
                                                 : nw_tuned.dragonfly.draws_max;
    cooling = pow(0.01, nw_tuned.min_max_cut.slice / (double)draws);
    work->temperature = dragonfly_anneal_first_temperature(work);
    work->round.most = INFINITY;
    dragonfly_anneal_divide_at_random(work);
    for (uint64_t done = 0; done < draws;
         done += (uint64_t)nw_tuned.min_max_cut.slice) {
        for (int i = 0; i < nw_tuned.min_max_cut.slice; i++)
            dragonfly_anneal_try_swap(work);
        dragonfly_anneal_sum_up(work);
        work->temperature *= cooling;
        if (!nw_budget_spend(budget,
                             (uint64_t)(nw_tuned.min_max_cut.slice /
                                        nw_tuned.dragonfly.draws_per_step),
                             work->round.most))
            return false;
    }
    return true;
}

static bool dragonfly_anneal_is_less(const struct nw_dragonfly_division *a,
                                     const struct nw_dragonfly_division *b)
{
    if (a->most < b->most * (1 - 1e-9))
        return true;
    return a->most <= b->most * (1 + 1e-9) && a->mean < b->mean * (1 - 1e-9);
}

static bool dragonfly_anneal_is_like(const struct nw_dragonfly_division *a,
                                     const struct nw_dragonfly_division *b)
{
    return !isinf(b->most) && !dragonfly_anneal_is_less(a, b) &&
           !dragonfly_anneal_is_less(b, a);
}

/* The first one among equals. */
static void dragonfly_anneal_list_round(struct nw_dragonfly_search *work)
{
    for (int i = 0; i < NW_DRAGONFLY_PAIRS_KEPT; i++)
        if (dragonfly_anneal_is_like(&work->round, &work->best[i]))
            return;
    for (int i = 0; i < NW_DRAGONFLY_PAIRS_KEPT; i++)
        if (dragonfly_anneal_is_less(&work->round, &work->best[i])) {
            struct nw_dragonfly_division worse = work->best[i];

            work->best[i] = work->round;
            work->round = worse;
        }
}

/* --- the best of all --- */

bool nw_dragonfly_anneal(struct nw_dragonfly_search *work, double below)
{
    for (int i = 0;
         i < nw_tuned.dragonfly.rounds && dragonfly_anneal_run_round(work); i++)
        dragonfly_anneal_list_round(work);
    return work->best[0].most < below * (1 - 1e-9);
}
