/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated annealing of an assignment of ranks to slots, then descent. For
 * congestion this resembles the refinement of PTRAM: it mostly moves ranks
 * whose messages cross the most loaded links, and a trial updates only the
 * loads of the links that it changes. In the end the second objective is
 * lowered by moves that do not worsen the first one.
 */
#include "map/congestion/anneal_internal.h"
#include "map/common/budget.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- energy --- */

/* Returns the energy that annealing lowers: the sum of the first objective, the
 * weighted second objective and a penalty for exceeding the caps on hop-bytes
 * and congestion. Both objectives are divided by their initial values. If a
 * target is given, the first term is instead the excess of each link over it,
 * summed and divided by it. Unlike a mean of powers of the loads, that ignores
 * links below the target. `after`: as if the move on trial were made. */
static double congestion_find_energy(const struct congestion_search *work,
                                     bool after)
{
    const struct nw_objectives *objectives = work->objectives;
    const struct nw_link_loads *loads = &work->loads;
    double sum;

    if (loads->target > 0)
        sum = (loads->now.over + (after ? loads->change.over : 0)) /
              loads->target;
    else
        sum = nw_objectives_smooth(loads, objectives->first, after) /
              work->base[0];
    sum += work->second *
           nw_objectives_smooth(loads, objectives->second, after) /
           work->base[1];
    sum += nw_tuned.congestion.beyond *
           nw_objectives_excess(
               nw_objectives_smooth(loads, NW_OBJECTIVE_HOP_BYTES, after),
               objectives->hop_limit);
    if (objectives->most_limit > 0)
        sum += nw_tuned.congestion.beyond *
               nw_objectives_excess(
                   nw_objectives_smooth(loads, NW_OBJECTIVE_CONGESTION, after),
                   objectives->most_limit);
    return sum;
}

static bool congestion_is_less(double a, double b)
{
    return a < b - 1e-10 * fabs(b);
}

/* Returns how far the present assignment exceeds the caps on hop-bytes and on
 * congestion: both excesses as fractions of their caps, summed; 0 if the
 * assignment is within both caps. */
static double congestion_excess(const struct congestion_search *work)
{
    return nw_objectives_excess(work->loads.now.hop_bytes,
                                work->objectives->hop_limit) +
           nw_objectives_excess(nw_link_loads_max(&work->loads),
                                fmax(work->objectives->most_limit, work->held));
}

/* Returns true if an assignment with the objective values `first` and `second`
 * is better than the best one so far. Its congestion_excess is `beyond`; if
 * that or the excess of the best one is not 0, the smaller excess decides. */
static bool congestion_is_best(const struct congestion_search *work,
                               double first, double second, double beyond)
{
    if (beyond > 1e-9 || work->best_beyond > 1e-9)
        return beyond < work->best_beyond - 1e-9;
    if (congestion_is_less(first, work->best_value[0]))
        return true;
    return !congestion_is_less(work->best_value[0], first) &&
           congestion_is_less(second, work->best_value[1]);
}

/* Stores the present assignment if it is the best one so far. */
static void congestion_keep_best(struct congestion_search *work)
{
    double first = nw_objectives_value(&work->loads, work->objectives->first);
    double second = nw_objectives_value(&work->loads, work->objectives->second);
    double beyond = congestion_excess(work);

    if (!congestion_is_best(work, first, second, beyond))
        return;
    work->best_value[0] = first;
    work->best_value[1] = second;
    work->best_beyond = beyond;
    memcpy(work->best, work->slots->slot,
           2 * (size_t)work->slots->rank_count * sizeof *work->best);
}

/* --- steps of the searches --- */

/* Tries one random move and accepts it by the Metropolis criterion; at
 * temperature 0, only if the energy does not rise. */
