/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Annealing of a seating, then descent. In congestion this is refinement in
 * PTRAM's spirit: ranks whose messages cross the fullest links are moved, and
 * each trial changes only the loads that it touches. At last the second
 * objective is lowered among moves that leave the first where it is.
 */
#include "map/congestion/objectives.h"
#include "map/common/budget.h"
#include "base/array.h"
#include "base/random.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLICE 512        /* trials between looks at the budget */
#define SAMPLES 100      /* trials that set the temperature */
#define HOT_TRIES 6      /* draws of a rank that crosses a full link */
#define PEN_TRIES 12     /* draws of a move that stays within its pen */
#define SECOND 0.02      /* weight of the second objective beside the first */
#define BEYOND 5.0       /* weight of hop-bytes beyond the limit */
#define TRIALS_EACH 3000 /* of a rank, by default */
#define FAST_LESS 3000   /* a millisecond for 64 ranks, all told */
/* By links, trials for each rank beyond those 64: 0.02 s for 256 ranks. */
#define FAST_RANKS 64
#define FAST_EACH 200
#define FAST_MOST 200000
#define BRIEF_LESS 3
#define COOLS 0.002
#define ANNEALED 0.8 /* of the time of a round, where it is short */
#define TRIALS_MOST 2000000
#define NODES_LONGER 4
#define NODES_HOTTER 4 /* fewer of them, that depend on each other more */
/* Of what the fullest link has, less, where that is more than a message. */
#define SEEK_EACH 700 /* trials of a rank, in each round */
#define SEEK_MOST 400000
#define SEEK_FIRST 0.04
#define SEEK_LAST 0.009
#define SEEK_ROUNDS 16
#define SEEK_COOLS 0.01
/* The second objective alone, of what the first allows. */
#define SETTLE_SECOND 3.0
#define SETTLE_HEAT 0.02
#define SETTLE_HOT 0.5 /* with congestion to spare */
#define SETTLE_LONGER 10

struct search {
    struct nw_seats *seats;
    const struct nw_aim *aim;
    struct nw_budget *budget;
    struct nw_ledger ledger;
    struct nw_random random;
    int32_t *free_rank; /* [free_count] ranks that may move */
    int32_t free_count;
    int32_t *best; /* [2 x ranks] seats */
    double best_value[2];
    double best_beyond; /* the limits */
    double held;        /* s: what links may have, while settling */
    double base[2];     /* what energies are relative to */
    double energy;
    double highest; /* energy: what rounding is relative to */
    double heat;
    double second; /* weight of the second objective beside the first */
    bool routes;   /* the first objective looks at links */
};

/* --- figures --- */

/* What links have beyond the target, where there is one: below it they may
 * have anything, where a mean of powers would not let them. */
static double find_over(const struct search *work, bool after)
{
    const struct nw_ledger *ledger = &work->ledger;

    return (ledger->now.over + (after ? ledger->change.over : 0)) /
           ledger->target;
}

static double find_energy(const struct search *work, bool after)
{
    const struct nw_aim *aim = work->aim;
    double sum =
        work->ledger.target > 0
            ? find_over(work, after)
            : nw_aim_smooth(&work->ledger, aim->first, after) / work->base[0];

    sum += work->second * nw_aim_smooth(&work->ledger, aim->second, after) /
           work->base[1];
    if (aim->hop_limit > 0) {
        double hop_bytes =
            nw_aim_smooth(&work->ledger, NW_OBJECTIVE_HOP_BYTES, after);

        sum += BEYOND * fmax(0, hop_bytes / aim->hop_limit - 1);
    }
    if (aim->most_limit > 0) {
        double most =
            nw_aim_smooth(&work->ledger, NW_OBJECTIVE_CONGESTION, after);

        sum += BEYOND * fmax(0, most / aim->most_limit - 1);
    }
    return sum;
}

static bool is_less(double a, double b)
{
    return a < b - 1e-10 * fabs(b);
}

/* Beyond the limit counts as worse than anything within it. */
static double excess(const struct search *work)
{
    double near = work->aim->hop_limit;
    double most = fmax(work->aim->most_limit, work->held);
    double sum = 0;

    if (near > 0)
        sum += fmax(0, work->ledger.now.hop_bytes / near - 1);
    if (most > 0)
        sum += fmax(0, nw_ledger_most(&work->ledger) / most - 1);
    return sum;
}

