/* SPDX-License-Identifier: BSD-3-Clause */
/* Bisection by greedy growing and FM (Fiduccia and Mattheyses 1982) with exact
 * sizes: a part exceeds its size by at most one process, and the next move
 * restores the size. */
#include "map/placement/exact_fm.h"
#include "base/array.h"
#include "map/common/budget.h"
#include "map/common/parameters.h"

#include <stdlib.h>
#include <string.h>

nw_status nw_exact_fm_init(struct nw_exact_fm *b,
                           const struct nw_placement *placement)
{
    size_t n = (size_t)placement->count;
    nw_status status;

    *b = (struct nw_exact_fm){.placement = placement};
    status = NW_ALLOC_ALL(NW_ARRAY(n, b->side), NW_ARRAY(n, b->gain),
                          NW_ARRAY(n, b->at), NW_ARRAY(n, b->moves));
    for (int i = 0; i < 2 * NW_CLASS_COUNT; i++) {
        struct nw_heap *heap = &b->heap[i / 2][i % 2];

        heap->gain = b->gain;
        heap->at = b->at;
        if (!status)
            status = nw_alloc(n, sizeof *heap->item, &heap->item);
    }
    if (!status)
        memset(b->side, -1, n);
    return status;
}

void nw_exact_fm_fini(struct nw_exact_fm *b)
{
    NW_FREE_ALL(b->side, b->gain, b->at, b->moves);
    for (int i = 0; i < 2 * NW_CLASS_COUNT; i++)
        free(b->heap[i / 2][i % 2].item);
    *b = (struct nw_exact_fm){0};
}

static struct nw_heap *exact_fm_heap_of(struct nw_exact_fm *b, int32_t p)
{
    return &b->heap[b->side[p]][nw_placement_wants_gpu(b->placement, p)];
}

/* Returns the bytes by which the cut falls if p moves to the other side. */
static double exact_fm_gain_of(const struct nw_exact_fm *b, int32_t p)
{
    const struct nw_placement *placement = b->placement;
    double gain = 0;

    for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++) {
        const struct nw_arc *arc = &placement->arc[a];
        double bytes = arc->out + arc->in;

        if (b->side[arc->peer] >= 0)
            gain += b->side[arc->peer] == b->side[p] ? -bytes : bytes;
    }
    return gain;
}

/* Begins a pass: unlocks the processes of the list, computes their gains and
 * adds them to the heaps. */
static void exact_fm_fill_heaps(struct nw_exact_fm *b, struct nw_ints list)
{
    for (size_t i = 0; i < list.count; i++) {
        int32_t p = list.values[i];

        b->gain[p] = exact_fm_gain_of(b, p);
        nw_heap_add(exact_fm_heap_of(b, p), p);
    }
}

/* Removes all processes of the list from the heaps. */
static void exact_fm_empty_heaps(struct nw_exact_fm *b, struct nw_ints list)
{
    for (size_t i = 0; i < list.count; i++)
        b->at[list.values[i]] = 0;
    for (int i = 0; i < 2 * NW_CLASS_COUNT; i++)
        b->heap[i / 2][i % 2].count = 0;
}

/* Moves p to the other side and updates the gains of its peers. p must not be
 * in a heap. */
static void exact_fm_flip(struct nw_exact_fm *b, int32_t p)
{
    const struct nw_placement *placement = b->placement;

    b->imbalance[nw_placement_wants_gpu(b->placement, p)] +=
        b->side[p] ? 1 : -1;
    b->side[p] = !b->side[p];
    b->gain[p] = -b->gain[p];
    b->steps++;
    for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++) {
        const struct nw_arc *arc = &placement->arc[a];
        double bytes = 2 * (arc->out + arc->in);

        if (b->side[arc->peer] < 0)
            continue;
        b->gain[arc->peer] += b->side[arc->peer] == b->side[p] ? -bytes : bytes;
        if (b->at[arc->peer])
            nw_heap_update(exact_fm_heap_of(b, arc->peer), arc->peer);
    }
}

/* Removes p from its heap, moves it to the other side and locks it there for
 * the rest of the pass. */
static void exact_fm_take_and_flip(struct nw_exact_fm *b, int32_t p)
{
    nw_heap_remove(exact_fm_heap_of(b, p), p);
    exact_fm_flip(b, p);
}

/* Returns whichever of processes p and q has the higher gain; -1 stands for no
 * process. */
static int32_t exact_fm_better(const struct nw_exact_fm *b, int32_t p,
                               int32_t q)
{
    if (p < 0 || q < 0)
        return p < 0 ? q : p;
    if (b->gain[p] != b->gain[q])
        return b->gain[p] > b->gain[q] ? p : q;
    return p < q ? p : q;
}

