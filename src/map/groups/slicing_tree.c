/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short rounds of annealing of a tree of knives: each cuts what is left to it
 * in two, across, or the cells nearest to a place in it from the others, and so
 * on down to single parts. Judged by a mean of 32nd powers of what the parts
 * send, which is nearly the most: a softer one prefers boxes with fuller
 * middles.
 */
#include "map/groups/slicing_tree.h"
#include "map/common/budget.h"
#include "base/array.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORK 1.5e8 /* looks at cells, all trials together */
#define TRIALS 1000
#define ROUNDS_MOST 200
#define VAIN 64          /* of them that find nothing, where parts are alike */
#define LOOKS_A_STEP 128 /* they are that much cheaper than trials of seats */
#define STRETCH 1.2      /* of a knife, the logarithm at most */
#define TIE 0.05         /* of a cell, what the order counts */
#define MEAN 0.02        /* weight of the mean beside the most */
#define HOT 0.03         /* of the energy */
#define COLD 0.02        /* of the first heat */
#define RESIZES 6        /* one trial of so many, where sizes are not alike */

struct knife {
    double share;             /* of the parts, that come first */
    bool across;              /* by the order of the cells alone */
    double at[NW_TILE_DIMS];  /* place, 0 to 1 from end to end of what is cut */
    double far[NW_TILE_DIMS]; /* of a cell in that dimension */
    int lead;                 /* dimension that comes first in the order */
    uint32_t turned;          /* dimensions whose order is downwards */
};

/* The parts as they are cut off one after the other. */
struct sizes {
    int32_t first[NW_PENS_MOST + 1]; /* chips of each from first[i] */
    int32_t name[NW_PENS_MOST];
};

/* Cells of some parts, to be cut by so many knives less one. */
struct piece {
    struct chip *chip;
    const struct knife *knife;
    int32_t parts, first; /* index of the first */
};

struct chip {
    double far;
    int32_t rank;
};

/* What a piece was before it was cut anew. */
struct remains {
    struct chip *chip; /* [ranks] */
    int32_t *part;     /* [ranks] of these, then and now */
    int32_t *now;
    double *leaving; /* [parts] */
};

struct carving {
    const struct nw_seats *seats;
    const struct nw_tiling *tiling;
    const int32_t *room; /* [parts + 1] seats of part p: room[p] .. */
    struct nw_division *best;
    struct nw_random random;
    struct sizes sizes;
    bool unlike; /* in size, or free seats are left */
    int32_t ranks;
    struct knife *knife; /* [parts - 1], what comes first before the rest */
    int32_t (*cell)[NW_TILE_DIMS]; /* [ranks] */
    struct chip *chip;             /* [ranks] */
    int32_t *part;                 /* [ranks] */
    double *leaving;               /* [parts] */
    struct remains before;
};

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

/* Cells by their coordinates, which count this much each. */
struct order {
    double first, each[NW_TILE_DIMS];
};

static struct order order_of(const struct carving *work,
                             const struct knife *knife)
{
    const struct nw_tiling *tiling = work->tiling;
    struct order order = {.first = 0};
    double unit = TIE / work->ranks;

    for (int i = tiling->dims - 1; i >= 0; i--) {
        int d = (knife->lead + i) % tiling->dims;
        bool turned = knife->turned >> d & 1;

        order.each[d] = turned ? -unit : unit;
        order.first += turned ? unit * (tiling->size[d] - 1) : 0;
        unit *= tiling->size[d];
    }
    return order;
}