static void congestion_anneal_step(struct congestion_search *work)
{
    struct nw_move move;
    double energy, change;
    bool keep;

    if (!nw_congestion_draw_move(work, &move))
        return;
    nw_link_loads_try(&work->loads, &move);
    energy = congestion_find_energy(work, true);
    change = energy - work->energy;
    keep = change <= 0 ||
           (work->temperature > 0 &&
            nw_random_unit(&work->random) < exp(-change / work->temperature));
    nw_link_loads_end(&work->loads, keep);
    if (!keep)
        return;
    nw_slots_apply(work->slots, &move);
    work->energy = energy;
    work->highest = fmax(work->highest, energy);
    if (change < 0)
        congestion_keep_best(work);
}

/* Returns true if the move on trial would leave the first objective no worse
 * than that of the best assignment so far. */
static bool congestion_holds_first(const struct congestion_search *work)
{
    const struct nw_link_loads *loads = &work->loads;
    double limit = work->best_value[0] * (1 + 1e-12);

    switch (work->objectives->first) {
    case NW_OBJECTIVE_CONGESTION:
        return loads->touched_most <= limit;
    case NW_OBJECTIVE_TIME: {
        double most = fmax(loads->touched_most, nw_link_loads_max(loads));

        return most + (loads->now.busy + loads->change.busy +
                       loads->now.latency + loads->change.latency) /
                          (double)work->slots->problem->pattern->rank_count <=
               limit;
    }
    default:
        return nw_objectives_smooth(loads, work->objectives->first, true) <=
               limit;
    }
}

/* Returns true if the move on trial would lower the second objective. */
static bool congestion_lowers_second(const struct congestion_search *work)
{
    enum nw_objective second = work->objectives->second;

    return congestion_is_less(
        nw_objectives_smooth(&work->loads, second, true),
        nw_objectives_smooth(&work->loads, second, false));
}

/* Tries one random move and accepts it if it lowers the second objective
 * without worsening the first one. If the second objective is a sum over
 * messages (hop-bytes, latency), its change is computed first, without link
 * loads, because it rejects most moves. */
static void congestion_second_step(struct congestion_search *work)
{
    bool summed = work->objectives->second == NW_OBJECTIVE_HOP_BYTES ||
                  work->objectives->second == NW_OBJECTIVE_LATENCY;
    struct nw_move move;
    bool keep;

    if (!nw_congestion_draw_move(work, &move))
        return;
    if (summed) {
        nw_link_loads_try_distance(&work->loads, &move);
        if (!congestion_lowers_second(work))
            return;
    }
    nw_link_loads_try(&work->loads, &move);
    keep = congestion_lowers_second(work) && congestion_holds_first(work);
    nw_link_loads_end(&work->loads, keep);
    if (!keep)
        return;
    nw_slots_apply(work->slots, &move);
    congestion_keep_best(work);
}

/* --- rounds --- */

/* Returns to the best assignment so far and recomputes loads and energy. */
static void congestion_restore_best(struct congestion_search *work)
{
    nw_slots_assign(work->slots, work->best);
    nw_link_loads_recount(&work->loads);
    work->energy = congestion_find_energy(work, false);
}

/* Returns the mean increase of energy over the random moves that increase it,
 * without making them; 0 if no drawn move increases it. */
static double congestion_sample_temperature(struct congestion_search *work)
{
    double sum = 0;
    int count = 0;

    for (int i = 0; i < nw_tuned.congestion.samples; i++) {
        struct nw_move move;
        double change;

        if (!nw_congestion_draw_move(work, &move))
            continue;
        nw_link_loads_try(&work->loads, &move);
        change = congestion_find_energy(work, true) - work->energy;
        nw_link_loads_end(&work->loads, false);
        if (change > 0) {
            sum += change;
            count++;
        }
    }
    return count ? sum / count : 0;
}

/* Calls `step` up to `steps` times. Over these calls, the temperature falls by
 * the factor `cooling`. The calls end earlier once they have used the fraction
 * `part` of the search's remaining share of --time; the temperature then falls
 * with the used fraction of that time if it is larger than that of the steps.
 * Returns false if the budget of the whole call has ended. */
