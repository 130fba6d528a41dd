/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes random divisions of the ranks into parts and anneals them. */
#include "map/groups/division.h"
#include "map/common/budget.h"
#include "map/common/parameters.h"
#include "map/congestion/digit_embedding.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool nw_division_applies(const struct nw_slots *slots,
                         const struct nw_objectives *objectives)
{
    return objectives->first == NW_OBJECTIVE_CONGESTION &&
           nw_slots_are_free(slots) &&
           slots->problem->host_count <= NW_SWITCH_GROUPS_HOSTS_MAX &&
           !slots->problem->budget->stopped;
}

nw_status nw_division_init(struct nw_division *division, struct nw_slots *slots)
{
    size_t n = (size_t)slots->core_count;

    *division = (struct nw_division){.slots = slots};
    nw_random_init(&division->random, slots->problem->options.seed);
    return NW_ALLOC_ALL(
        NW_ARRAY((size_t)slots->problem->host_count, division->groups.group),
        NW_ARRAY(n, division->part), NW_ARRAY(n, division->member),
        NW_ARRAY(n, division->at),
        NW_ARRAY((size_t)slots->rank_count, division->best.part));
}

void nw_division_fini(struct nw_division *division)
{
    NW_FREE_ALL(division->groups.group, division->part, division->member,
                division->at, division->best.part);
}

bool nw_best_division_is_less(const struct nw_best_division *a,
                              const struct nw_best_division *b)
{
    return a->least < b->least * (1 - 1e-9) ||
           (a->least <= b->least * (1 + 1e-9) &&
            a->total < b->total * (1 - 1e-9));
}

void nw_best_division_keep(struct nw_best_division *division,
                           const int32_t *part, const double *load,
                           int32_t ranks)
{
    struct nw_best_division now = {.least = 0};

    for (int32_t p = 0; p < division->parts; p++) {
        now.least = fmax(now.least, load[p]);
        now.total += load[p];
    }
    if (!nw_best_division_is_less(&now, division))
        return;
    division->least = now.least;
    division->total = now.total;
    memcpy(division->part, part, (size_t)ranks * sizeof *part);
}

/* Divides the members (ranks and free slots) at random into parts of the sizes
 * that groups.first gives. */
static void division_shuffle(struct nw_division *division)
{
    int32_t n = division->slots->core_count;

    for (int32_t i = 0; i < n; i++)
        division->member[i] = i;
    nw_random_shuffle(&division->random, division->member, (size_t)n);
    for (int32_t i = 0, p = 0; i < n; i++) {
        p += i == division->groups.first[p + 1];
        division->part[division->member[i]] = p;
        division->at[division->member[i]] = i;
    }
}

/* Returns a random peer of a member (rank or free slot); the member itself if
 * it has no messages. */
static int32_t division_draw_peer(struct nw_division *division, int32_t rank)
{
    const struct nw_directed_edge *edge;
    size_t edges = nw_division_edges(division, rank, &edge);

    return edges ? edge[nw_random_below(&division->random, edges)].peer : rank;
}

/* Returns a random member (rank or free slot) of a part. */
static int32_t division_draw_member(struct nw_division *division, int32_t part)
{
    const int32_t *first = division->groups.first + part;

    return division->member[first[0] + (int32_t)nw_random_below(
                                           &division->random,
                                           (uint64_t)(first[1] - first[0]))];
}

/* Swaps two members (ranks or free slots) of different parts. */
static void division_swap(struct nw_division *division, int32_t a, int32_t b)
{
    int32_t part = division->part[a], at = division->at[a];

    division->part[a] = division->part[b];
    division->part[b] = part;
    division->at[a] = division->at[b];
    division->at[b] = at;
    division->member[division->at[a]] = a;
    division->member[division->at[b]] = b;
}

/* Returns a random member of a part. Draws up to `tries` members until a
 * randomly drawn peer of the member is in another part; the last one is
 * returned in any case. */
static int32_t division_draw_at_boundary(struct nw_division *division,
                                         int32_t part, int tries)
{
    int32_t rank;

    do
        rank = division_draw_member(division, part);
    while (tries &&
           division->part[division_draw_peer(division, rank)] == part &&
           --tries);
    return rank;
}