/* Until one is within the limits, the nearest to them. */
static bool is_best(const struct search *work, double first, double second,
                    double beyond)
{
    if (beyond > 1e-9 || work->best_beyond > 1e-9)
        return beyond < work->best_beyond - 1e-9;
    if (is_less(first, work->best_value[0]))
        return true;
    return !is_less(work->best_value[0], first) &&
           is_less(second, work->best_value[1]);
}

static void keep_best(struct search *work)
{
    double first = nw_aim_value(&work->ledger, work->aim->first);
    double second = nw_aim_value(&work->ledger, work->aim->second);
    double beyond = excess(work);

    if (!is_best(work, first, second, beyond))
        return;
    work->best_value[0] = first;
    work->best_value[1] = second;
    work->best_beyond = beyond;
    memcpy(work->best, work->seats->seat,
           2 * (size_t)work->seats->rank_count * sizeof *work->best);
}

/* --- which rank --- */

static bool carries(const struct nw_ledger *ledger, uint32_t hop, double full)
{
    return ledger->link[hop].now * ledger->link[hop].slow >= full;
}

static bool is_full(struct nw_ledger *ledger, int32_t from, int32_t to,
                    double full)
{
    struct nw_ways *ways = &ledger->ways;
    struct nw_way way = nw_ways_find(ways, ways->nook[from], ways->nook[to]);

    for (uint32_t i = 0; i < way.count; i++)
        if (carries(ledger, way.hop[i], full))
            return true;
    for (uint32_t i = ways->own[from]; i < ways->own[from + 1]; i++)
        if (carries(ledger, ways->own_hop[i][0], full))
            return true;
    for (uint32_t i = ways->own[to]; i < ways->own[to + 1]; i++)
        if (carries(ledger, ways->own_hop[i][1], full))
            return true;
    return false;
}

static bool crosses_full_link(struct search *work, int32_t rank)
{
    struct nw_ledger *ledger = &work->ledger;
    const struct nw_seats *seats = work->seats;
    bool gpu =
        nw_seats_has_gpu(seats, rank) && nw_random_below(&work->random, 2);
    int32_t actor = gpu ? seats->rank_count + rank : rank;
    size_t ties = seats->row[actor + 1] - seats->row[actor];
    double full = 0.9 * nw_ledger_most(ledger);
    const struct nw_tie *tie;
    int32_t peer;

    if (!ties)
        return false;
    tie = &seats->tie[seats->row[actor] + nw_random_below(&work->random, ties)];
    peer = seats->seat[tie->peer];
    if (tie->out > 0)
        return is_full(ledger, seats->seat[actor], peer, full);
    return is_full(ledger, peer, seats->seat[actor], full);
}

static int32_t draw_rank(struct search *work)
{
    uint64_t count = (uint64_t)work->free_count;
    int32_t rank = work->free_rank[nw_random_below(&work->random, count)];

    if (!work->routes || nw_random_below(&work->random, 4) == 0)
        return rank;
    for (int i = 0; i < HOT_TRIES && !crosses_full_link(work, rank); i++)
        rank = work->free_rank[nw_random_below(&work->random, count)];
    return rank;
}

static bool leaves_pen(const struct nw_seats *seats, const struct nw_move *move)
{
    for (int k = 0; seats->pen && k < move->count; k++)
        if (seats->pen[seats->host[move->part[k].from]] !=
            seats->pen[seats->host[move->part[k].to]])
            return true;
    return false;
}

static bool draw_move(struct search *work, struct nw_move *move)
{
    int tries = work->seats->pen ? PEN_TRIES : 1;

    do
        nw_seats_draw(work->seats, &work->random, draw_rank(work), move);
    while (--tries && (!move->count || leaves_pen(work->seats, move)));
    return move->count && !leaves_pen(work->seats, move);
}

static bool draw(struct search *work, struct nw_move *move)
{
    if (!draw_move(work, move))
        return false;
    nw_ledger_try(&work->ledger, move);
    return true;
}

static void end(struct search *work, const struct nw_move *move, bool keep)
{
    nw_ledger_end(&work->ledger, keep);
    if (keep)
        nw_seats_apply(work->seats, move);
}

/* --- three ways of going on --- */

