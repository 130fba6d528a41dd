/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides a grid of ranks into parts by annealing a slicing tree in short
 * rounds. Each node of the tree bisects its cells, across a dimension or by
 * distance from a point, down to single parts. The energy is the 32nd root of
 * the sum of 32nd powers of the bytes that each part exchanges with other
 * parts, which is nearly the maximum, plus a small multiple of the mean. With a
 * lower power, single parts could exchange many more bytes than the others.
 */
#include "map/groups/slicing_tree_internal.h"
#include "map/common/budget.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- one trial --- */

/* Undoes a rejected change of the tree: restores the order and the parts of the
 * cells in `piece`, and the bytes that each part exchanges. The caller restores
 * the cut and the sizes. */
static void slicing_tree_restore(struct slicing_tree_work *work,
                                 const struct slicing_tree_piece *piece)
{
    int32_t count = nw_slicing_tree_count_boxes(work, piece);
    const struct slicing_tree_remains *before = &work->before;

    memcpy(piece->box, before->box, (size_t)count * sizeof *before->box);
    memcpy(work->leaving, before->leaving,
           (size_t)work->best->parts * sizeof *before->leaving);
    for (int32_t i = 0; i < count; i++)
        work->part[before->box[i].rank] = before->part[i];
}

/* Returns the energy of the present division: nearly the most bytes that a part
 * exchanges with others, plus a small multiple of the mean. */
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
    return most * power + nw_tuned.slicing_tree.mean * total / parts;
}

/* --- random cuts --- */

/* Returns a random number from 0 to below - 1. */
static int32_t slicing_tree_draw(struct slicing_tree_work *work, int32_t below)
{
    return (int32_t)nw_random_below(&work->random, (uint64_t)below);
}

/* Returns exp(x), where x is random and uniform between -most and most. */
static double slicing_tree_draw_stretch(struct slicing_tree_work *work,
                                        double most)
{
    return exp((2 * nw_random_unit(&work->random) - 1) * most);
}

/* Draws the order in which a cut sorts cells at equal distances from its
 * centre. */
static void slicing_tree_draw_order(struct slicing_tree_work *work,
                                    struct slicing_tree_cut *cut)
{
    cut->lead = slicing_tree_draw(work, work->stencil->dims);
    cut->turned = (uint32_t)slicing_tree_draw(work, 1 << work->stencil->dims);
}

/* Returns a random position, in one dimension, of a cut's centre within the
 * bounding box of its cells: an end (0 or 1), the middle, or any number from 0
 * to 1. */
static double slicing_tree_draw_place(struct slicing_tree_work *work)
{
    int32_t where = slicing_tree_draw(work, 4);

    return where < 3 ? where * 0.5 : nw_random_unit(&work->random);
}

/* Returns a random value for slicing_tree_cut.share: about half of the parts,
 * or any fraction of them. */
static double slicing_tree_draw_share(struct slicing_tree_work *work)
{
    return slicing_tree_draw(work, 2) ? 0.499 : nw_random_unit(&work->random);
}

/* Draws all properties of a cut at random. */
static void slicing_tree_draw_cut(struct slicing_tree_work *work,
                                  struct slicing_tree_cut *cut)
{
    for (int d = 0; d < work->stencil->dims; d++) {
        cut->at[d] = slicing_tree_draw_place(work);
        cut->far[d] =
            slicing_tree_draw_stretch(work, nw_tuned.slicing_tree.stretch);
    }
    cut->share = slicing_tree_draw_share(work);
    cut->across = slicing_tree_draw(work, 2);
    slicing_tree_draw_order(work, cut);
}

/* Changes one property of a cut at random. */
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
        cut->far[d] *=
            slicing_tree_draw_stretch(work, nw_tuned.slicing_tree.stretch / 2);
        break;
    case 4:
        cut->across = !cut->across;
        break;
    default:
        cut->at[d] = slicing_tree_draw_place(work);
    }
}

/* --- sizes of the parts --- */

/* Returns the number of slots that a part may fill. */
static int32_t slicing_tree_space_of(const struct slicing_tree_work *work,
                                     int32_t part)
{
    return work->space[part + 1] - work->space[part];
}

/* Reduces size[i] from the number of slots of each part to its number of cells,
 * so that the sum is the number of ranks. By a random choice, either empties
 * one part after the other or leaves the same fraction of each part free. */
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

/* Draws the order in which the cuts separate the parts, and the number of cells
 * of each part. The order is random only if parts differ. */
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

/* Returns the number of cells of the i-th part in the order of the cuts. */
static int32_t slicing_tree_size_of(const struct slicing_tree_sizes *sizes,
                                    int32_t i)
{
    return sizes->first[i + 1] - sizes->first[i];
}

