/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Anneals which prime digit of a grid's cell numbers becomes which prime digit
 * of a machine's slot numbers. Digits may be reflected as in a Gray code. A
 * reflected digit of a cell keeps neighbouring cells near each other when a
 * lower digit overflows. A reflected digit of a slot makes a ring of four slots
 * a square of two by two.
 */
#include "map/congestion/digit_embedding.h"
#include "map/common/budget.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 32

/* A digit of a slot's number; digit 0 is the least significant one. */
struct digits_digit {
    int32_t radix;
    bool reflected; /* counts downwards if the next higher digit is odd */
};

/* A digit of one coordinate of a grid's cell. In digits_embedding.position, the
 * digits of a dimension follow each other, the most significant one first. */
struct digits_position {
    int dim, digit; /* dimension of the grid; index in digits_embedding.digit of
                       the slot digit that this cell digit becomes */
    bool reflected; /* counts downwards if the number formed by the higher
                       digits of the coordinate is odd */
};

/* An embedding: the digits of slot numbers, and for each cell digit the slot
 * digit that it becomes. */
struct digits_embedding {
    struct digits_digit digit[DIGITS_MAX];
    struct digits_position position[DIGITS_MAX];
};

/* State of one call of nw_slots_embed_digits. */
struct digits_work {
    struct nw_slots *slots;
    struct nw_objectives objectives; /* objectives of the search; the second is
                                        ignored */
    struct nw_link_loads loads;
    struct nw_random random;
    struct nw_stencil stencil;
    int count, inside; /* number of digits of a slot number; the first `inside`
                          digits number the slots within a host */
    struct digits_embedding now, best;
    double energy, least; /* energy of `now` and of `best` */
};

/* --- conditions, and the digits --- */

/* Returns true if there are at least two hosts with the same number of slots
 * each, every slot has a rank and every rank may move. */
static bool digits_is_even(const struct nw_slots *slots)
{
    int32_t hosts = slots->problem->host_count;
    int32_t width = slots->first[1] - slots->first[0];

    for (int32_t h = 0; h < hosts; h++)
        if (slots->first[h + 1] - slots->first[h] != width)
            return false;
    return hosts >= 2 && nw_slots_are_free(slots) &&
           slots->core_count == slots->rank_count;
}

/* The edges between different ranks are listed without direction, with the
 * bytes of both directions. */
nw_status nw_slots_find_grid(const struct nw_slots *slots,
                             struct nw_stencil *stencil, bool *found)
{
    struct nw_assignment assignment = {.count = slots->rank_count};
    size_t n = (size_t)assignment.count, cells = 1, at = 0;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(n + 1, assignment.row),
                                    NW_ARRAY(slots->row[n], assignment.edge));

    for (int32_t r = 0; !status && r < assignment.count; r++) {
        for (size_t t = slots->row[r]; t < slots->row[r + 1]; t++)
            if (slots->edge[t].peer != r)
                assignment.edge[at++] = (struct nw_undirected_edge){
                    slots->edge[t].peer,
                    slots->edge[t].out + slots->edge[t].in};
        assignment.row[r + 1] = at;
    }
    if (!status)
        status = nw_stencil_find(&assignment, stencil, found);
    for (int d = 0; *found && d < stencil->dims; d++)
        cells *= (size_t)stencil->size[d];
    *found = *found && cells == n;
    free(assignment.row);
    free(assignment.edge);
    return status;
}

/* Returns the smallest prime factor of n. */
static int32_t digits_least_factor(int32_t n)
{
    int32_t p = 2;

    while (p * p <= n && n % p)
        p++;
    return p * p <= n ? p : n;
}

/* Appends the prime factors of `number` to the slot digits. Returns false if
 * there are too many digits. */
static bool digits_cut_number(struct digits_work *work, int32_t number)
{
    for (; number > 1; number /= digits_least_factor(number)) {
        if (work->count == DIGITS_MAX)
            return false;
        work->now.digit[work->count++].radix = digits_least_factor(number);
    }
    return true;
}

/* Returns a slot digit with this radix that is not assigned to any of the first
 * `positions` cell digits; -1 if all such digits are assigned. */
static int digits_take_digit(const struct digits_work *work, int positions,
                             int32_t radix)
{
    for (int i = 0; i < work->count; i++) {
        bool taken = work->now.digit[i].radix != radix;

        for (int k = 0; k < positions && !taken; k++)
            taken = work->now.position[k].digit == i;
        if (!taken)
            return i;
    }
    return -1;
}