/* --- initial cut --- */

/* Makes an initial cut: the first target[c] processes of each class c in the
 * list go to the left (side 0), the others to the right. */
static void exact_fm_begin_order(struct nw_exact_fm *b, struct nw_ints list,
                                 const int32_t *target)
{
    int32_t left[NW_CLASS_COUNT] = {target[0], target[1]};

    for (size_t i = 0; i < list.count; i++) {
        int32_t p = list.values[i];

        b->side[p] =
            left[nw_placement_wants_gpu(b->placement, p)]-- > 0 ? 0 : 1;
    }
}

/* Makes an initial cut: all processes begin on the right. The seed process
 * moves to the left, then repeatedly the process with the highest gain, until
 * target[c] processes of each class c are on the left. The gain of a process is
 * its traffic with the left side minus that with the right side. */
static void exact_fm_begin_grown(struct nw_exact_fm *b, struct nw_ints list,
                                 const int32_t *target, int32_t seed)
{
    for (size_t i = 0; i < list.count; i++)
        b->side[list.values[i]] = 1;
    for (int c = 0; c < NW_CLASS_COUNT; c++)
        b->imbalance[c] = -target[c];
    exact_fm_fill_heaps(b, list);
    if (b->imbalance[nw_placement_wants_gpu(b->placement, seed)] < 0)
        exact_fm_take_and_flip(b, seed);
    for (;;) {
        int32_t p = -1;

        for (int c = 0; c < NW_CLASS_COUNT; c++)
            if (b->imbalance[c] < 0)
                p = exact_fm_better(b, p, nw_heap_top(&b->heap[1][c]));
        if (p < 0)
            break;
        exact_fm_take_and_flip(b, p);
    }
    exact_fm_empty_heaps(b, list);
}

/* --- passes --- */

/* Returns the process to move next: if a side has too many processes of a
 * class, the best one of these, otherwise the best one of both sides; -1: none.
 */
static int32_t exact_fm_choose(const struct nw_exact_fm *b)
{
    int32_t p = -1;

    for (int c = 0; c < NW_CLASS_COUNT; c++)
        if (b->imbalance[c])
            return nw_heap_top(&b->heap[b->imbalance[c] > 0 ? 0 : 1][c]);
    for (int c = 0; c < NW_CLASS_COUNT; c++) {
        int32_t left = nw_heap_top(&b->heap[0][c]);
        int32_t right = nw_heap_top(&b->heap[1][c]);

        if (left >= 0 && right >= 0) /* only if a move in the other direction
                                        can follow */
            p = exact_fm_better(b, p, exact_fm_better(b, left, right));
    }
    return p;
}

/* Runs one pass of FM: moves processes one by one, then undoes the moves after
 * the best cut. Returns true if the cut has fewer bytes than before. */
static bool exact_fm_pass(struct nw_exact_fm *b, struct nw_ints list)
{
    int32_t made = 0, kept = 0,
            patience =
                nw_tuned.bisection.patience_reduced + (int32_t)(list.count / 4);
    double sum = 0, best = 0;
    int32_t p;

    exact_fm_fill_heaps(b, list);
    while (made - kept < patience && (p = exact_fm_choose(b)) >= 0) {
        sum += b->gain[p];
        exact_fm_take_and_flip(b, p);
        b->moves[made++] = p;
        if (!b->imbalance[NW_CLASS_PLAIN] && !b->imbalance[NW_CLASS_GPU] &&
            sum > best) {
            best = sum;
            kept = made;
        }
    }
    exact_fm_empty_heaps(b, list);
    while (made > kept)
        exact_fm_flip(b, b->moves[--made]);
    return best > 0;
}

void nw_exact_fm_bisect(struct nw_exact_fm *b, struct nw_ints list,
                        const int32_t target[NW_CLASS_COUNT],
                        enum nw_seed_kind seed)
{
    size_t first = 0;

    if (seed == NW_SEED_RANDOM)
        first = (size_t)nw_random_below(b->placement->random, list.count);
    if (nw_budget_is_overdue(b->placement->budget)) {
        if (seed != NW_SEED_GIVEN)
            exact_fm_begin_order(b, list, target);
        return;
    }
    if (seed == NW_SEED_ORDER)
        exact_fm_begin_order(b, list, target);
    else if (seed != NW_SEED_GIVEN)
        exact_fm_begin_grown(b, list, target, list.values[first]);
    for (int c = 0; c < NW_CLASS_COUNT; c++)
        b->imbalance[c] = 0;
    for (int i = 0; i < nw_tuned.bisection.passes && exact_fm_pass(b, list) &&
                    !nw_budget_is_overdue(b->placement->budget);
         i++)
        ;
}
