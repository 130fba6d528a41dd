/* SPDX-License-Identifier: BSD-3-Clause */
/* FM refinement: moves of single vertices between two sides (Fiduccia and
 * Mattheyses 1982). A pass moves one vertex after the other, each at most once:
 * the one with the largest gain, even if it is negative. If a side exceeds its
 * limits, the vertex is taken from that side. At the end, the pass undoes the
 * moves after the best cut. The vertices that may move are in gain buckets if
 * gains are small whole numbers, otherwise in heaps. A bucket is last in, first
 * out, which gives better cuts (L. Hagen, J. Huang and A. Kahng, On
 * implementation choices for iterative improvement partitioning algorithms,
 * 1997). */
#include "map/graph/bisect_multilevel.h"
#include "map/common/addressable_heap.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WORD 64
#define OFTEN 256 /* moves between two looks at the budget */
#define WORDS (2 * NW_FM_BUCKETS_MAX / WORD + 1)

/* State of a vertex in a pass. OUTSIDE: not in a queue; WAITING: in the queue
 * of its side; MOVED: already moved, or fixed to its side. */
enum fm_state { OUTSIDE, WAITING, MOVED };

/* The vertices of a side that may move, by gain. Bucket i has the vertices of
 * gain i - nw_fm.most. */
struct fm_buckets {
    uint64_t any;         /* bit w: word w of `some` is not 0 */
    uint64_t some[WORDS]; /* bit i: bucket i is not empty */
    int32_t *first; /* [2 x most + 1] first vertex of each bucket that is not
                       empty */
};

/* Sums over a bisection: the load and the number of vertices of each side, and
 * the weight of the edges between the sides. */
struct fm_sums {
    nw_graph_load load[2];
    int64_t size[2]; /* vertices of the finest graph */
    double cut;      /* counts each edge twice */
};

/* State of one call of nw_fm. */
struct fm_work {
    const struct nw_graph *graph;
    const struct nw_bisection *to;
    int8_t *side;
    int32_t most; /* nw_fm.most */
    /* [vertices] decrease of the cut by a move of the vertex; sum of the bytes
     * of its arcs */
    double *gain, *bytes;
    int8_t *state;  /* [vertices] enum fm_state */
    int32_t *moved; /* [vertices] vertices in the order of their moves */
    struct nw_heap heap[2];
    struct fm_buckets buckets[2];
    /* [vertices] next and previous vertex in the same bucket; -1: none */
    int32_t *after, *before;
    struct fm_sums now;        /* sums over the present bisection */
    nw_graph_load load_max[2]; /* largest load allowed on each side */
    int64_t size_max[2];
    double load_all, size_all; /* load and number of vertices that both sides
                                  together may have, plus 1 */
    int32_t spare; /* in coarse graphs 1, otherwise 0. 1: a side that just
                      reaches a limit counts as too full */
};

/* --- queues of vertices that may move --- */

/* Adds a vertex at the front of its bucket. */
static void fm_push(struct fm_work *work, int32_t v)
{
    struct fm_buckets *buckets = &work->buckets[(int)work->side[v]];
    uint32_t at = (uint32_t)((int32_t)work->gain[v] + work->most);
    uint64_t bit = UINT64_C(1) << at % WORD, *some = &buckets->some[at / WORD];

    work->after[v] = *some & bit ? buckets->first[at] : -1;
    work->before[v] = -1;
    if (work->after[v] >= 0)
        work->before[work->after[v]] = v;
    buckets->first[at] = v;
    *some |= bit;
    buckets->any |= UINT64_C(1) << at / WORD;
}

/* Removes a vertex from its bucket. */
static void fm_take(struct fm_work *work, int32_t v)
{
    struct fm_buckets *buckets = &work->buckets[(int)work->side[v]];
    uint32_t at = (uint32_t)((int32_t)work->gain[v] + work->most);
    int32_t before = work->before[v], after = work->after[v];

    if (after >= 0)
        work->before[after] = before;
    if (before >= 0) {
        work->after[before] = after;
        return;
    }
    buckets->first[at] = after;
    if (after >= 0)
        return;
    buckets->some[at / WORD] &= ~(UINT64_C(1) << at % WORD);
    if (!buckets->some[at / WORD])
        buckets->any &= ~(UINT64_C(1) << at / WORD);
}

/* Returns the vertex of a side with the largest gain; -1 if none may move. */
static inline int32_t fm_top_of(const struct fm_work *work, int side)
{
    const struct fm_buckets *buckets = &work->buckets[side];
    int word;

    if (!work->most)
        return nw_heap_top(&work->heap[side]);
    if (!buckets->any)
        return -1;
    word = WORD - 1 - __builtin_clzll(buckets->any);
    return buckets
        ->first[word * WORD + WORD - 1 - __builtin_clzll(buckets->some[word])];
}

/* Adds a vertex to the queue of its side. */
static void fm_put_in(struct fm_work *work, int32_t v)
{
    work->state[v] = WAITING;
    if (work->most)
        fm_push(work, v);
    else
        nw_heap_add(&work->heap[(int)work->side[v]], v);
}