/* Exchanges two parts in the order of the cuts, or moves some cells from one
 * part to another one that has free slots. */
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

/* Estimates how many times cells are visited if the whole grid is divided: each
 * cell once for each level of the tree, and once at the end. */
static double slicing_tree_count_looks(const struct slicing_tree_work *work)
{
    return work->ranks * (1 + log2(work->best->parts));
}

/* Changes one cut, or the order and sizes of the parts, at random. Keeps the
 * change by the Metropolis criterion, otherwise undoes it. Stores the division
 * in work->best if it is the best one. Returns the energy afterwards. */
static double slicing_tree_try_one(struct slicing_tree_work *work,
                                   double energy, double temperature)
{
    bool resizes = work->unlike &&
                   slicing_tree_draw(work, nw_tuned.slicing_tree.resizes) == 0;
    struct slicing_tree_cut *cut =
        &work->cut[resizes ? 0
                           : slicing_tree_draw(work, work->best->parts - 1)];
    struct slicing_tree_piece piece = nw_slicing_tree_find_piece(work, cut);
    struct slicing_tree_cut kept = *cut;
    struct slicing_tree_sizes sizes = work->sizes;
    double after;

    if (resizes)
        slicing_tree_change_sizes(work);
    else
        slicing_tree_change(work, cut);
    nw_slicing_tree_reslice(work, &piece);
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

/* Runs one round: anneals from a random tree for a fixed number of trials.
 * Returns false if the budget has ended. */
static bool slicing_tree_run_round(struct slicing_tree_work *work)
{
    struct nw_budget *budget = work->slots->problem->budget;
    uint64_t steps = 1 + (uint64_t)slicing_tree_count_looks(work) /
                             nw_tuned.slicing_tree.looks_per_step;
    double energy, temperature,
        cooling =
            pow(nw_tuned.slicing_tree.cold, 1.0 / nw_tuned.slicing_tree.trials);

    slicing_tree_draw_sizes(work);
    for (int32_t p = 0; p < work->best->parts - 1; p++)
        slicing_tree_draw_cut(work, &work->cut[p]);
    nw_slicing_tree_slice_all(work);
    energy = slicing_tree_find_energy(work);
    temperature = nw_tuned.slicing_tree.hot * energy;
    for (int i = 0; i < nw_tuned.slicing_tree.trials;
         i++, temperature *= cooling) {
        energy = slicing_tree_try_one(work, energy, temperature);
        if (!nw_budget_spend(budget, steps))
            return false;
    }
    return true;
}

/* Runs up to `rounds` rounds. If all parts have the same size and no slot stays
 * free, stops after several rounds without a better division. */
static void slicing_tree_run_rounds(struct slicing_tree_work *work,
                                    double rounds)
{
    const struct nw_best_division *best = work->best;

    for (int i = 0, vain = 0;
         i < rounds &&
         (vain < nw_tuned.slicing_tree.vain_rounds || work->unlike);
         i++) {
        double least = best->least, total = best->total;

        if (!slicing_tree_run_round(work))
            return;
        vain = best->least < least || best->total < total ? 0 : vain + 1;
    }
}

bool nw_slicing_tree_is_even(const struct nw_slots *slots, const int32_t *first,
                             int32_t parts)
{
    for (int32_t p = 1; p < parts; p++)
        if (first[p + 1] - first[p] != first[1])
            return false;
    return first[parts] == slots->rank_count;
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
    double rounds = nw_tuned.slicing_tree.work / nw_tuned.slicing_tree.trials /
                    slicing_tree_count_looks(&work);
    size_t parts = (size_t)division->parts, n = (size_t)work.ranks;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(parts, work.cut), NW_ARRAY(n, work.cell),
        NW_ARRAY(n, work.box), NW_ARRAY(n, work.part),
        NW_ARRAY(parts, work.leaving), NW_ARRAY(n, work.before.box),
        NW_ARRAY(n, work.before.part), NW_ARRAY(n, work.before.now),
        NW_ARRAY(parts, work.before.leaving));

    nw_random_init(&work.random, slots->problem->options.seed);
    work.unlike = !nw_slicing_tree_is_even(slots, first, division->parts);
    rounds = fmin(rounds, nw_tuned.slicing_tree.rounds);
    for (int32_t r = 0; !status && r < work.ranks; r++)
        for (int d = 0; d < stencil->dims; d++)
            work.cell[r][d] = nw_stencil_coordinate(stencil, r, d);
    if (!status)
        slicing_tree_run_rounds(&work, rounds);
    NW_FREE_ALL(work.cut, work.cell, work.box, work.part, work.leaving,
                work.before.box, work.before.part, work.before.now,
                work.before.leaving);
    return status;
}