static void anneal_step(struct search *work)
{
    struct nw_move move;
    double energy, change;
    bool keep;

    if (!draw(work, &move))
        return;
    energy = find_energy(work, true);
    change = energy - work->energy;
    keep = change <= 0 || (work->heat > 0 && nw_random_unit(&work->random) <
                                                 exp(-change / work->heat));
    end(work, &move, keep);
    if (!keep)
        return;
    work->energy = energy;
    work->highest = fmax(work->highest, energy);
    if (change < 0)
        keep_best(work);
}

/* True where a trial leaves the first objective no worse than the best. */
static bool holds_first(const struct search *work)
{
    const struct nw_ledger *ledger = &work->ledger;
    double limit = work->best_value[0] * (1 + 1e-12);

    switch (work->aim->first) {
    case NW_OBJECTIVE_CONGESTION:
        return ledger->touched_most <= limit;
    case NW_OBJECTIVE_TIME: {
        double most = fmax(ledger->touched_most, nw_ledger_most(ledger));

        return most + (ledger->now.busy + ledger->change.busy +
                       ledger->now.latency + ledger->change.latency) /
                          (double)work->seats->problem->pattern->rank_count <=
               limit;
    }
    default:
        return nw_aim_smooth(ledger, work->aim->first, true) <= limit;
    }
}

static bool lowers_second(const struct search *work)
{
    enum nw_objective second = work->aim->second;

    return is_less(nw_aim_smooth(&work->ledger, second, true),
                   nw_aim_smooth(&work->ledger, second, false));
}

/* Most moves raise a sum, which is soon told. */
static void second_step(struct search *work)
{
    bool summed = work->aim->second == NW_OBJECTIVE_HOP_BYTES ||
                  work->aim->second == NW_OBJECTIVE_LATENCY;
    struct nw_move move;
    bool keep;

    if (!draw_move(work, &move))
        return;
    if (summed) {
        nw_ledger_weigh(&work->ledger, &move);
        if (!lowers_second(work))
            return;
    }
    nw_ledger_try(&work->ledger, &move);
    keep = lowers_second(work) && holds_first(work);
    end(work, &move, keep);
    if (keep)
        keep_best(work);
}

/* --- rounds --- */

static void sit_best(struct search *work)
{
    nw_seats_sit(work->seats, work->best);
    nw_ledger_recount(&work->ledger);
    work->energy = find_energy(work, false);
}

static double sample_heat(struct search *work)
{
    double sum = 0;
    int count = 0;

    for (int i = 0; i < SAMPLES; i++) {
        struct nw_move move;
        double change;

        if (!draw(work, &move))
            continue;
        change = find_energy(work, true) - work->energy;
        end(work, &move, false);
        if (change > 0) {
            sum += change;
            count++;
        }
    }
    return count ? sum / count : 0;
}

/* As cold as it is to be after so many steps, or where their time goes out
 * sooner, after so much of it. */
static void cool(struct search *work, double hot, double cooling, double done,
                 double slice, double steps, uint64_t begun)
{
    double gone = nw_budget_gone(work->budget, begun);

    if (gone > 0)
        work->heat = hot * pow(cooling, fmax(gone, done / steps));
    else
        work->heat *= pow(pow(cooling, 1 / steps), slice);
}

/* By so much in all; at most `part` of the time that is left. False where the
 * budget is at its end. */
static bool run_steps(struct search *work, uint64_t steps, double cooling,
                      double part, void (*step)(struct search *))
{
    struct nw_budget *budget = work->budget;
    uint64_t former = nw_budget_share(budget, part), begun = budget->seen_ns;
    double hot = work->heat;
    bool goes = true;

    for (uint64_t done = 0; done < steps && goes;) {
        uint64_t want = steps - done < SLICE ? steps - done : SLICE;
        uint64_t slice = nw_budget_slice(budget, want);

        for (uint64_t i = 0; i < slice; i++)
            step(work);
        done += slice;
        goes = nw_budget_go(budget, slice, work->best_value[0]);
        cool(work, hot, cooling, (double)done, (double)slice, (double)steps,
             begun);
    }
    nw_budget_end_share(budget, former);
    return !budget->stopped;
}

