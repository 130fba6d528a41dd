/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Digits of cells onto digits of seats, annealed. A run of digits may be
 * reflected as in a Gray code, on the side of the grid, so that steps stay
 * short where a digit overflows, and on the side of the machine, where a ring
 * of four is a square.
 */
#include "map/congestion/digit_embedding.h"
#include "map/common/budget.h"
#include "base/array.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MOST 32
#define WORK 4e6 /* looks at ties, all trials together */
#define TRIALS_MOST 6000
#define TRIALS_LEAST 100
#define LINKLESS_MORE 3 /* trials, in the same time */
#define ROUNDS 4
#define BEYOND 5.0 /* weight of what is beyond the limits */

/* A digit of the machine, the least of a seat's number first. */
struct digit {
    int32_t radix;
    bool reflected; /* where the next one up is odd */
};

/* A digit of a cell, the most of each dimension first. */
struct slot {
    int dim, digit; /* of the machine, by number */
    bool reflected; /* where what is above it in the dimension is odd */
};

struct way_to_fold {
    struct digit digit[DIGITS_MOST];
    struct slot slot[DIGITS_MOST];
};

struct folding {
    struct nw_seats *seats;
    struct nw_aim aim; /* what comes second is not looked at */
    struct nw_ledger ledger;
    struct nw_random random;
    struct nw_tiling tiling;
    int count, inside; /* digits; those of seats within a host */
    struct way_to_fold now, best;
    double energy, least;
};

/* --- what can be folded --- */

static bool is_even(const struct nw_seats *seats)
{
    int32_t hosts = seats->problem->host_count;
    int32_t width = seats->first[1] - seats->first[0];

    for (int32_t h = 0; h < hosts; h++)
        if (seats->first[h + 1] - seats->first[h] != width)
            return false;
    return hosts >= 2 && nw_seats_are_full(seats);
}

/* Without what a rank sends itself. */
static void list_bonds(const struct nw_seats *seats, struct nw_layout *layout)
{
    size_t at = 0;

    for (int32_t r = 0; r < layout->count; r++) {
        for (size_t t = seats->row[r]; t < seats->row[r + 1]; t++)
            if (seats->tie[t].peer != r)
                layout->bond[at++] = (struct nw_bond){
                    seats->tie[t].peer, seats->tie[t].out + seats->tie[t].in};
        layout->row[r + 1] = at;
    }
}

nw_status nw_seats_find_grid(const struct nw_seats *seats,
                             struct nw_tiling *tiling, bool *found)
{
    struct nw_layout layout = {.count = seats->rank_count};
    size_t n = (size_t)layout.count, cells = 1;
    nw_status status = nw_alloc(n + 1, sizeof *layout.row, &layout.row);

    if (!status)
        status = nw_alloc(seats->row[n], sizeof *layout.bond, &layout.bond);
    if (!status) {
        list_bonds(seats, &layout);
        status = nw_tiling_find(&layout, tiling, found);
    }
    for (int d = 0; *found && d < tiling->dims; d++)
        cells *= (size_t)tiling->size[d];
    *found = *found && cells == n;
    free(layout.row);
    free(layout.bond);
    return status;
}

static int32_t least_factor(int32_t n)
{
    int32_t p = 2;

    while (p * p <= n && n % p)
        p++;
    return p * p <= n ? p : n;
}

static bool cut_number(struct folding *work, int32_t number)
{
    for (; number > 1; number /= least_factor(number)) {
        if (work->count == DIGITS_MOST)
            return false;
        work->now.digit[work->count++].radix = least_factor(number);
    }
    return true;
}

/* Any digit of the machine of that size that no slot has. */
static int take_digit(const struct folding *work, int slots, int32_t radix)
{
    for (int i = 0; i < work->count; i++) {
        bool taken = work->now.digit[i].radix != radix;

        for (int k = 0; k < slots && !taken; k++)
            taken = work->now.slot[k].digit == i;
        if (!taken)
            return i;
    }
    return -1;
}

static bool cut_digits(struct folding *work)
{
    const struct nw_seats *seats = work->seats;
    int slots = 0;

    if (!cut_number(work, seats->first[1] - seats->first[0]))
        return false;
    work->inside = work->count;
    if (!cut_number(work, seats->problem->host_count))
        return false;
    for (int d = work->tiling.dims - 1; d >= 0; d--) {
        int32_t left = work->tiling.size[d];

        for (; left > 1; left /= least_factor(left)) {
            int digit = take_digit(work, slots, least_factor(left));

            if (digit < 0)
                return false;
            work->now.slot[slots++] = (struct slot){d, digit, false};
        }
    }
    return slots == work->count;
}

/* --- one folding --- */

/* The digits that a cell's coordinate along the slot's dimension has. */
static int read_dim(const struct folding *work, int k, int32_t at,
                    int32_t *digit)
{
    const struct way_to_fold *fold = &work->now;
    int dim = fold->slot[k].dim;
    int32_t above = 0, unit = work->tiling.size[dim];

    for (; k < work->count && fold->slot[k].dim == dim; k++) {
        const struct slot *slot = &fold->slot[k];
        int32_t radix = fold->digit[slot->digit].radix, d;

        unit /= radix;
        d = at / unit % radix;
        digit[slot->digit] = slot->reflected && above % 2 ? radix - 1 - d : d;
        above = above * radix + d;
    }
    return k;
}

