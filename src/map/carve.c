/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short rounds of annealing of a tree of knives: each cuts what is left to it
 * in two, across, or the cells nearest to a place in it from the others, and so
 * on down to single parts. Judged by a mean of 32nd powers of what the parts
 * send, which is nearly the most: a softer one prefers boxes with fuller
 * middles.
 */
#include "map/carve.h"
#include "map/budget.h"
#include "base/array.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORK 1.5e8 /* looks at cells, all trials together */
#define TRIALS 1000
#define ROUNDS_MOST 200
#define LOOKS_A_STEP 128 /* they are that much cheaper than trials of seats */
#define STRETCH 1.2      /* of a knife, the logarithm at most */
#define TIE 0.05         /* of a cell, what the order counts */
#define MEAN 0.02        /* weight of the mean beside the most */
#define HOT 0.03         /* of the energy */
#define COLD 0.02        /* of the first heat */

struct knife {
    double share;             /* of the parts, that come first */
    bool across;              /* by the order of the cells alone */
    double at[NW_TILE_DIMS];  /* place, 0 to 1 from end to end of what is cut */
    double far[NW_TILE_DIMS]; /* of a cell in that dimension */
    int lead;                 /* dimension that comes first in the order */
    uint32_t turned;          /* dimensions whose order is downwards */
};

/* Cells of some parts, to be cut by so many knives less one. */
struct piece {
    struct chip *chip;
    const struct knife *knife;
    int32_t parts, first; /* the first one's number */
};

struct chip {
    double far;
    int32_t rank;
};

struct carving {
    const struct nw_seats *seats;
    const struct nw_tiling *tiling;
    struct nw_division *best;
    struct nw_random random;
    int32_t ranks;
    struct knife *knife; /* [parts - 1], what comes first before the rest */
    struct chip *chip;   /* [ranks] */
    int32_t *part;       /* [ranks] */
    double *leaving;     /* [parts] */
};

void nw_division_leaving(const struct nw_seats *seats, const int32_t *part,
                         int32_t parts, double *leaving)
{
    memset(leaving, 0, (size_t)parts * sizeof *leaving);
    for (int32_t r = 0; r < seats->rank_count; r++)
        for (size_t t = seats->row[r]; t < seats->row[r + 1]; t++)
            if (part[seats->tie[t].peer] != part[r])
                leaving[part[r]] += seats->tie[t].out + seats->tie[t].in;
}

void nw_division_keep(struct nw_division *division, const int32_t *part,
                      const double *leaving, int32_t ranks)
{
    double most = 0, total = 0;

    for (int32_t p = 0; p < division->parts; p++) {
        most = fmax(most, leaving[p]);
        total += leaving[p];
    }
    if (most > division->least * (1 + 1e-9) ||
        (most > division->least * (1 - 1e-9) &&
         total >= division->total * (1 - 1e-9)))
        return;
    division->least = most;
    division->total = total;
    memcpy(division->part, part, (size_t)ranks * sizeof *part);
}

/* --- one carving --- */

static double order_of(const struct carving *work, const struct knife *knife,
                       int32_t rank)
{
    const struct nw_tiling *tiling = work->tiling;
    double order = 0;

    for (int i = 0; i < tiling->dims; i++) {
        int d = (knife->lead + i) % tiling->dims;
        int32_t at = nw_tiling_at(tiling, rank, d), size = tiling->size[d];

        order = order * size + (knife->turned >> d & 1 ? size - 1 - at : at);
    }
    return order * TIE / work->ranks;
}