/* Splits the number of slots of a host, the number of hosts and the sizes of
 * the grid into prime factors, the digits. Assigns each cell digit to a slot
 * digit of the same radix. Returns false if the radixes do not match or there
 * are too many digits. */
static bool digits_cut_digits(struct digits_work *work)
{
    const struct nw_slots *slots = work->slots;
    int positions = 0;

    if (!digits_cut_number(work, slots->first[1] - slots->first[0]))
        return false;
    work->inside = work->count;
    if (!digits_cut_number(work, slots->problem->host_count))
        return false;
    for (int d = work->stencil.dims - 1; d >= 0; d--) {
        int32_t left = work->stencil.size[d];

        for (; left > 1; left /= digits_least_factor(left)) {
            int digit =
                digits_take_digit(work, positions, digits_least_factor(left));

            if (digit < 0)
                return false;
            work->now.position[positions++] =
                (struct digits_position){d, digit, false};
        }
    }
    return positions == work->count;
}

/* --- one digit embedding --- */

/* Writes to digit[] the slot digits that follow from coordinate `at` of a cell.
 * `k` is the index in `position` of the first digit of the coordinate's
 * dimension. Returns that of the next dimension. */
static int digits_read_dim(const struct digits_work *work, int k, int32_t at,
                           int32_t *digit)
{
    const struct digits_embedding *embedding = &work->now;
    int dim = embedding->position[k].dim;
    int32_t above = 0, unit = work->stencil.size[dim];

    for (; k < work->count && embedding->position[k].dim == dim; k++) {
        const struct digits_position *position = &embedding->position[k];
        int32_t radix = embedding->digit[position->digit].radix, d;

        unit /= radix;
        d = at / unit % radix;
        digit[position->digit] =
            position->reflected && above % 2 ? radix - 1 - d : d;
        above = above * radix + d;
    }
    return k;
}

/* Returns the slot of a rank in the present embedding. */
static int32_t digits_slot_of(const struct digits_work *work, int32_t rank)
{
    int32_t digit[DIGITS_MAX], slot = 0, above = 0;

    for (int k = 0; k < work->count;)
        k = digits_read_dim(work, k,
                            nw_stencil_coordinate(&work->stencil, rank,
                                                  work->now.position[k].dim),
                            digit);
    for (int i = work->count - 1; i >= 0; i--) {
        const struct digits_digit *of = &work->now.digit[i];
        int32_t d = digit[i];

        if (of->reflected && above % 2)
            d = of->radix - 1 - d;
        slot = slot * of->radix + d;
        above = d;
    }
    return slot;
}

/* Assigns all ranks by the present embedding and computes the cost. */
static void digits_assign(struct digits_work *work)
{
    struct nw_slots *slots = work->slots;

    for (int32_t r = 0; r < slots->rank_count; r++) {
        slots->slot[r] = digits_slot_of(work, r);
        slots->owner[slots->slot[r]] = r;
    }
    nw_link_loads_recount(&work->loads);
}

/* Returns the first objective (nw_objectives_smooth), increased by a penalty
 * for exceeding the caps on hop-bytes and congestion. */
static double digits_find_energy(const struct digits_work *work)
{
    const struct nw_objectives *objectives = &work->objectives;
    const struct nw_link_loads *loads = &work->loads;
    double penalty = 1;

    penalty +=
        nw_tuned.congestion.beyond *
        nw_objectives_excess(loads->now.hop_bytes, objectives->hop_limit);
    penalty +=
        nw_tuned.congestion.beyond *
        nw_objectives_excess(nw_link_loads_max(loads), objectives->most_limit);
    return nw_objectives_smooth(loads, objectives->first, false) * penalty;
}

/* --- the search --- */

/* Exchanges the slot digits that cell digits a and b become. Does nothing if a
 * and b belong to different dimensions and the slot digits differ in radix. */
static void digits_swap_positions(struct digits_work *work, int a, int b)
{
    struct digits_position *position = work->now.position;
    int digit = position[a].digit;

    if (position[a].dim != position[b].dim &&
        work->now.digit[digit].radix !=
            work->now.digit[position[b].digit].radix)
        return;
    position[a].digit = position[b].digit;
    position[b].digit = digit;
}

