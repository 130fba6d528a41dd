/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive bisection along a tree, with exact numbers of processes per
 * cluster. Unless the caller asks for another way (enum nw_rb_start), the
 * processes use as few subtrees as have enough slots, and are spread evenly
 * over them. */
#include "map/multilevel/rb_internal.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* --- splitting a piece into halves --- */

/* Gives each process of a piece, in the order of work->list, the next slot of
 * the piece's clusters (subtrees of the machine) that is not fixed. */
static void rb_take_slots(struct sectioning *work, const struct piece *piece)
{
    int32_t slot = work->hierarchy->first[piece->level][piece->from];

    for (int32_t i = piece->first; i < piece->end; slot++)
        if (work->unfixed_before[slot + 1] > work->unfixed_before[slot])
            work->bisection->slot[work->list[i++]] = slot;
}

/* Returns true if a piece need not be divided further: all slots of its
 * clusters are equally far apart, or belong to one place. */
static bool rb_is_bottom(const struct sectioning *work,
                         const struct piece *piece)
{
    const int32_t *first = work->hierarchy->first[0];
    int32_t clusters = piece->to - piece->from;

    return !piece->level &&
           (clusters == 1 || first[piece->to] - first[piece->from] == clusters);
}

/* Adds a piece to work->next, the pieces that are bisected in the next
 * generation. If the piece has a single cluster (a subtree of the machine), the
 * piece first gets children of this cluster, level by level, until it has
 * several clusters. It gets only as many children as its processes need, or all
 * with NW_RB_START_SPREAD. If the piece need not be divided further
 * (rb_is_bottom), its processes get slots, and the piece is not added. */
static void rb_add_piece(struct sectioning *work, struct piece piece)
{
    const struct nw_hierarchy *hierarchy = work->hierarchy;
    int32_t count = piece.end - piece.first;

    if (!count)
        return;
    while (piece.level && piece.to - piece.from == 1) {
        int32_t slot = hierarchy->first[piece.level][piece.from];
        int32_t end = hierarchy->first[piece.level][piece.from + 1];

        piece.level--;
        piece.from = piece.to = hierarchy->cluster[piece.level][slot];
        while (piece.to <= hierarchy->cluster[piece.level][end - 1] &&
               (work->bisection->kinds & NW_RB_START_SPREAD ||
                nw_rb_unfixed_slots(work, piece.level, piece.from, piece.to) <
                    count))
            piece.to++;
    }
    if (rb_is_bottom(work, &piece))
        rb_take_slots(work, &piece);
    else
        work->next[work->next_count++] = piece;
}

/* Adds a half of a bisected piece to work->next. If annealing is on and the
 * half has a single cluster, adds the half to work->held, until the pieces of
 * the sibling clusters are in work->held, too. */
static void rb_add_half(struct sectioning *work, struct piece piece)
{
    if (!work->bisection->anneal || piece.to - piece.from > 1 || !piece.level)
        rb_add_piece(work, piece);
    else if (piece.end > piece.first)
        work->held[work->held_count++] = piece;
}

/* Chooses the cluster at which a piece is split (piece->middle), and how many
 * of its processes go before it (piece->left). */
static void rb_choose_middle(const struct sectioning *work, struct piece *piece)
{
    piece->middle = piece->from + (piece->to - piece->from) / 2;
    if (work->bisection->kinds & NW_RB_START_LAYERS)
        piece->middle = nw_rb_split_layers(work, piece);
    piece->left = nw_grid_part_left(
        piece->end - piece->first,
        nw_rb_unfixed_slots(work, piece->level, piece->from, piece->to),
        nw_rb_unfixed_slots(work, piece->level, piece->from, piece->middle),
        work->bisection->kinds & NW_RB_START_PACKED);
}

/* --- cutting a piece --- */

/* Reorders the processes of a piece in the list so that those on side 0 come
 * first. */
static nw_status rb_sort_sides(struct sectioning *work,
                               const struct piece *piece, const int8_t *side)
{
    int32_t count = piece->end - piece->first, *sorted = NULL;
    int32_t at[2] = {0, piece->left};
    nw_status status = nw_alloc((size_t)count, sizeof *sorted, &sorted);

    if (status)
        return status;
    for (int32_t i = 0; i < count; i++)
        sorted[at[(int)side[i]]++] = work->list[piece->first + i];
    memcpy(work->list + piece->first, sorted, (size_t)count * sizeof *sorted);
    free(sorted);
    return NW_OK;
}

/* Bisects `graph` so that `target` of its vertices are on side 0. */
static nw_status rb_bisect(const struct sectioning *work,
                           const struct nw_graph *graph, int32_t target,
                           struct nw_random *random, int8_t *side)
{
    struct nw_bisection to = nw_bisection_exact(graph, target);

    to.tries = work->bisection->tries;
    to.repeats = work->bisection->repeats;
    to.reduced_effort = nw_rb_reduces_effort(work);
    return nw_bisect_multilevel(graph, &to, random, side);
}

/* Returns true if a piece is split in its present order of processes, without a
 * search: the budget has ended, or only the cut at the root is wanted and this
 * piece is below it. */
static bool rb_is_left(const struct sectioning *work, const struct piece *piece)
{
    return work->bisection->budget->stopped ||
           (work->bisection->top_cut &&
            piece->level < work->hierarchy->levels - 2);
}

/* Bisects the processes of piece work->now[number] and sorts them by side.
 * `user` is the struct sectioning; a task for threads. */