static void find_centre(const struct carving *work, const struct piece *piece,
                        int32_t count, double *centre)
{
    for (int d = 0; d < work->tiling->dims; d++) {
        int32_t low = work->tiling->size[d], high = 0;

        for (int32_t i = 0; i < count; i++) {
            int32_t at = work->cell[piece->chip[i].rank][d];

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
    struct order order = order_of(work, knife);
    double centre[NW_TILE_DIMS];

    if (!knife->across)
        find_centre(work, piece, count, centre);
    for (int32_t i = 0; i < count; i++) {
        const int32_t *cell = work->cell[piece->chip[i].rank];
        double far = 0, tie = order.first;

        for (int d = 0; d < work->tiling->dims; d++) {
            double away =
                knife->across ? 0 : fabs(cell[d] - centre[d]) * knife->far[d];

            far = away > far ? away : far;
            tie += cell[d] * order.each[d];
        }
        piece->chip[i].far = far + tie;
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

static int32_t count_chips(const struct carving *work,
                           const struct piece *piece)
{
    return work->sizes.first[piece->first + piece->parts] -
           work->sizes.first[piece->first];
}

/* The two that its knife cuts it into. */
static void halve(const struct carving *work, const struct piece *piece,
                  struct piece half[2])
{
    int32_t parts = 1 + (int32_t)(piece->knife->share * (piece->parts - 1));

    half[0] = half[1] = *piece;
    half[0].parts = parts;
    half[0].knife++;
    half[1].parts -= parts;
    half[1].first += parts;
    half[1].knife += parts;
    half[1].chip += count_chips(work, &half[0]);
}

static void carve(struct carving *work, const struct piece *piece)
{
    int32_t count = count_chips(work, piece);
    struct piece half[2];

    if (piece->parts == 1) {
        for (int32_t i = 0; i < count; i++)
            work->part[piece->chip[i].rank] = work->sizes.name[piece->first];
        return;
    }
    halve(work, piece, half);
    measure(work, piece, count);
    select_chips(piece->chip, count, count_chips(work, &half[0]));
    carve(work, &half[0]);
    carve(work, &half[1]);
}

static struct piece whole(const struct carving *work)
{
    return (struct piece){work->chip, work->knife, work->best->parts, 0};
}

/* Bytes that leave each part, both ways. */
static void count_leaving(struct carving *work)
{
    const struct nw_seats *seats = work->seats;
    const int32_t *part = work->part;

    memset(work->leaving, 0, (size_t)work->best->parts * sizeof *work->leaving);
    for (int32_t r = 0; r < seats->rank_count; r++)
        for (size_t t = seats->row[r]; t < seats->row[r + 1]; t++)
            if (part[seats->tie[t].peer] != part[r])
                work->leaving[part[r]] += seats->tie[t].out + seats->tie[t].in;
}

static void carve_all(struct carving *work)
{
    struct piece all = whole(work);

    for (int32_t r = 0; r < work->ranks; r++)
        work->chip[r].rank = r;
    carve(work, &all);
    count_leaving(work);
}

/* --- one piece anew --- */

/* What that knife cuts; nothing else changes with it. */
static struct piece find_piece(const struct carving *work,
                               const struct knife *knife)
{
    struct piece piece = whole(work), half[2];

    while (piece.knife != knife) {
        halve(work, &piece, half);
        piece = half[knife >= half[1].knife];
    }
    return piece;
}

static void move_rank(struct carving *work, int32_t rank, int32_t to)
{
    const struct nw_seats *seats = work->seats;
    int32_t from = work->part[rank];

    for (size_t t = seats->row[rank]; t < seats->row[rank + 1]; t++) {
        const struct nw_tie *tie = &seats->tie[t];
        double bytes = tie->out + tie->in;
        int32_t there = work->part[tie->peer];

        if (tie->peer == rank)
            continue;
        work->leaving[from] += there == from ? bytes : -bytes;
        work->leaving[to] += there == to ? -bytes : bytes;
    }
    work->part[rank] = to;
}

static void recarve(struct carving *work, const struct piece *piece)
{
    int32_t count = count_chips(work, piece);
    struct remains *before = &work->before;

    memcpy(before->chip, piece->chip, (size_t)count * sizeof *before->chip);
    memcpy(before->leaving, work->leaving,
           (size_t)work->best->parts * sizeof *before->leaving);
    for (int32_t i = 0; i < count; i++)
        before->part[i] = work->part[before->chip[i].rank];
    carve(work, piece);
    for (int32_t i = 0; i < count; i++) {
        int32_t *part = &work->part[before->chip[i].rank];

        before->now[i] = *part;
        *part = before->part[i];
    }
    for (int32_t i = 0; i < count; i++)
        if (before->now[i] != before->part[i])
            move_rank(work, before->chip[i].rank, before->now[i]);
}

static void restore(struct carving *work, const struct piece *piece)
{
    int32_t count = count_chips(work, piece);
    const struct remains *before = &work->before;

    memcpy(piece->chip, before->chip, (size_t)count * sizeof *before->chip);
    memcpy(work->leaving, before->leaving,
           (size_t)work->best->parts * sizeof *before->leaving);
    for (int32_t i = 0; i < count; i++)
        work->part[before->chip[i].rank] = before->part[i];
}

static double find_energy(const struct carving *work)
{
    int32_t parts = work->best->parts;
    double most = 1e-300, total = 0, power = 0;

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

static void change(struct carving *work, struct knife *knife)
{
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

/* --- how large which part is --- */

static int32_t room_of(const struct carving *work, int32_t part)
{
    return work->room[part + 1] - work->room[part];
}

/* Takes what is free out of the parts: from one after the other all, or from
 * each its share. */
static void leave_free(struct carving *work, int32_t *size)
{
    int32_t parts = work->best->parts, seats = work->room[parts];
    int32_t rest = seats - work->ranks;
    bool shared = draw(work, 2);

    for (int32_t i = 0, left = seats; i < parts; i++) {
        int32_t room = size[i];
        int32_t most = rest < room ? rest : room;
        int32_t less = shared && left > room
                           ? (int32_t)((int64_t)rest * room / left)
                           : most;

        left -= room;
        size[i] -= less;
        rest -= less;
    }
}

static void draw_sizes(struct carving *work)
{
    int32_t parts = work->best->parts, size[NW_PENS_MOST];
    struct sizes *sizes = &work->sizes;

    for (int32_t i = 0; i < parts; i++)
        sizes->name[i] = i;
    if (work->unlike)
        nw_random_shuffle(&work->random, sizes->name, (size_t)parts);
    for (int32_t i = 0; i < parts; i++)
        size[i] = room_of(work, sizes->name[i]);
    if (work->room[parts] > work->ranks)
        leave_free(work, size);
    for (int32_t i = 0; i < parts; i++)
        sizes->first[i + 1] = sizes->first[i] + size[i];
}

static int32_t size_of(const struct sizes *sizes, int32_t i)
{
    return sizes->first[i + 1] - sizes->first[i];
}

/* Two parts change places, or some cells go over from one to the other. */
static void change_sizes(struct carving *work)
{
    struct sizes *sizes = &work->sizes;
    int32_t parts = work->best->parts, size[NW_PENS_MOST];
    int32_t a = draw(work, parts), b = draw(work, parts);
    int32_t free_there = room_of(work, sizes->name[b]) - size_of(sizes, b);
    int32_t most =
        size_of(sizes, a) < free_there ? size_of(sizes, a) : free_there;

    for (int32_t i = 0; i < parts; i++)
        size[i] = size_of(sizes, i);
    if (a != b && most > 0 && draw(work, 2)) {
        int32_t more = draw(work, 2) ? most : 1 + draw(work, most);

        size[a] -= more;
        size[b] += more;
    } else {
        int32_t name = sizes->name[a], cells = size[a];

        size[a] = size[b];
        size[b] = cells;
        sizes->name[a] = sizes->name[b];
        sizes->name[b] = name;
    }
    for (int32_t i = 0; i < parts; i++)
        sizes->first[i + 1] = sizes->first[i] + size[i];
}

/* Looks at cells in a carving: once a level of knives, and once at the end. */
static double count_looks(const struct carving *work)
{
    return work->ranks * (1 + log2(work->best->parts));
}

/* The energy after one more trial. */
static double try_one(struct carving *work, double energy, double heat)
{
    bool resizes = work->unlike && draw(work, RESIZES) == 0;
    struct knife *knife =
        &work->knife[resizes ? 0 : draw(work, work->best->parts - 1)];
    struct piece piece = find_piece(work, knife);
    struct knife kept = *knife;
    struct sizes sizes = work->sizes;
    double after;

    if (resizes)
        change_sizes(work);
    else
        change(work, knife);
    recarve(work, &piece);
    after = find_energy(work);
    nw_division_keep(work->best, work->part, work->leaving, work->ranks);
    if (after <= energy ||
        nw_random_unit(&work->random) < exp((energy - after) / heat))
        return after;
    *knife = kept;
    work->sizes = sizes;
    restore(work, &piece);
    return energy;
}

static bool run_round(struct carving *work)
{
    struct nw_budget *budget = work->seats->problem->budget;
    uint64_t steps = 1 + (uint64_t)count_looks(work) / LOOKS_A_STEP;
    double energy, heat, cooling = pow(COLD, 1.0 / TRIALS);

    draw_sizes(work);
    for (int32_t p = 0; p < work->best->parts - 1; p++)
        draw_knife(work, &work->knife[p]);
    carve_all(work);
    energy = find_energy(work);
    heat = HOT * energy;
    for (int i = 0; i < TRIALS; i++, heat *= cooling) {
        energy = try_one(work, energy, heat);
        if (!nw_budget_go(budget, steps, work->best->least))
            return false;
    }
    return true;
}

static nw_status alloc_remains(struct carving *work)
{
    size_t n = (size_t)work->ranks, parts = (size_t)work->best->parts;
    struct remains *before = &work->before;
    nw_status status = nw_alloc(n, sizeof *before->chip, &before->chip);

    if (!status)
        status = nw_alloc(n, sizeof *before->part, &before->part);
    if (!status)
        status = nw_alloc(n, sizeof *before->now, &before->now);
    if (!status)
        status = nw_alloc(parts, sizeof *before->leaving, &before->leaving);
    return status;
}

static nw_status alloc(struct carving *work)
{
    size_t parts = (size_t)work->best->parts, n = (size_t)work->ranks;
    nw_status status = nw_alloc(parts, sizeof *work->knife, &work->knife);

    if (!status)
        status = nw_alloc(n, sizeof *work->cell, &work->cell);
    if (!status)
        status = nw_alloc(n, sizeof *work->chip, &work->chip);
    if (!status)
        status = nw_alloc(n, sizeof *work->part, &work->part);
    if (!status)
        status = nw_alloc(parts, sizeof *work->leaving, &work->leaving);
    return status ? status : alloc_remains(work);
}

static void release(struct carving *work)
{
    free(work->knife);
    free(work->cell);
    free(work->chip);
    free(work->part);
    free(work->leaving);
    free(work->before.chip);
    free(work->before.part);
    free(work->before.now);
    free(work->before.leaving);
}

static void run_rounds(struct carving *work, double rounds)
{
    const struct nw_division *best = work->best;

    for (int i = 0, vain = 0; i < rounds && (vain < VAIN || work->unlike);
         i++) {
        double least = best->least, total = best->total;

        if (!run_round(work))
            return;
        vain = best->least < least || best->total < total ? 0 : vain + 1;
    }
}

static bool are_alike(const struct carving *work)
{
    for (int32_t p = 1; p < work->best->parts; p++)
        if (room_of(work, p) != room_of(work, 0))
            return false;
    return work->room[work->best->parts] == work->ranks;
}

nw_status nw_carve(const struct nw_seats *seats, const struct nw_tiling *tiling,
                   const int32_t *first, struct nw_division *division)
{
    struct carving work = {.seats = seats,
                           .tiling = tiling,
                           .room = first,
                           .best = division,
                           .ranks = seats->rank_count};
    double rounds = WORK / TRIALS / count_looks(&work);
    nw_status status = alloc(&work);

    nw_random_init(&work.random, seats->problem->options.seed);
    work.unlike = !are_alike(&work);
    rounds = fmin(rounds, ROUNDS_MOST);
    for (int32_t r = 0; !status && r < work.ranks; r++)
        for (int d = 0; d < tiling->dims; d++)
            work.cell[r][d] = nw_tiling_at(tiling, r, d);
    if (!status)
        run_rounds(&work, rounds);
    release(&work);
    return status;
}