/* So many, or as many as there is time for. */
static double count_steps(const struct search *work, uint64_t steps,
                          double sample_ns, double part)
{
    const struct nw_budget *budget = work->budget;
    uint64_t due = budget->due_ns, now;

    if (!due || sample_ns <= 0)
        return (double)steps;
    now = budget->now();
    return now >= due
               ? 0
               : fmin((double)steps, part * (double)(due - now) / sample_ns);
}

/* Rank for rank hotter where there are more trials for each. */
static double first_heat(struct search *work, uint64_t steps, double part)
{
    bool timed = work->budget->due_ns > 0;
    uint64_t before = timed ? work->budget->now() : 0;
    double heat = sample_heat(work);
    double sample_ns =
        timed ? (double)(work->budget->now() - before) / SAMPLES : 0;
    double each = count_steps(work, steps, sample_ns, part) / work->free_count;

    if (work->seats->kin)
        each *= NODES_HOTTER;
    return heat * fmin(0.3, each / 8000);
}

static bool run_round(struct search *work, uint64_t steps, bool anneal)
{
    uint64_t most = anneal ? steps * 5 / 8 : 0;

    if (most) {
        work->heat = first_heat(work, most, ANNEALED);
        if (!run_steps(work, most, COOLS, ANNEALED, anneal_step))
            return false;
        sit_best(work);
    }
    work->heat = 0;
    if (!run_steps(work, (steps - most) / 3, 1, 0.5, anneal_step))
        return false;
    sit_best(work);
    return run_steps(work, (steps - most) * 2 / 3, 1, 1, second_step);
}

static uint64_t fast_steps(const struct search *work, uint64_t steps)
{
    int32_t beyond = work->free_count - FAST_RANKS;
    uint64_t more = beyond > 0 ? (uint64_t)beyond * FAST_EACH : 0;

    steps /= FAST_LESS;
    if (!work->routes)
        return steps;
    return steps + (more < FAST_MOST ? more : FAST_MOST);
}

static uint64_t round_steps(const struct search *work,
                            enum nw_search_depth depth)
{
    bool seeks = depth == NW_SEARCH_SEEK || depth == NW_SEARCH_SETTLE;
    uint64_t steps =
        (uint64_t)work->free_count * (seeks ? SEEK_EACH : TRIALS_EACH);
    uint64_t most = seeks ? SEEK_MOST : TRIALS_MOST;

    if (work->seats->kin)
        steps *= NODES_LONGER;

    if (steps > most)
        steps = most;
    if (depth == NW_SEARCH_BRIEF)
        steps /= BRIEF_LESS;
    if (work->budget->effort == NW_EFFORT_FAST)
        steps = fast_steps(work, steps);
    if (work->budget->effort == NW_EFFORT_STRONG)
        steps *= 8;
    return steps + 16;
}

/* --- a step less --- */

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Bytes that all messages are multiples of. */
static double find_grain(const struct nw_seats *seats)
{
    size_t ties = seats->row[2 * seats->rank_count];
    uint64_t grain = 0;

    for (size_t t = 0; t < ties && grain != 1; t++)
        grain = divisor((uint64_t)seats->tie[t].out, grain);
    return (double)grain;
}

/* s that make a difference on the fullest link. */
static double least_step(const struct search *work, double grain)
{
    const struct nw_ledger *ledger = &work->ledger;
    double most = nw_ledger_most(ledger), slow = 0;

    for (uint32_t i = 0; i < ledger->link_count; i++)
        if (carries(ledger, i, most))
            slow = ledger->link[i].slow;
    return grain * slow;
}

/* False where the budget is at its end. */
static bool seek_round(struct search *work, uint64_t steps, double target)
{
    bool goes;

    nw_ledger_seek(&work->ledger, target);
    work->energy = find_energy(work, false);
    work->heat = first_heat(work, steps, 1);
    goes = run_steps(work, steps, SEEK_COOLS, 1, anneal_step);
    sit_best(work);
    return goes;
}

/* Smaller steps where one was too much. */
static void seek(struct search *work, uint64_t steps)
{
    double grain = find_grain(work->seats), step = SEEK_FIRST;

    for (int round = 0; round < SEEK_ROUNDS && step >= SEEK_LAST; round++) {
        double before = work->best_value[0];
        double least = least_step(work, grain);
        double less = fmax(least, step * before);
        double target = before * (1 + 1e-12) - less;

        if (target <= 0 || !seek_round(work, steps, target))
            break;
        if (is_less(work->best_value[0], before))
            continue;
        if (less <= least)
            break;
        step /= 2;
    }
    nw_ledger_seek(&work->ledger, 0);
}