static bool congestion_run_steps(struct congestion_search *work, uint64_t steps,
                                 double cooling, double part,
                                 void (*step)(struct congestion_search *))
{
    struct nw_budget *budget = work->budget;
    uint64_t former = nw_budget_share(budget, part), begun = budget->seen_ns;
    double hot = work->temperature;
    bool goes = true;

    for (uint64_t done = 0; done < steps && goes;) {
        uint64_t want = steps - done < nw_tuned.congestion.slice
                            ? steps - done
                            : nw_tuned.congestion.slice;
        uint64_t slice = nw_budget_slice(budget, want);
        double gone;

        for (uint64_t i = 0; i < slice; i++)
            step(work);
        done += slice;
        goes = nw_budget_spend(budget, slice);
        gone = nw_budget_elapsed(budget, begun);
        if (gone > 0)
            work->temperature =
                hot * pow(cooling, fmax(gone, (double)done / (double)steps));
        else
            work->temperature *=
                pow(pow(cooling, 1 / (double)steps), (double)slice);
    }
    nw_budget_end_share(budget, former);
    return !budget->stopped;
}

/* Returns the initial temperature: the mean increase of energy of sampled
 * moves, times a factor of at most 0.3 that grows with the steps per rank.
 * These are `steps`, or fewer if so many steps, each as long as a sampled move,
 * take longer than the fraction `part` of the time that is left. */
static double congestion_first_temperature(struct congestion_search *work,
                                           uint64_t steps, double part)
{
    uint64_t due = work->budget->due_ns, now;
    uint64_t before = due ? work->budget->now() : 0;
    double temperature = congestion_sample_temperature(work);
    double each = (double)steps;

    if (due && (now = work->budget->now()) > before)
        each = now >= due ? 0
                          : fmin(each, part * (double)(due - now) *
                                           nw_tuned.congestion.samples /
                                           (double)(now - before));
    each /= work->free_count;
    if (work->slots->node_class)
        each *= (double)nw_tuned.congestion.nodes_more * work->slots->width;
    return temperature * fmin(0.3, each / 8000);
}

/* Runs one round: annealing for five eighths of `steps` (if `anneal` is set),
 * then descent of the energy, then descent of the second objective alone.
 * Returns false if the budget ended during the round. */
static bool congestion_run_round(struct congestion_search *work, uint64_t steps,
                                 bool anneal)
{
    uint64_t most = anneal ? steps * 5 / 8 : 0;

    if (most) {
        work->temperature = congestion_first_temperature(
            work, most, nw_tuned.congestion.annealed_share);
        if (!congestion_run_steps(work, most, nw_tuned.congestion.cooling,
                                  nw_tuned.congestion.annealed_share,
                                  congestion_anneal_step))
            return false;
        congestion_restore_best(work);
    }
    work->temperature = 0;
    if (!congestion_run_steps(work, (steps - most) / 3, 1, 0.5,
                              congestion_anneal_step))
        return false;
    congestion_restore_best(work);
    return congestion_run_steps(work, (steps - most) * 2 / 3, 1, 1,
                                congestion_second_step);
}

/* Returns the number of steps of a round with effort "fast"; `steps` is that of
 * the default effort. If the first objective depends on link loads, problems
 * with many ranks get some more. */
static uint64_t congestion_fast_steps(const struct congestion_search *work,
                                      uint64_t steps)
{
    int32_t beyond = work->free_count - nw_tuned.congestion.fast_ranks;
    uint64_t more =
        beyond > 0 ? (uint64_t)beyond * nw_tuned.congestion.fast_each : 0;

    steps /= nw_tuned.congestion.trials_each;
    if (!work->routes)
        return steps;
    return steps + (more < nw_tuned.congestion.fast_max
                        ? more
                        : nw_tuned.congestion.fast_max);
}

/* Returns the number of steps of one round. A trial that swaps nodes with
 * several NICs moves two endpoints for each NIC, so the limit of the steps is
 * divided by the number of NICs. */
static uint64_t congestion_round_steps(const struct congestion_search *work,
                                       enum nw_search_depth depth)
{
    bool seeks = depth == NW_SEARCH_TIGHTEN || depth == NW_SEARCH_CAP_SECOND;
    uint64_t steps = (uint64_t)work->free_count *
                     (seeks ? nw_tuned.congestion.tighten_trials_each
                            : nw_tuned.congestion.trials_each);
    uint64_t most = seeks ? nw_tuned.congestion.tighten_trials_max
                          : nw_tuned.congestion.trials_max;