/* --- energy --- */

/* Returns the energy: the approximate largest load plus the weighted mean load.
 * `power` is the sum of the eighth powers of load / scale, `sum` that of the
 * loads. */
static double division_energy_of(const struct nw_division *division,
                                 double power, double sum)
{
    return division->scale * nw_eighth_root(power) +
           division->annealing->mean * sum / division->annealing->loads;
}

/* Computes `power`, `sum` and `energy` of the division from its loads. */
static void division_sum_up(struct nw_division *division)
{
    division->power = division->sum = 0;
    for (int32_t i = 0; i < division->best.parts; i++) {
        division->power += nw_eighth_power(division->load[i] / division->scale);
        division->sum += division->load[i];
    }
    division->energy =
        division_energy_of(division, division->power, division->sum);
}

/* Replaces the present division by a random one and computes its loads and
 * energy. `scale` becomes its mean load. */
static void division_divide_at_random(struct nw_division *division)
{
    division_shuffle(division);
    memset(division->load, 0,
           (size_t)division->best.parts * sizeof *division->load);
    division->annealing->count(division->annealing->user);
    division->scale = 1;
    division_sum_up(division);
    division->scale = fmax(division->sum / division->annealing->loads, 1e-300);
    division_sum_up(division);
}

/* --- annealing --- */

/* Ends the trial of a swap: adds the changes to the loads if `keep` is set, and
 * clears them. */
static void division_end(struct nw_division *division, bool keep)
{
    for (int i = 0; i < division->touch_count; i++) {
        int32_t load = division->touch[i];

        if (keep)
            division->load[load] += division->more[load];
        division->more[load] = 0;
        division->touched[load] = false;
    }
    division->touch_count = 0;
}

/* Tries to swap members a and b and accepts the swap by the Metropolis
 * criterion. Keeps the new division if it is the best one so far. */
static void division_try_swap(struct nw_division *division, int32_t a,
                              int32_t b)
{
    double power = division->power, sum = division->sum, energy;
    bool keep;

    division->annealing->change(division->annealing->user, a, b);
    for (int i = 0; i < division->touch_count; i++) {
        double before = division->load[division->touch[i]];
        double more = division->more[division->touch[i]];

        power += nw_eighth_power((before + more) / division->scale) -
                 nw_eighth_power(before / division->scale);
        sum += more;
    }
    energy = division_energy_of(division, power, sum);
    keep = energy <= division->energy ||
           nw_random_unit(&division->random) <
               exp((division->energy - energy) / division->temperature);
    division_end(division, keep);
    if (!keep)
        return;
    division_swap(division, a, b);
    division->power = power;
    division->sum = sum;
    division->energy = energy;
    nw_best_division_keep(&division->best, division->part, division->load,
                          division->slots->rank_count);
}

/* Tries to swap a random rank with a member of the part to which one of the
 * rank's peers belongs. */
static void division_try_one(struct nw_division *division)
{
    int32_t n = division->slots->rank_count;
    int32_t a = (int32_t)nw_random_below(&division->random, (uint64_t)n);
    int32_t to = division->part[division_draw_peer(division, a)];

    if (division->part[a] != to)
        division_try_swap(
            division, a,
            division_draw_at_boundary(division, to,
                                      division->annealing->boundary_tries));
}

bool nw_division_anneal(struct nw_division *division,
                        const struct nw_division_annealing *annealing)
{
    int32_t slice = nw_tuned.min_max_cut.slice;
    double cooling = pow(0.01, slice / (double)annealing->draws);

    division->annealing = annealing;
    division->temperature = annealing->temperature;
    division_divide_at_random(division);
    for (uint64_t done = 0; done < annealing->draws; done += (uint64_t)slice) {
        for (int i = 0; i < slice; i++)
            division_try_one(division);
        division_sum_up(division);
        division->temperature *= cooling;
        if (!nw_budget_spend(
                division->slots->problem->budget,
                (uint64_t)(slice / nw_tuned.min_max_cut.draws_per_step)))
            return false;
    }
    return true;
}