/* Again as long as there is time, and longer where nothing was found. */
static void seek_all(struct search *work, uint64_t steps)
{
    struct nw_budget *budget = work->budget;
    uint64_t before;

    do {
        double value = work->best_value[0];

        before = budget->steps;
        seek(work, steps);
        if (!is_less(work->best_value[0], value))
            steps *= 2;
    } while (budget->endless && !budget->stopped && budget->steps > before);
}

/* --- fewer hop-bytes --- */

/* Where links carry no more than they do, or than is said, whatever they
 * carry. */
static void settle(struct search *work, uint64_t steps)
{
    double at = work->aim->settle_at;

    work->held = fmax(work->best_value[0] * (1 + 1e-12), at);
    nw_ledger_seek(&work->ledger, work->held);
    work->second = SETTLE_SECOND;
    work->energy = find_energy(work, false);
    work->heat = sample_heat(work) * (at > 0 ? SETTLE_HOT : SETTLE_HEAT);
    run_steps(work, steps * SETTLE_LONGER, SEEK_COOLS, 1, anneal_step);
    sit_best(work);
    nw_ledger_seek(&work->ledger, 0);
    work->second = SECOND;
    work->held = 0;
}

/* A search by changes must end where costs from scratch do. */
static void check(struct search *work)
{
    double value = nw_aim_value(&work->ledger, work->aim->first);

    (void)value;
    assert(fabs(value - work->best_value[0]) <=
           1e-6 * fabs(value) + 1e-8 * work->highest * work->base[0]);
}

static void run(struct search *work, enum nw_search_depth depth)
{
    uint64_t steps = round_steps(work, depth);
    bool anneal = depth != NW_SEARCH_DESCENT;

    work->base[0] =
        fmax(nw_aim_smooth(&work->ledger, work->aim->first, false), 1e-300);
    work->base[1] =
        fmax(nw_aim_smooth(&work->ledger, work->aim->second, false), 1e-300);
    work->best_value[0] = nw_aim_value(&work->ledger, work->aim->first);
    work->best_value[1] = nw_aim_value(&work->ledger, work->aim->second);
    work->best_beyond = excess(work);
    work->energy = find_energy(work, false);
    if (!work->budget->stopped && depth == NW_SEARCH_SEEK)
        seek_all(work, steps);
    else if (!work->budget->stopped && depth == NW_SEARCH_SETTLE)
        settle(work, steps);
    else if (!work->budget->stopped)
        while (run_round(work, steps, anneal) && work->budget->endless &&
               nw_budget_gone(work->budget, 0) < 1)
            sit_best(work);
    sit_best(work);
    check(work);
}

static nw_status prepare(struct search *work)
{
    struct nw_seats *seats = work->seats;
    size_t n = (size_t)seats->rank_count;
    nw_status status =
        nw_ledger_init(&work->ledger, seats, nw_aim_wants(work->aim));

    if (!status)
        status = nw_alloc(n, sizeof *work->free_rank, &work->free_rank);
    if (!status)
        status = nw_alloc(2 * n, sizeof *work->best, &work->best);
    if (status)
        return status;
    memcpy(work->best, seats->seat, 2 * n * sizeof *work->best);
    for (int32_t r = 0; r < seats->rank_count; r++)
        if (!seats->locked[r])
            work->free_rank[work->free_count++] = r;
    return NW_OK;
}

nw_status nw_seats_search(struct nw_seats *seats, const struct nw_aim *aim,
                          enum nw_search_depth depth)
{
    struct search work = {.seats = seats,
                          .aim = aim,
                          .budget = seats->problem->budget,
                          .second = SECOND,
                          .routes = aim->first == NW_OBJECTIVE_CONGESTION ||
                                    aim->first == NW_OBJECTIVE_TIME};
    nw_status status = prepare(&work);

    nw_random_init(&work.random, seats->problem->options.seed);
    if (!status && work.free_count && seats->core_count > 1)
        run(&work, depth);
    nw_ledger_fini(&work.ledger);
    free(work.free_rank);
    free(work.best);
    return status;
}