    if (work->slots->node_class) {
        steps *= nw_tuned.congestion.nodes_more;
        most /= (uint64_t)work->slots->width;
    }
    if (steps > most)
        steps = most;
    if (depth == NW_SEARCH_BRIEF)
        steps /= nw_tuned.congestion.brief_less;
    if (work->budget->effort == NW_EFFORT_FAST)
        steps = congestion_fast_steps(work, steps);
    steps *= nw_tuned.effort.steps_times[work->budget->effort];
    return steps + 16;
}

/* --- tightening: a lower and lower target for congestion --- */

/* Returns the greatest common divisor of the bytes of all edges' traffic. */
static double congestion_find_grain(const struct nw_slots *slots)
{
    size_t edges = slots->row[2 * slots->rank_count];
    double grain = 0;

    for (size_t t = 0; t < edges && grain != 1; t++)
        for (double bytes = slots->edge[t].out, rest; bytes > 0; bytes = rest) {
            rest = fmod(grain, bytes);
            grain = bytes;
        }
    return grain;
}

/* Returns the smallest possible change, in seconds, of the congestion of the
 * most loaded link, if all loads are multiples of `grain` bytes. */
static double congestion_least_step(const struct congestion_search *work,
                                    double grain)
{
    const struct nw_link_loads *loads = &work->loads;
    double most = nw_link_loads_max(loads), slow = 0;

    for (uint32_t i = 0; i < loads->link_count; i++)
        if (nw_link_loads_congestion(loads, i) >= most)
            slow = loads->link[i].slow;
    return grain * slow;
}

/* Anneals towards a congestion of at most `target` seconds on every link and
 * leaves the best assignment. Returns false if the budget ended. */
static bool congestion_tighten_round(struct congestion_search *work,
                                     uint64_t steps, double target)
{
    bool goes;

    nw_link_loads_set_target(&work->loads, target);
    work->energy = congestion_find_energy(work, false);
    work->temperature = congestion_first_temperature(work, steps, 1);
    goes =
        congestion_run_steps(work, steps, nw_tuned.congestion.tighten_cooling,
                             1, congestion_anneal_step);
    congestion_restore_best(work);
    return goes;
}

/* Anneals, `steps` steps each time, towards targets for congestion that are a
 * fraction below that of the best assignment. After a success the fraction
 * stays the same; after a failure it is halved. */
static void congestion_tighten(struct congestion_search *work, uint64_t steps)
{
    double grain = congestion_find_grain(work->slots),
           step = nw_tuned.congestion.tighten_first;

    for (int round = 0; round < nw_tuned.congestion.tighten_rounds &&
                        step >= nw_tuned.congestion.tighten_last;
         round++) {
        double before = work->best_value[0];
        double least = congestion_least_step(work, grain);
        double less = fmax(least, step * before);
        double target = before * (1 + 1e-12) - less;

        if (target <= 0 || !congestion_tighten_round(work, steps, target))
            break;
        if (congestion_is_less(work->best_value[0], before))
            continue;
        if (less <= least)
            break;
        step /= 2;
    }
    nw_link_loads_set_target(&work->loads, 0);
}

/* Calls congestion_tighten once, or with --time or --steps until they end or a
 * call takes no step. Doubles `steps` after a call that improved nothing. */
static void congestion_tighten_all(struct congestion_search *work,
                                   uint64_t steps)
{
    struct nw_budget *budget = work->budget;
    uint64_t before;

    do {
        double value = work->best_value[0];

        before = budget->steps;
        congestion_tighten(work, steps);
        if (!congestion_is_less(work->best_value[0], value))
            steps *= 2;
    } while (budget->anytime && !budget->stopped && budget->steps > before);
}

/* --- the second objective under a cap of congestion --- */

/* Anneals the second objective while the congestion of every link is capped: at
 * the congestion of the best assignment, or at settle_at if that is larger.
 * Below this cap, links may carry any load. */
