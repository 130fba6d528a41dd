/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short rounds of annealing of a slicing tree: each node of the tree bisects
 * its cells, across a dimension or by distance from a point, down to single
 * parts. The energy is a mean of 32nd powers of the bytes that parts send,
 * which is nearly the maximum: a lower power prefers boxes with fuller middles.
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
#define ROUNDS_MAX 200
#define WITHOUT_GAIN 64 /* of them that find nothing, where parts are alike */
/* they are that much cheaper than trials of slots */
#define LOOKS_PER_STEP 128
#define STRETCH 1.2     /* of a cut, the logarithm at most */
#define EDGE_TRIES 0.05 /* of a cell, what the order counts */
#define MEAN 0.02       /* weight of the mean beside the most */
#define HOT 0.03        /* of the energy */
#define COLD 0.02       /* of the first temperature */
#define RESIZES 6       /* one trial of so many, where sizes are not alike */

struct slicing_tree_cut {
    double share;                /* of the parts, that come first */
    bool across;                 /* by the order of the cells alone */
    double at[NW_STENCIL_DIMS];  /* position, 0 to 1 along the piece */
    double far[NW_STENCIL_DIMS]; /* of a cell in that dimension */
    int lead;                    /* dimension that comes first in the order */
    uint32_t turned;             /* dimensions whose order is downwards */
};

/* The parts as they are cut off one after the other. */
struct slicing_tree_sizes {
    int32_t first[NW_SWITCH_GROUPS_MAX + 1]; /* boxes of each from first[i] */
    int32_t name[NW_SWITCH_GROUPS_MAX];
};

/* Cells of some parts, to be cut by so many knives less one. */
struct slicing_tree_piece {
    struct slicing_tree_box *box;
    const struct slicing_tree_cut *cut;
    int32_t parts, first; /* index of the first */
};

struct slicing_tree_box {
    double far;
    int32_t rank;
};

/* A piece before the last change, to restore it. */
struct slicing_tree_remains {
    struct slicing_tree_box *box; /* [ranks] */
    int32_t *part;                /* [ranks] of these, then and now */
    int32_t *now;
    double *leaving; /* [parts] */
};

struct slicing_tree_work {
    const struct nw_slots *slots;
    const struct nw_stencil *stencil;
    const int32_t *space; /* [parts + 1] slots of part p begin at space[p] */
    struct nw_best_division *best;
    struct nw_random random;
    struct slicing_tree_sizes sizes;
    bool unlike; /* in size, or free slots are left */
    int32_t ranks;
    struct slicing_tree_cut
        *cut; /* [parts - 1], what comes first before the rest */
    int32_t (*cell)[NW_STENCIL_DIMS]; /* [ranks] */
    struct slicing_tree_box *box;     /* [ranks] */
    int32_t *part;                    /* [ranks] */
    double *leaving;                  /* [parts] */
    struct slicing_tree_remains before;
};

void nw_best_division_keep(struct nw_best_division *division,
                           const int32_t *part, const double *leaving,
                           int32_t ranks)
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
struct slicing_tree_order {
    double first, each[NW_STENCIL_DIMS];
};

static struct slicing_tree_order
slicing_tree_order_of(const struct slicing_tree_work *work,
                      const struct slicing_tree_cut *cut)
{
    const struct nw_stencil *stencil = work->stencil;
    struct slicing_tree_order order = {.first = 0};
    double unit = EDGE_TRIES / work->ranks;

    for (int i = stencil->dims - 1; i >= 0; i--) {
        int d = (cut->lead + i) % stencil->dims;
        bool turned = cut->turned >> d & 1;

        order.each[d] = turned ? -unit : unit;
        order.first += turned ? unit * (stencil->size[d] - 1) : 0;
        unit *= stencil->size[d];
    }
    return order;
}