/* Removes a vertex from its queue because it is about to move. */
static void fm_take_out(struct fm_work *work, int32_t v)
{
    work->state[v] = MOVED;
    if (work->most)
        fm_take(work, v);
    else
        nw_heap_remove(&work->heap[(int)work->side[v]], v);
}

/* Adds `change` to the gain of a vertex. Adds the vertex to its queue if it was
 * outside and has not moved in this pass. */
static void fm_change_gain(struct fm_work *work, int32_t v, double change)
{
    if (work->state[v] == WAITING && !work->most) {
        work->gain[v] += change;
        nw_heap_update(&work->heap[(int)work->side[v]], v);
        return;
    }
    if (work->state[v] == WAITING)
        fm_take(work, v);
    work->gain[v] += change;
    if (work->state[v] != MOVED)
        fm_put_in(work, v);
}

/* --- moves --- */

/* Changes the side of a vertex and its gain, the cut, the loads and the sizes.
 * The caller updates the gains of its peers. */
static void fm_cross(struct fm_work *work, int32_t v)
{
    struct fm_sums *now = &work->now;
    int from = work->side[v];

    now->cut -= 2 * work->gain[v];
    now->load[from] -= work->graph->load[v];
    now->load[!from] += work->graph->load[v];
    now->size[from] -= work->graph->size[v];
    now->size[!from] += work->graph->size[v];
    work->side[v] = (int8_t)!from;
    work->gain[v] = -work->gain[v];
}

/* Returns the change of the gain of a peer after v changed its side. `arc`
 * leads from v to the peer. */
static double fm_change_of(const struct fm_work *work, int32_t v,
                           const struct nw_graph_arc *arc)
{
    double change = 2 * (double)arc->weight;

    return work->side[arc->to] == work->side[v] ? -change : change;
}

/* Moves a vertex and updates the gains of its peers. */
static void fm_move(struct fm_work *work, int32_t v)
{
    const struct nw_graph *graph = work->graph;

    fm_take_out(work, v);
    fm_cross(work, v);
    for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++)
        fm_change_gain(work, graph->arc[a].to,
                       fm_change_of(work, v, &graph->arc[a]));
}

/* Updates the gains of a vertex that is back on its side, and of its peers. */
static void fm_undo_gains(struct fm_work *work, int32_t v)
{
    const struct nw_graph *graph = work->graph;

    work->gain[v] = -work->gain[v];
    for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++)
        work->gain[graph->arc[a].to] += fm_change_of(work, v, &graph->arc[a]);
}

/* Returns how far the sides exceed their limits: the excess load and the excess
 * number of vertices, each as a fraction of what both sides may have. */
static inline double fm_excess_of(const struct fm_work *work)
{
    const struct fm_sums *now = &work->now;
    double sum = 0;

    for (int s = 0; s < 2; s++) {
        if (now->load[s] > work->load_max[s])
            sum += (double)(now->load[s] - work->load_max[s]) / work->load_all;
        if (now->size[s] > work->size_max[s])
            sum += (double)(now->size[s] - work->size_max[s]) / work->size_all;
    }
    return sum;
}

/* Returns the next vertex to move: the one with the largest gain on a side that
 * is too full, or on both sides if neither is; -1 if none may move. */
static int32_t fm_choose(const struct fm_work *work)
{
    int32_t top[2] = {fm_top_of(work, 0), fm_top_of(work, 1)};

    for (int s = 0; s < 2; s++)
        if ((work->now.load[s] + work->spare > work->load_max[s] ||
             work->now.size[s] + work->spare > work->size_max[s]) &&
            top[s] >= 0)
            return top[s];
    if (top[0] < 0 || top[1] < 0)
        return top[0] < 0 ? top[1] : top[0];
    return work->gain[top[0]] >= work->gain[top[1]] ? top[0] : top[1];
}

/* --- passes --- */

/* Computes the gains of all vertices, the cut, the loads and the sizes from
 * scratch. */
static void fm_look_at_all(struct fm_work *work)
{
    const struct nw_graph *graph = work->graph;

    for (int32_t v = 0; v < graph->n; v++) {
        double outside = 0, bytes = 0;

        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            double here = (double)graph->arc[a].weight;

            bytes += here;
            outside += work->side[graph->arc[a].to] == work->side[v] ? 0 : here;
        }
        work->bytes[v] = bytes;
        work->gain[v] = 2 * outside - bytes;
        work->now.cut += outside;
        work->now.load[(int)work->side[v]] += graph->load[v];
        work->now.size[(int)work->side[v]] += graph->size[v];
    }
}

/* Sets the load and the number of vertices allowed on each side, and on both
 * sides together. */