static void congestion_anneal_second(struct congestion_search *work,
                                     uint64_t steps)
{
    double at = work->objectives->settle_at;

    work->held = fmax(work->best_value[0] * (1 + 1e-12), at);
    nw_link_loads_set_target(&work->loads, work->held);
    work->second = nw_tuned.congestion.cap_second_weight;
    work->energy = congestion_find_energy(work, false);
    work->temperature = congestion_sample_temperature(work) *
                        (at > 0 ? nw_tuned.congestion.cap_second_hot
                                : nw_tuned.congestion.cap_second_temperature);
    congestion_run_steps(work, steps * nw_tuned.congestion.cap_second_longer,
                         nw_tuned.congestion.tighten_cooling, 1,
                         congestion_anneal_step);
    congestion_restore_best(work);
    nw_link_loads_set_target(&work->loads, 0);
    work->second = nw_tuned.congestion.second;
    work->held = 0;
}

/* Runs the search of the given depth; `slots` becomes the best assignment. */
static void congestion_run(struct congestion_search *work,
                           enum nw_search_depth depth)
{
    uint64_t steps = congestion_round_steps(work, depth);
    bool anneal = depth != NW_SEARCH_DESCENT;
    const enum nw_objective objective[2] = {work->objectives->first,
                                            work->objectives->second};

    for (int i = 0; i < 2; i++) {
        work->base[i] = fmax(
            nw_objectives_smooth(&work->loads, objective[i], false), 1e-300);
        work->best_value[i] = nw_objectives_value(&work->loads, objective[i]);
    }
    work->best_beyond = congestion_excess(work);
    work->energy = congestion_find_energy(work, false);
    if (!work->budget->stopped && depth == NW_SEARCH_TIGHTEN)
        congestion_tighten_all(work, steps);
    else if (!work->budget->stopped && depth == NW_SEARCH_CAP_SECOND)
        congestion_anneal_second(work, steps);
    else if (!work->budget->stopped)
        while (congestion_run_round(work, steps, anneal) &&
               work->budget->anytime && nw_budget_elapsed(work->budget, 0) < 1)
            congestion_restore_best(work);
    congestion_restore_best(work);
    /* Updating the value move by move makes only rounding errors. */
    assert(fabs(nw_objectives_value(&work->loads, objective[0]) -
                work->best_value[0]) <=
           1e-6 * fabs(work->best_value[0]) +
               1e-8 * work->highest * work->base[0]);
}

/* Allocates the arrays, computes the cost of the initial assignment and lists
 * the ranks that may move. */
static nw_status congestion_prepare(struct congestion_search *work)
{
    struct nw_slots *slots = work->slots;
    size_t n = (size_t)slots->rank_count;
    nw_status status = nw_link_loads_init(
        &work->loads, slots, nw_objectives_wants(work->objectives));

    if (!status)
        status = NW_ALLOC_ALL(NW_ARRAY(n, work->free_rank),
                              NW_ARRAY(2 * n, work->best));
    if (status)
        return status;
    memcpy(work->best, slots->slot, 2 * n * sizeof *work->best);
    for (int32_t r = 0; r < slots->rank_count; r++)
        if (!slots->locked[r])
            work->free_rank[work->free_count++] = r;
    return NW_OK;
}

nw_status nw_slots_anneal(struct nw_slots *slots,
                          const struct nw_objectives *objectives,
                          enum nw_search_depth depth)
{
    struct congestion_search work = {
        .slots = slots,
        .objectives = objectives,
        .budget = slots->problem->budget,
        .second = nw_tuned.congestion.second,
        .routes = objectives->first == NW_OBJECTIVE_CONGESTION ||
                  objectives->first == NW_OBJECTIVE_TIME};
    nw_status status = congestion_prepare(&work);

    nw_random_init(&work.random, slots->problem->options.seed);
    if (!status && work.free_count && slots->core_count > 1)
        congestion_run(&work, depth);
    nw_link_loads_fini(&work.loads);
    free(work.free_rank);
    free(work.best);
    return status;
}