/* Exchanges slot digits i and i + 1 in significance. The cell digits stay
 * assigned to the same slot digits. Does nothing if the two digits are not both
 * within a host or both between hosts. */
static void digits_swap_digits(struct digits_work *work, int i)
{
    struct digits_digit *digit = work->now.digit, low = digit[i];

    if (i + 1 == work->inside || i + 1 == work->count)
        return;
    digit[i] = digit[i + 1];
    digit[i + 1] = low;
    for (int k = 0; k < work->count; k++) {
        int *mine = &work->now.position[k].digit;

        *mine = *mine == i ? i + 1 : *mine == i + 1 ? i : *mine;
    }
}

static int digits_draw(struct digits_work *work)
{
    return (int)nw_random_below(&work->random, (uint64_t)work->count);
}

/* Makes one random change to the embedding: reflects a digit or exchanges two
 * digits. */
static void digits_change(struct digits_work *work)
{
    int at = digits_draw(work);

    switch (nw_random_below(&work->random, 6)) {
    case 0:
        work->now.digit[at].reflected ^= true;
        break;
    case 1:
        work->now.position[at].reflected ^= true;
        break;
    case 2:
        digits_swap_digits(work, at);
        break;
    default:
        digits_swap_positions(work, at, digits_draw(work));
    }
}

/* Applies one or two random changes to the embedding and accepts them by the
 * Metropolis criterion. `temperature` is relative to the least energy so far.
 */
static void digits_try_one(struct digits_work *work, double temperature)
{
    struct digits_embedding before = work->now;
    double energy;

    digits_change(work);
    if (nw_random_below(&work->random, 2))
        digits_change(work);
    digits_assign(work);
    energy = digits_find_energy(work);
    if (energy > work->energy &&
        nw_random_unit(&work->random) >=
            exp((work->energy - energy) / (temperature * work->least))) {
        work->now = before;
        return;
    }
    work->energy = energy;
    if (energy < work->least) {
        work->least = energy;
        work->best = work->now;
    }
}

/* Returns the number of embeddings to try, fewer for patterns with many edges;
 * 0 if there would be fewer than trials_min. */
static uint64_t digits_trials_of(const struct nw_slots *slots)
{
    double each = (double)slots->row[slots->rank_count] + slots->rank_count;
    double trials = nw_tuned.digit_embedding.work / each;

    if (trials < nw_tuned.digit_embedding.trials_min)
        return 0;
    return trials < (double)nw_tuned.digit_embedding.trials_max
               ? (uint64_t)trials
               : nw_tuned.digit_embedding.trials_max;
}

/* Anneals in several rounds, each from the same temperature down, and assigns
 * the ranks by the best embedding. */
static void digits_search(struct digits_work *work, uint64_t trials)
{
    struct nw_budget *budget = work->slots->problem->budget;
    double cooling = pow(0.01, (double)nw_tuned.digit_embedding.rounds /
                                   (double)trials),
           temperature = 0;

    digits_assign(work);
    work->energy = work->least = digits_find_energy(work);
    work->best = work->now;
    for (uint64_t i = 0; i < trials; i++) {
        temperature = i % (trials / nw_tuned.digit_embedding.rounds)
                          ? temperature * cooling
                          : 0.2;
        digits_try_one(work, temperature);
        if (!nw_budget_spend(budget, 1))
            break;
    }
    work->now = work->best;
    digits_assign(work);
}

nw_status nw_slots_embed_digits(struct nw_slots *slots,
                                const struct nw_objectives *objectives,
                                bool *found)
{
    struct digits_work work = {.slots = slots, .objectives = *objectives};
    uint64_t trials = digits_trials_of(slots);
    nw_status status;

    *found = false;
    if (!trials || !digits_is_even(slots) || slots->problem->budget->stopped)
        return NW_OK;
    status = nw_slots_find_grid(slots, &work.stencil, found);
    *found = *found && digits_cut_digits(&work);
    if (status || !*found)
        return status;
    nw_random_init(&work.random, slots->problem->options.seed);
    work.objectives.second = work.objectives.first;
    status = nw_link_loads_init(&work.loads, slots,
                                nw_objectives_wants(&work.objectives));
    if (!status && !work.loads.has_links)
        trials *= nw_tuned.digit_embedding.linkless_more;
    if (!status)
        digits_search(&work, trials);
    nw_link_loads_fini(&work.loads);
    return status;
}