static void fm_set_limits(struct fm_work *work, bool coarse)
{
    const struct nw_graph *graph = work->graph;
    const struct nw_bisection *to = work->to;
    int64_t load = 0, size = 0;

    for (int32_t v = 0; coarse && v < graph->n; v++) {
        load = graph->load[v] > load ? graph->load[v] : load;
        size = graph->size[v] > size ? graph->size[v] : size;
    }
    work->spare = coarse;
    for (int s = 0; s < 2; s++) {
        work->load_max[s] = to->limit[s] + load;
        work->size_max[s] = to->capacity[s] + size;
    }
    work->load_all = (double)(to->limit[0] + to->limit[1] + 1);
    work->size_all = (double)(to->capacity[0] + to->capacity[1] + 1);
}

/* Returns true if passes end early: with gain buckets and reduced effort. */
static bool fm_is_brief(const struct fm_work *work)
{
    return work->most && work->to->reduced_effort;
}

/* Begins a pass: empties the queues and adds the vertices at the border that
 * are not fixed. Adds all that are not fixed if a side exceeds a limit, or if
 * the graph is small and passes do not end early. */
static void fm_fill_queues(struct fm_work *work)
{
    int32_t n = work->graph->n;
    bool all = fm_excess_of(work) > 0 || (!fm_is_brief(work) && n < 200);

    for (int s = 0; s < 2; s++) {
        work->heap[s].count = 0;
        work->buckets[s].any = 0;
        memset(work->buckets[s].some, 0,
               (size_t)(2 * work->most / WORD + 1) * sizeof(uint64_t));
    }
    memset(work->state, OUTSIDE, (size_t)n);
    for (int32_t v = 0; v < n; v++)
        if (work->to->fixed && work->to->fixed[v] >= 0)
            work->state[v] = MOVED;
        else if (all || work->gain[v] > -work->bytes[v])
            fm_put_in(work, v);
}

/* Runs one pass. Returns true if the pass lowered the excess over the limits of
 * the sides (fm_excess_of), or lowered the cut at the same excess. */
static bool fm_pass(struct fm_work *work)
{
    struct fm_sums best = work->now;
    double least_gain = 1e-9 * best.cut, least = fm_excess_of(work);
    int32_t count = 0, kept = 0, n = work->graph->n, v;
    /* moves without a better cut after which the pass ends */
    int32_t patience = nw_tuned.bisection.patience + n / 32;
    int32_t brief = nw_tuned.bisection.patience_reduced + n / 4;

    if (fm_is_brief(work) && patience > brief)
        patience = brief;
    fm_fill_queues(work);
    while ((v = fm_choose(work)) >= 0 &&
           (count - kept < patience || least > 0) &&
           (count % OFTEN || !nw_budget_is_overdue(work->to->budget))) {
        double now;

        fm_move(work, v);
        work->moved[count++] = v;
        now = fm_excess_of(work);
        if (now < least ||
            (now == least && work->now.cut < best.cut - least_gain)) {
            best = work->now;
            least = now;
            kept = count;
        }
    }
    /* If no move is kept, gains are left wrong, since this pass is the last. */
    while (count > kept) {
        v = work->moved[--count];
        work->side[v] = !work->side[v];
        if (kept)
            fm_undo_gains(work, v);
    }
    work->now = best;
    return kept > 0;
}

/* --- the search as a whole --- */

/* Allocates all arrays in two blocks. Heaps and buckets share memory, because
 * only one of the two kinds is used. */
static nw_status fm_alloc(struct fm_work *work)
{
    size_t n = (size_t)work->graph->n, gains = 2 * (size_t)work->most + 1;
    int32_t *memory;
    nw_status status = nw_alloc_raw(
        n, 2 * sizeof *work->gain + 4 * sizeof *memory + 1, &work->gain);

    if (!status)
        status =
            nw_alloc_raw(2 * gains, sizeof *memory, &work->buckets[0].first);
    if (status)
        return status;
    work->bytes = work->gain + n;
    memory = (int32_t *)(work->bytes + n);
    work->moved = memory;
    work->state = (int8_t *)(memory + 4 * n);
    work->after = memory + n;
    work->before = memory + 2 * n;
    work->buckets[1].first = work->buckets[0].first + gains;
    for (int s = 0; s < 2; s++)
        work->heap[s] = (struct nw_heap){.gain = work->gain,
                                         .at = memory + n,
                                         .item = memory + (size_t)(2 + s) * n};
    return NW_OK;
}

nw_status nw_fm(struct nw_fm *fm)
{
    struct fm_work work = {
        .graph = fm->graph, .to = fm->to, .side = fm->side, .most = fm->most};
    int passes = nw_tuned.bisection.passes;
    nw_status status = fm_alloc(&work);

    if (fm->to->reduced_effort)
        passes /= fm->most ? 2 : 4;
    if (!status) {
        fm_set_limits(&work, fm->coarse);
        fm_look_at_all(&work);
        for (int i = 0; i < passes && fm_pass(&work); i++)
            ;
        fm->cut = work.now.cut;
        fm->excess = fm_excess_of(&work);
    }
    free(work.gain);
    free(work.buckets[0].first);
    return status;
}