static int32_t seat_of(const struct folding *work, int32_t rank)
{
    int32_t digit[DIGITS_MOST], seat = 0, above = 0;

    for (int k = 0; k < work->count;)
        k = read_dim(work, k,
                     nw_tiling_at(&work->tiling, rank, work->now.slot[k].dim),
                     digit);
    for (int i = work->count - 1; i >= 0; i--) {
        const struct digit *of = &work->now.digit[i];
        int32_t d = digit[i];

        if (of->reflected && above % 2)
            d = of->radix - 1 - d;
        seat = seat * of->radix + d;
        above = d;
    }
    return seat;
}

static void sit(struct folding *work)
{
    struct nw_seats *seats = work->seats;

    for (int32_t r = 0; r < seats->rank_count; r++) {
        seats->seat[r] = seat_of(work, r);
        seats->owner[seats->seat[r]] = r;
    }
    nw_ledger_recount(&work->ledger);
}

static double find_energy(const struct folding *work)
{
    const struct nw_aim *aim = &work->aim;
    const struct nw_ledger *ledger = &work->ledger;
    double first = nw_aim_smooth(ledger, aim->first, false), sum = 1;

    if (aim->hop_limit > 0)
        sum += BEYOND * fmax(0, ledger->now.hop_bytes / aim->hop_limit - 1);
    if (aim->most_limit > 0)
        sum += BEYOND * fmax(0, nw_ledger_most(ledger) / aim->most_limit - 1);
    return first * sum;
}

/* --- the search --- */

static void swap_slots(struct folding *work, int a, int b)
{
    struct slot *slot = work->now.slot;
    int digit = slot[a].digit;

    if (slot[a].dim != slot[b].dim &&
        work->now.digit[digit].radix != work->now.digit[slot[b].digit].radix)
        return;
    slot[a].digit = slot[b].digit;
    slot[b].digit = digit;
}

/* Two digits change places in the machine's numbers; who has them stays. */
static void swap_digits(struct folding *work, int i)
{
    struct digit *digit = work->now.digit, low = digit[i];

    if (i + 1 == work->inside || i + 1 == work->count)
        return;
    digit[i] = digit[i + 1];
    digit[i + 1] = low;
    for (int k = 0; k < work->count; k++) {
        int *mine = &work->now.slot[k].digit;

        *mine = *mine == i ? i + 1 : *mine == i + 1 ? i : *mine;
    }
}

static int draw(struct folding *work)
{
    return (int)nw_random_below(&work->random, (uint64_t)work->count);
}

static void change(struct folding *work)
{
    int at = draw(work);

    switch (nw_random_below(&work->random, 6)) {
    case 0:
        work->now.digit[at].reflected ^= true;
        break;
    case 1:
        work->now.slot[at].reflected ^= true;
        break;
    case 2:
        swap_digits(work, at);
        break;
    default:
        swap_slots(work, at, draw(work));
    }
}

static void try_one(struct folding *work, double heat)
{
    struct way_to_fold before = work->now;
    double energy;

    change(work);
    if (nw_random_below(&work->random, 2))
        change(work);
    sit(work);
    energy = find_energy(work);
    if (energy > work->energy &&
        nw_random_unit(&work->random) >=
            exp((work->energy - energy) / (heat * work->least))) {
        work->now = before;
        return;
    }
    work->energy = energy;
    if (energy < work->least) {
        work->least = energy;
        work->best = work->now;
    }
}

static uint64_t trials_of(const struct nw_seats *seats)
{
    double each = (double)seats->row[seats->rank_count] + seats->rank_count;
    double trials = WORK / each;

    if (trials < TRIALS_LEAST)
        return 0;
    return trials < TRIALS_MOST ? (uint64_t)trials : TRIALS_MOST;
}

static void search(struct folding *work, uint64_t trials)
{
    struct nw_budget *budget = work->seats->problem->budget;
    double cooling = pow(0.01, ROUNDS / (double)trials), heat = 0;

    sit(work);
    work->energy = work->least = find_energy(work);
    work->best = work->now;
    for (uint64_t i = 0; i < trials; i++) {
        heat = i % (trials / ROUNDS) ? heat * cooling : 0.2;
        try_one(work, heat);
        if (!nw_budget_go(budget, 1, work->least))
            break;
    }
    work->now = work->best;
    sit(work);
}

nw_status nw_seats_fold(struct nw_seats *seats, const struct nw_aim *aim,
                        bool *found)
{
    struct folding work = {.seats = seats, .aim = *aim};
    uint64_t trials = trials_of(seats);
    nw_status status;

    *found = false;
    if (!trials || !is_even(seats) || seats->problem->budget->stopped)
        return NW_OK;
    status = nw_seats_find_grid(seats, &work.tiling, found);
    *found = *found && cut_digits(&work);
    if (status || !*found)
        return status;
    nw_random_init(&work.random, seats->problem->options.seed);
    work.aim.second = work.aim.first;
    status = nw_ledger_init(&work.ledger, seats, nw_aim_wants(&work.aim));
    if (!status && !work.ledger.has_links)
        trials *= LINKLESS_MORE;
    if (!status)
        search(&work, trials);
    nw_ledger_fini(&work.ledger);
    return status;
}