static void slicing_tree_find_centre(const struct slicing_tree_work *work,
                                     const struct slicing_tree_piece *piece,
                                     int32_t count, double *centre)
{
    for (int d = 0; d < work->stencil->dims; d++) {
        int32_t low = work->stencil->size[d], high = 0;

        for (int32_t i = 0; i < count; i++) {
            int32_t at = work->cell[piece->box[i].rank][d];

            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        centre[d] = low + (high - low) * piece->cut->at[d];
    }
}

static void slicing_tree_measure(const struct slicing_tree_work *work,
                                 const struct slicing_tree_piece *piece,
                                 int32_t count)
{
    const struct slicing_tree_cut *cut = piece->cut;
    struct slicing_tree_order order = slicing_tree_order_of(work, cut);
    double centre[NW_STENCIL_DIMS];

    if (!cut->across)
        slicing_tree_find_centre(work, piece, count, centre);
    for (int32_t i = 0; i < count; i++) {
        const int32_t *cell = work->cell[piece->box[i].rank];
        double far = 0, edge = order.first;

        for (int d = 0; d < work->stencil->dims; d++) {
            double away =
                cut->across ? 0 : fabs(cell[d] - centre[d]) * cut->far[d];

            far = away > far ? away : far;
            edge += cell[d] * order.each[d];
        }
        piece->box[i].far = far + edge;
    }
}

static bool slicing_tree_is_before(struct slicing_tree_box a,
                                   struct slicing_tree_box b)
{
    return a.far < b.far || (a.far == b.far && a.rank < b.rank);
}

/* The nearest of the boxes come first, so many of them. */
static void slicing_tree_select_boxes(struct slicing_tree_box *box,
                                      int32_t count, int32_t want)
{
    int32_t low = 0, high = count - 1;

    while (low < high) {
        struct slicing_tree_box middle = box[low + (high - low) / 2];
        int32_t i = low, j = high;

        while (i <= j) {
            while (slicing_tree_is_before(box[i], middle))
                i++;
            while (slicing_tree_is_before(middle, box[j]))
                j--;
            if (i <= j) {
                struct slicing_tree_box other = box[i];

                box[i++] = box[j];
                box[j--] = other;
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

static int32_t slicing_tree_count_boxes(const struct slicing_tree_work *work,
                                        const struct slicing_tree_piece *piece)
{
    return work->sizes.first[piece->first + piece->parts] -
           work->sizes.first[piece->first];
}

/* The two that its cut cuts it into. */
static void slicing_tree_split(const struct slicing_tree_work *work,
                               const struct slicing_tree_piece *piece,
                               struct slicing_tree_piece half[2])
{
    int32_t parts = 1 + (int32_t)(piece->cut->share * (piece->parts - 1));

    half[0] = half[1] = *piece;
    half[0].parts = parts;
    half[0].cut++;
    half[1].parts -= parts;
    half[1].first += parts;
    half[1].cut += parts;
    half[1].box += slicing_tree_count_boxes(work, &half[0]);
}

static void slicing_tree_slice(struct slicing_tree_work *work,
                               const struct slicing_tree_piece *piece)
{
    int32_t count = slicing_tree_count_boxes(work, piece);
    struct slicing_tree_piece half[2];

    if (piece->parts == 1) {
        for (int32_t i = 0; i < count; i++)
            work->part[piece->box[i].rank] = work->sizes.name[piece->first];
        return;
    }
    slicing_tree_split(work, piece, half);
    slicing_tree_measure(work, piece, count);
    slicing_tree_select_boxes(piece->box, count,
                              slicing_tree_count_boxes(work, &half[0]));
    slicing_tree_slice(work, &half[0]);
    slicing_tree_slice(work, &half[1]);
}

static struct slicing_tree_piece
slicing_tree_whole(const struct slicing_tree_work *work)
{
    return (struct slicing_tree_piece){work->box, work->cut, work->best->parts,
                                       0};
}

/* Bytes that leave each part, both ways. */
static void slicing_tree_count_leaving(struct slicing_tree_work *work)
{
    const struct nw_slots *slots = work->slots;
    const int32_t *part = work->part;

    memset(work->leaving, 0, (size_t)work->best->parts * sizeof *work->leaving);
    for (int32_t r = 0; r < slots->rank_count; r++)
        for (size_t t = slots->row[r]; t < slots->row[r + 1]; t++)
            if (part[slots->edge[t].peer] != part[r])
                work->leaving[part[r]] +=
                    slots->edge[t].out + slots->edge[t].in;
}

static void slicing_tree_slice_all(struct slicing_tree_work *work)
{
    struct slicing_tree_piece all = slicing_tree_whole(work);

    for (int32_t r = 0; r < work->ranks; r++)
        work->box[r].rank = r;
    slicing_tree_slice(work, &all);
    slicing_tree_count_leaving(work);
}

/* --- one piece again --- */

/* Finds the piece that `cut` bisects: a change of the cut affects only this. */
static struct slicing_tree_piece
slicing_tree_find_piece(const struct slicing_tree_work *work,
                        const struct slicing_tree_cut *cut)
{
    struct slicing_tree_piece piece = slicing_tree_whole(work), half[2];

    while (piece.cut != cut) {
        slicing_tree_split(work, &piece, half);
        piece = half[cut >= half[1].cut];
    }
    return piece;
}

static void slicing_tree_move_rank(struct slicing_tree_work *work, int32_t rank,
                                   int32_t to)
{
    const struct nw_slots *slots = work->slots;
    int32_t from = work->part[rank];

    for (size_t t = slots->row[rank]; t < slots->row[rank + 1]; t++) {
        const struct nw_directed_edge *edge = &slots->edge[t];
        double bytes = edge->out + edge->in;
        int32_t there = work->part[edge->peer];

        if (edge->peer == rank)
            continue;
        work->leaving[from] += there == from ? bytes : -bytes;
        work->leaving[to] += there == to ? -bytes : bytes;
    }
    work->part[rank] = to;
}

static void slicing_tree_reslice(struct slicing_tree_work *work,
                                 const struct slicing_tree_piece *piece)
{
    int32_t count = slicing_tree_count_boxes(work, piece);
    struct slicing_tree_remains *before = &work->before;

    memcpy(before->box, piece->box, (size_t)count * sizeof *before->box);
    memcpy(before->leaving, work->leaving,
           (size_t)work->best->parts * sizeof *before->leaving);
    for (int32_t i = 0; i < count; i++)
        before->part[i] = work->part[before->box[i].rank];
    slicing_tree_slice(work, piece);
    for (int32_t i = 0; i < count; i++) {
        int32_t *part = &work->part[before->box[i].rank];

        before->now[i] = *part;
        *part = before->part[i];
    }
    for (int32_t i = 0; i < count; i++)
        if (before->now[i] != before->part[i])
            slicing_tree_move_rank(work, before->box[i].rank, before->now[i]);
}

static void slicing_tree_restore(struct slicing_tree_work *work,
                                 const struct slicing_tree_piece *piece)
{
    int32_t count = slicing_tree_count_boxes(work, piece);
    const struct slicing_tree_remains *before = &work->before;

    memcpy(piece->box, before->box, (size_t)count * sizeof *before->box);
    memcpy(work->leaving, before->leaving,
           (size_t)work->best->parts * sizeof *before->leaving);
    for (int32_t i = 0; i < count; i++)
        work->part[before->box[i].rank] = before->part[i];
}

static double slicing_tree_find_energy(const struct slicing_tree_work *work)
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

static int32_t slicing_tree_draw(struct slicing_tree_work *work, int32_t below)
{
    return (int32_t)nw_random_below(&work->random, (uint64_t)below);
}

static double slicing_tree_draw_stretch(struct slicing_tree_work *work,
                                        double most)
{
    return exp((2 * nw_random_unit(&work->random) - 1) * most);
}

static void slicing_tree_draw_order(struct slicing_tree_work *work,
                                    struct slicing_tree_cut *cut)
{
    cut->lead = slicing_tree_draw(work, work->stencil->dims);
    cut->turned = (uint32_t)slicing_tree_draw(work, 1 << work->stencil->dims);
}

/* An end, the middle, or anywhere. */
static double slicing_tree_draw_place(struct slicing_tree_work *work)
{
    int32_t where = slicing_tree_draw(work, 4);

    return where < 3 ? where * 0.5 : nw_random_unit(&work->random);
}

/* Half of the parts, or any number of them. */
static double slicing_tree_draw_share(struct slicing_tree_work *work)
{
    return slicing_tree_draw(work, 2) ? 0.499 : nw_random_unit(&work->random);
}

static void slicing_tree_draw_cut(struct slicing_tree_work *work,
                                  struct slicing_tree_cut *cut)
{
    for (int d = 0; d < work->stencil->dims; d++) {
        cut->at[d] = slicing_tree_draw_place(work);
        cut->far[d] = slicing_tree_draw_stretch(work, STRETCH);
    }
    cut->share = slicing_tree_draw_share(work);
    cut->across = slicing_tree_draw(work, 2);
    slicing_tree_draw_order(work, cut);
}

static void slicing_tree_change(struct slicing_tree_work *work,
                                struct slicing_tree_cut *cut)
{
    int d = slicing_tree_draw(work, work->stencil->dims);

    switch (slicing_tree_draw(work, 6)) {
    case 0:
        slicing_tree_draw_cut(work, cut);
        break;
    case 1:
        cut->share = slicing_tree_draw_share(work);
        break;
    case 2:
        slicing_tree_draw_order(work, cut);
        break;
    case 3:
        cut->far[d] *= slicing_tree_draw_stretch(work, STRETCH / 2);
        break;
    case 4:
        cut->across = !cut->across;
        break;
    default:
        cut->at[d] = slicing_tree_draw_place(work);
    }
}

/* --- how large which part is --- */

static int32_t slicing_tree_space_of(const struct slicing_tree_work *work,
                                     int32_t part)
{
    return work->space[part + 1] - work->space[part];
}

/* Takes what is free out of the parts: from one after the other all, or from
 * each its share. */
static void slicing_tree_leave_free(struct slicing_tree_work *work,
                                    int32_t *size)
{
    int32_t parts = work->best->parts, slots = work->space[parts];
    int32_t rest = slots - work->ranks;
    bool shared = slicing_tree_draw(work, 2);

    for (int32_t i = 0, left = slots; i < parts; i++) {
        int32_t space = size[i];
        int32_t most = rest < space ? rest : space;
        int32_t less = shared && left > space
                           ? (int32_t)((int64_t)rest * space / left)
                           : most;

        left -= space;
        size[i] -= less;
        rest -= less;
    }
}

static void slicing_tree_draw_sizes(struct slicing_tree_work *work)
{
    int32_t parts = work->best->parts, size[NW_SWITCH_GROUPS_MAX];
    struct slicing_tree_sizes *sizes = &work->sizes;

    for (int32_t i = 0; i < parts; i++)
        sizes->name[i] = i;
    if (work->unlike)
        nw_random_shuffle(&work->random, sizes->name, (size_t)parts);
    for (int32_t i = 0; i < parts; i++)
        size[i] = slicing_tree_space_of(work, sizes->name[i]);
    if (work->space[parts] > work->ranks)
        slicing_tree_leave_free(work, size);
    for (int32_t i = 0; i < parts; i++)
        sizes->first[i + 1] = sizes->first[i] + size[i];
}

static int32_t slicing_tree_size_of(const struct slicing_tree_sizes *sizes,
                                    int32_t i)
{
    return sizes->first[i + 1] - sizes->first[i];
}

/* Two parts change places, or some cells go over from one to the other. */
static void slicing_tree_change_sizes(struct slicing_tree_work *work)
{
    struct slicing_tree_sizes *sizes = &work->sizes;
    int32_t parts = work->best->parts, size[NW_SWITCH_GROUPS_MAX];
    int32_t a = slicing_tree_draw(work, parts),
            b = slicing_tree_draw(work, parts);
    int32_t free_there = slicing_tree_space_of(work, sizes->name[b]) -
                         slicing_tree_size_of(sizes, b);
    int32_t most = slicing_tree_size_of(sizes, a) < free_there
                       ? slicing_tree_size_of(sizes, a)
                       : free_there;

    for (int32_t i = 0; i < parts; i++)
        size[i] = slicing_tree_size_of(sizes, i);
    if (a != b && most > 0 && slicing_tree_draw(work, 2)) {
        int32_t more = slicing_tree_draw(work, 2)
                           ? most
                           : 1 + slicing_tree_draw(work, most);

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
static double slicing_tree_count_looks(const struct slicing_tree_work *work)
{
    return work->ranks * (1 + log2(work->best->parts));
}

/* The energy after one more trial. */
static double slicing_tree_try_one(struct slicing_tree_work *work,
                                   double energy, double temperature)
{
    bool resizes = work->unlike && slicing_tree_draw(work, RESIZES) == 0;
    struct slicing_tree_cut *cut =
        &work->cut[resizes ? 0
                           : slicing_tree_draw(work, work->best->parts - 1)];
    struct slicing_tree_piece piece = slicing_tree_find_piece(work, cut);
    struct slicing_tree_cut kept = *cut;
    struct slicing_tree_sizes sizes = work->sizes;
    double after;

    if (resizes)
        slicing_tree_change_sizes(work);
    else
        slicing_tree_change(work, cut);
    slicing_tree_reslice(work, &piece);
    after = slicing_tree_find_energy(work);
    nw_best_division_keep(work->best, work->part, work->leaving, work->ranks);
    if (after <= energy ||
        nw_random_unit(&work->random) < exp((energy - after) / temperature))
        return after;
    *cut = kept;
    work->sizes = sizes;
    slicing_tree_restore(work, &piece);
    return energy;
}

static bool slicing_tree_run_round(struct slicing_tree_work *work)
{
    struct nw_budget *budget = work->slots->problem->budget;
    uint64_t steps =
        1 + (uint64_t)slicing_tree_count_looks(work) / LOOKS_PER_STEP;
    double energy, temperature, cooling = pow(COLD, 1.0 / TRIALS);

    slicing_tree_draw_sizes(work);
    for (int32_t p = 0; p < work->best->parts - 1; p++)
        slicing_tree_draw_cut(work, &work->cut[p]);
    slicing_tree_slice_all(work);
    energy = slicing_tree_find_energy(work);
    temperature = HOT * energy;
    for (int i = 0; i < TRIALS; i++, temperature *= cooling) {
        energy = slicing_tree_try_one(work, energy, temperature);
        if (!nw_budget_spend(budget, steps, work->best->least))
            return false;
    }
    return true;
}

static nw_status slicing_tree_alloc_remains(struct slicing_tree_work *work)
{
    size_t n = (size_t)work->ranks, parts = (size_t)work->best->parts;
    struct slicing_tree_remains *before = &work->before;
    nw_status status = nw_alloc(n, sizeof *before->box, &before->box);

    if (!status)
        status = nw_alloc(n, sizeof *before->part, &before->part);
    if (!status)
        status = nw_alloc(n, sizeof *before->now, &before->now);
    if (!status)
        status = nw_alloc(parts, sizeof *before->leaving, &before->leaving);
    return status;
}

static nw_status slicing_tree_alloc(struct slicing_tree_work *work)
{
    size_t parts = (size_t)work->best->parts, n = (size_t)work->ranks;
    nw_status status = nw_alloc(parts, sizeof *work->cut, &work->cut);

    if (!status)
        status = nw_alloc(n, sizeof *work->cell, &work->cell);
    if (!status)
        status = nw_alloc(n, sizeof *work->box, &work->box);
    if (!status)
        status = nw_alloc(n, sizeof *work->part, &work->part);
    if (!status)
        status = nw_alloc(parts, sizeof *work->leaving, &work->leaving);
    return status ? status : slicing_tree_alloc_remains(work);
}

static void slicing_tree_release(struct slicing_tree_work *work)
{
    free(work->cut);
    free(work->cell);
    free(work->box);
    free(work->part);
    free(work->leaving);
    free(work->before.box);
    free(work->before.part);
    free(work->before.now);
    free(work->before.leaving);
}

static void slicing_tree_run_rounds(struct slicing_tree_work *work,
                                    double rounds)
{
    const struct nw_best_division *best = work->best;

    for (int i = 0, vain = 0;
         i < rounds && (vain < WITHOUT_GAIN || work->unlike); i++) {
        double least = best->least, total = best->total;

        if (!slicing_tree_run_round(work))
            return;
        vain = best->least < least || best->total < total ? 0 : vain + 1;
    }
}

static bool slicing_tree_are_alike(const struct slicing_tree_work *work)
{
    for (int32_t p = 1; p < work->best->parts; p++)
        if (slicing_tree_space_of(work, p) != slicing_tree_space_of(work, 0))
            return false;
    return work->space[work->best->parts] == work->ranks;
}

nw_status nw_slicing_tree(const struct nw_slots *slots,
                          const struct nw_stencil *stencil,
                          const int32_t *first,
                          struct nw_best_division *division)
{
    struct slicing_tree_work work = {.slots = slots,
                                     .stencil = stencil,
                                     .space = first,
                                     .best = division,
                                     .ranks = slots->rank_count};
    double rounds = WORK / TRIALS / slicing_tree_count_looks(&work);
    nw_status status = slicing_tree_alloc(&work);

    nw_random_init(&work.random, slots->problem->options.seed);
    work.unlike = !slicing_tree_are_alike(&work);
    rounds = fmin(rounds, ROUNDS_MAX);
    for (int32_t r = 0; !status && r < work.ranks; r++)
        for (int d = 0; d < stencil->dims; d++)
            work.cell[r][d] = nw_stencil_coordinate(stencil, r, d);
    if (!status)
        slicing_tree_run_rounds(&work, rounds);
    slicing_tree_release(&work);
    return status;
}