static nw_status rb_cut(void *user, int32_t number)
{
    struct sectioning *work = user;
    struct piece *piece = &work->now[number];
    struct nw_graph graph = {0};
    struct nw_random random;
    int8_t *side = NULL;
    int32_t count = piece->end - piece->first;
    nw_status status = nw_alloc((size_t)count, 1, &side);

    rb_choose_middle(work, piece);
    nw_random_init(&random, work->bisection->seed * 1000003 +
                                (uint64_t)piece->first * 64 +
                                (uint64_t)piece->level);
    if (!status && rb_is_left(work, piece)) {
        memset(side, 1, (size_t)count);
        memset(side, 0, (size_t)piece->left);
    } else if (!status && piece->left > 0 && piece->left < count) {
        status = nw_graph_subgraph(&work->graph, work->list + piece->first,
                                   count, work->place, &graph);
        if (!status && work->bisection->stencil)
            status = nw_rb_grid_cut(work, piece, &graph, &random, side);
        else if (!status)
            status = rb_bisect(work, &graph, piece->left, &random, side);
        if (!status)
            status = rb_sort_sides(work, piece, side);
    }
    nw_graph_fini(&graph);
    free(side);
    return status;
}

/* --- generations of pieces --- */

/* Bisects all pieces of work->next, which become work->now, and adds their
 * halves to work->next or work->held. */
static void rb_cut_generation(struct sectioning *work)
{
    struct piece *swap = work->now;

    work->now = work->next;
    work->count = work->next_count;
    work->next = swap;
    work->next_count = 0;
    if (!work->bisection->budget->stopped)
        nw_budget_spend(work->bisection->budget, 1);
    work->status = nw_rb_share_out(work, rb_cut, work);
    for (int32_t i = 0; !work->status && i < work->count; i++) {
        struct piece left = work->now[i], right = left;

        left.to = right.from = left.middle;
        left.end = right.first = left.first + left.left;
        rb_add_half(work, left);
        rb_add_half(work, right);
    }
}

/* Bisects pieces until each has a single child of its present cluster; then
 * anneals the processes among these children if requested. Moves the pieces,
 * which are held until then, to work->next, or gives their processes slots.
 * Drops all pieces if the caller wants no result for such a pattern
 * (only_separable, only_expander_like). */
static void rb_cut_level(struct sectioning *work)
{
    while (!work->status && work->next_count)
        rb_cut_generation(work);
    if (!work->status && work->held_count && !work->bisection->budget->stopped)
        work->status = nw_rb_anneal(work);
    if (work->bisection->expander_like ? work->bisection->only_separable
                                       : work->bisection->only_expander_like)
        work->held_count = 0;
    for (int32_t i = 0; i < work->held_count; i++)
        rb_add_piece(work, work->held[i]);
    work->held_count = 0;
}

/* Copies one part of the assignment's edges to work->graph; a task for threads.
 */
static void rb_copy_edges(void *user, int32_t part)
{
    struct sectioning *work = user;
    const struct nw_assignment *assignment = work->bisection->assignment;
    struct nw_parallel_range edges =
        nw_parallel_range((int64_t)assignment->row[assignment->count], part);

    for (int64_t b = edges.first; b < edges.end; b++)
        work->graph.arc[b] = (struct nw_graph_arc){
            assignment->edge[b].peer, (float)assignment->edge[b].bytes};
}

/* Allocates the arrays and makes the graph of all processes. */
static nw_status rb_prepare(struct sectioning *work)
{
    const struct nw_assignment *assignment = work->bisection->assignment;
    size_t n = (size_t)assignment->count,
           slots = (size_t)work->hierarchy->slots;
    nw_status status =
        nw_graph_init(&work->graph, assignment->count, assignment->row[n]);

    if (!status)
        status = NW_ALLOC_ALL(
            NW_ARRAY(n, work->list), NW_ARRAY(n, work->place),
            NW_ARRAY(slots + 1, work->unfixed_before),
            NW_ARRAY(n + 1, work->now), NW_ARRAY(n + 1, work->next),
            NW_ARRAY(n + 1, work->held), NW_ARRAY(n, work->bisection->slot));
    if (status)
        return status;
    for (size_t p = 0; p < n; p++) {
        work->graph.row[p + 1] = assignment->row[p + 1];
        work->graph.size[p] = 1;
        work->graph.load[p] = 1;
    }
    nw_parallel_run(rb_copy_edges, work, NW_PARALLEL_RANGES,
                    assignment->row[n] < nw_tuned.threads.edges_min
                        ? 1
                        : work->bisection->threads);
    return work->bisection->stencil ? nw_rb_read_grid(work) : NW_OK;
}

/* Makes the first piece: all processes that are not fixed, on the root. */
static void rb_begin(struct sectioning *work)
{
    const struct nw_assignment *assignment = work->bisection->assignment;
    struct piece all = {.to = 1, .level = work->hierarchy->levels - 1};

    for (int32_t s = 0; s < work->hierarchy->slots; s++)
        work->unfixed_before[s + 1] =
            work->unfixed_before[s] + !assignment->fixed[s];
    for (int32_t p = 0; p < assignment->count; p++) {
        work->bisection->slot[p] = assignment->slot[p];
        if (!assignment->fixed[assignment->slot[p]])
            work->list[all.end++] = p;
    }
    rb_add_piece(work, all);
}

nw_status nw_recursive_bisection(struct nw_recursive_bisection *bisection)
{
    struct sectioning work = {.bisection = bisection,
                              .hierarchy = bisection->assignment->hierarchy};
    nw_status status = rb_prepare(&work);

    if (!status) {
        rb_begin(&work);
        while (!work.status && work.next_count)
            rb_cut_level(&work);
        status = work.status;
    }
    nw_graph_fini(&work.graph);
    NW_FREE_ALL(work.list, work.place, work.unfixed_before, work.now, work.next,
                work.held);
    for (int d = 0; d < NW_STENCIL_DIMS; d++)
        free(work.at[d]);
    return status;
}