static void find_centre(const struct carving *work, const struct piece *piece,
                        int32_t count, double *centre)
{
    for (int d = 0; d < work->tiling->dims; d++) {
        int32_t low = work->tiling->size[d], high = 0;

        for (int32_t i = 0; i < count; i++) {
            int32_t at = nw_tiling_at(work->tiling, piece->chip[i].rank, d);

            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        centre[d] = low + (high - low) * piece->knife->at[d];
    }
}

static void measure(const struct carving *work, const struct piece *piece,
                    int32_t count)
{
    const struct knife *knife = piece->knife;
    const struct nw_tiling *tiling = work->tiling;
    double centre[NW_TILE_DIMS];

    if (!knife->across)
        find_centre(work, piece, count, centre);
    for (int32_t i = 0; i < count; i++) {
        int32_t rank = piece->chip[i].rank;
        double far = 0;

        for (int d = 0; !knife->across && d < tiling->dims; d++)
            far = fmax(far, fabs(nw_tiling_at(tiling, rank, d) - centre[d]) *
                                knife->far[d]);
        piece->chip[i].far = far + order_of(work, knife, rank);
    }
}

static bool is_before(struct chip a, struct chip b)
{
    return a.far < b.far || (a.far == b.far && a.rank < b.rank);
}

/* The nearest of the chips come first, so many of them. */
static void select_chips(struct chip *chip, int32_t count, int32_t want)
{
    int32_t low = 0, high = count - 1;

    while (low < high) {
        struct chip middle = chip[low + (high - low) / 2];
        int32_t i = low, j = high;

        while (i <= j) {
            while (is_before(chip[i], middle))
                i++;
            while (is_before(middle, chip[j]))
                j--;
            if (i <= j) {
                struct chip other = chip[i];

                chip[i++] = chip[j];
                chip[j--] = other;
            }
        }
        if (want <= j)
            high = j;
        else if (want >= i)
            low = i;
        else
            return;
    }
}

static void carve(struct carving *work, const struct piece *piece)
{
    int32_t size = work->ranks / work->best->parts;
    int32_t count = piece->parts * size;
    struct piece one = *piece, rest = *piece;

    if (piece->parts == 1) {
        for (int32_t i = 0; i < size; i++)
            work->part[piece->chip[i].rank] = piece->first;
        return;
    }
    one.parts = 1 + (int32_t)(piece->knife->share * (piece->parts - 1));
    one.knife++;
    rest.parts -= one.parts;
    rest.first += one.parts;
    rest.knife += one.parts;
    rest.chip += one.parts * size;
    measure(work, piece, count);
    select_chips(piece->chip, count, one.parts * size);
    carve(work, &one);
    carve(work, &rest);
}

static void carve_all(struct carving *work)
{
    for (int32_t r = 0; r < work->ranks; r++)
        work->chip[r].rank = r;
    carve(work, &(struct piece){work->chip, work->knife, work->best->parts, 0});
}

static double find_energy(struct carving *work)
{
    int32_t parts = work->best->parts;
    double most = 1e-300, total = 0, power = 0;

    carve_all(work);
    nw_division_leaving(work->seats, work->part, parts, work->leaving);
    for (int32_t p = 0; p < parts; p++) {
        most = fmax(most, work->leaving[p]);
        total += work->leaving[p];
    }
    for (int32_t p = 0; p < parts; p++) {
        double x = work->leaving[p] / most;

        for (int i = 0; i < 5; i++)
            x *= x;
        power += x;
    }
    for (int i = 0; i < 5; i++)
        power = sqrt(power);
    return most * power + MEAN * total / parts;
}

/* --- the search --- */

static int32_t draw(struct carving *work, int32_t below)
{
    return (int32_t)nw_random_below(&work->random, (uint64_t)below);
}

static double draw_stretch(struct carving *work, double most)
{
    return exp((2 * nw_random_unit(&work->random) - 1) * most);
}

static void draw_order(struct carving *work, struct knife *knife)
{
    knife->lead = draw(work, work->tiling->dims);
    knife->turned = (uint32_t)draw(work, 1 << work->tiling->dims);
}

/* An end, the middle, or anywhere. */
static double draw_place(struct carving *work)
{
    int32_t where = draw(work, 4);

    return where < 3 ? where * 0.5 : nw_random_unit(&work->random);
}

/* Half of the parts, or any number of them. */
static double draw_share(struct carving *work)
{
    return draw(work, 2) ? 0.499 : nw_random_unit(&work->random);
}

static void draw_knife(struct carving *work, struct knife *knife)
{
    for (int d = 0; d < work->tiling->dims; d++) {
        knife->at[d] = draw_place(work);
        knife->far[d] = draw_stretch(work, STRETCH);
    }
    knife->share = draw_share(work);
    knife->across = draw(work, 2);
    draw_order(work, knife);
}

static void change(struct carving *work)
{
    struct knife *knife = &work->knife[draw(work, work->best->parts - 1)];
    int d = draw(work, work->tiling->dims);

    switch (draw(work, 6)) {
    case 0:
        draw_knife(work, knife);
        break;
    case 1:
        knife->share = draw_share(work);
        break;
    case 2:
        draw_order(work, knife);
        break;
    case 3:
        knife->far[d] *= draw_stretch(work, STRETCH / 2);
        break;
    case 4:
        knife->across = !knife->across;
        break;
    default:
        knife->at[d] = draw_place(work);
    }
}

/* Looks at cells in a carving: once a level of knives, and once at the end. */
static double count_looks(const struct carving *work)
{
    return work->ranks * (1 + log2(work->best->parts));
}

static bool run_round(struct carving *work, struct knife *kept)
{
    struct nw_budget *budget = work->seats->problem->budget;
    size_t size = (size_t)work->best->parts * sizeof *kept;
    uint64_t steps = 1 + (uint64_t)count_looks(work) / LOOKS_A_STEP;
    double energy, heat, cooling = pow(COLD, 1.0 / TRIALS);

    for (int32_t p = 0; p < work->best->parts - 1; p++)
        draw_knife(work, &work->knife[p]);
    energy = find_energy(work);
    heat = HOT * energy;
    for (int i = 0; i < TRIALS; i++, heat *= cooling) {
        double after;

        memcpy(kept, work->knife, size);
        change(work);
        after = find_energy(work);
        nw_division_keep(work->best, work->part, work->leaving, work->ranks);
        if (after <= energy ||
            nw_random_unit(&work->random) < exp((energy - after) / heat))
            energy = after;
        else
            memcpy(work->knife, kept, size);
        if (!nw_budget_go(budget, steps, work->best->least))
            return false;
    }
    return true;
}

static nw_status alloc(struct carving *work, struct knife **kept)
{
    size_t parts = (size_t)work->best->parts, n = (size_t)work->ranks;
    nw_status status = nw_alloc(2 * parts, sizeof *work->knife, &work->knife);

    *kept = work->knife + parts;
    if (!status)
        status = nw_alloc(n, sizeof *work->chip, &work->chip);
    if (!status)
        status = nw_alloc(n, sizeof *work->part, &work->part);
    if (!status)
        status = nw_alloc(parts, sizeof *work->leaving, &work->leaving);
    return status;
}

nw_status nw_carve(const struct nw_seats *seats, const struct nw_tiling *tiling,
                   struct nw_division *division)
{
    struct carving work = {.seats = seats,
                           .tiling = tiling,
                           .best = division,
                           .ranks = seats->rank_count};
    double rounds = WORK / TRIALS / count_looks(&work);
    struct knife *kept;
    nw_status status = alloc(&work, &kept);

    nw_random_init(&work.random, seats->problem->options.seed);
    rounds = fmin(rounds, ROUNDS_MOST);
    for (int i = 0; !status && i < rounds && run_round(&work, kept); i++)
        ;
    free(work.knife);
    free(work.chip);
    free(work.part);
    free(work.leaving);
    return status;
}
