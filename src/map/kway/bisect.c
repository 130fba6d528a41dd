/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bisects a graph: coarsens it, makes several initial cuts of the small graph,
 * and refines the best cut on every level (Fiduccia and Mattheyses 1982, with
 * heaps).
 */
#include "base/array.h"
#include "map/common/addressable_heap.h"
#include "map/kway/memetic.h"
#include "map/common/parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OFTEN = 256 }; /* number of moves between two readings of the clock */

/* State of the refinement of one graph: the input graph or a coarser one. */
struct kway_bisect_pass {
    const struct nw_graph *graph;
    const struct nw_kway_bisection *cut;
    int8_t *side, *fixed; /* [n] side: side of a vertex (0 or 1); fixed: side to
                             which it is fixed, -1: free (NULL: all are free) */
    double *gain;         /* [n] decrease of the cut if a vertex changes
                             sides */
    int32_t *at, *moves;  /* [n] at: position of a vertex in its heap
                             (nw_heap.at); moves: vertices in the order in which
                             they changed sides */
    bool *done; /* [n] the vertex has changed sides in this pass or is fixed */
    struct nw_heap heap[2]; /* heap[s]: vertices on side s that may change
                               sides */
    /* load: present load of each side; tolerance: load of the heaviest vertex;
     * extra: load by which a side may exceed its limit on this level (0 on the
     * finest level) */
    nw_kway_load load[2], tolerance, extra;
    /* count: vertices of the finest graph on each side; extra_count: number by
     * which a side may exceed its capacity on this level */
    int64_t count[2], extra_count;
    bool finest;  /* the graph is the input graph, not a coarser one */
    double value; /* weight of the cut edges minus that at the beginning of the
                     pass */
};

static void kway_bisect_pass_fini(struct kway_bisect_pass *p)
{
    NW_FREE_ALL(p->gain, p->at, p->moves, p->done, p->heap[0].item,
                p->heap[1].item);
}

static nw_status kway_bisect_pass_init(struct kway_bisect_pass *p)
{
    size_t n = (size_t)p->graph->n;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(n, p->gain), NW_ARRAY(n, p->at),
                     NW_ARRAY(n, p->moves), NW_ARRAY(n, p->done));

    for (int s = 0; s < 2; s++) {
        if (!status)
            status = nw_alloc(n, sizeof *p->moves, &p->heap[s].item);
        p->heap[s].gain = p->gain;
        p->heap[s].at = p->at;
    }
    return status;
}

/* Computes the loads of both sides, and how far they may exceed their limits on
 * this level. */
static void kway_bisect_measure(struct kway_bisect_pass *p)
{
    const struct nw_graph *g = p->graph;
    int32_t most = 0;

    p->load[0] = p->load[1] = p->count[0] = p->count[1] = 0;
    p->tolerance = 0;
    p->value = 0;
    for (int32_t v = 0; v < g->n; v++) {
        if (p->side[v] >= 0) {
            p->load[p->side[v]] += g->load[v];
            p->count[p->side[v]] += g->size[v];
        }
        if (g->load[v] > p->tolerance)
            p->tolerance = g->load[v];
        if (g->size[v] > most)
            most = g->size[v];
    }
    p->extra = p->finest ? 0 : p->tolerance;
    p->extra_count = p->finest ? 0 : most;
}

/* Returns the weight of the cut: the sum over all edges between both sides. */
static double kway_bisect_cut_of(const struct kway_bisect_pass *p)
{
    const struct nw_graph *g = p->graph;
    double sum = 0;

    for (int32_t v = 0; v < g->n; v++)
        for (size_t e = g->row[v]; e < g->row[v + 1]; e++)
            if (p->side[v] != p->side[g->arc[e].to])
                sum += (double)g->arc[e].weight;
    return sum / 2;
}

/* Returns how far the sides exceed their limits: the sum of the excess load and
 * the excess number of vertices, each as a fraction of its limit. */
static double kway_bisect_excess(const struct kway_bisect_pass *p)
{
    double sum = 0;

    for (int s = 0; s < 2; s++) {
        double load = (double)(p->load[s] - p->cut->limit[s] - p->extra);
        double count =
            (double)(p->count[s] - p->cut->capacity[s] - p->extra_count);

        if (load > 0)
            sum += load / ((double)p->cut->limit[s] + 1);
        if (count > 0)
            sum += count / (double)(p->cut->capacity[s] + 1);
    }
    return sum;
}

/* Computes the gain of v. Returns true if v has a neighbour on the other side.
 */
static bool kway_bisect_find_gain(struct kway_bisect_pass *p, int32_t v)
{
    const struct nw_graph *g = p->graph;
    double gain = 0;
    bool border = false;

    for (size_t e = g->row[v]; e < g->row[v + 1]; e++) {
        bool across = p->side[g->arc[e].to] != p->side[v];

        gain += across ? (double)g->arc[e].weight : -(double)g->arc[e].weight;
        border |= across;
    }
    p->gain[v] = gain;
    return border;
}

/* Moves v to the other side. Does not update the gains of its neighbours. */
static void kway_bisect_flip(struct kway_bisect_pass *p, int32_t v)
{
    const struct nw_graph *g = p->graph;
    int from = p->side[v];

    p->value -= p->gain[v];
    p->side[v] = (int8_t)!from;
    p->load[from] -= g->load[v];
    p->load[!from] += g->load[v];
    p->count[from] -= g->size[v];
    p->count[!from] += g->size[v];
    p->gain[v] = -p->gain[v];
}

/* Updates the gains of the neighbours of v after v changed sides. Neighbours
 * that now have an edge across the cut are added to a heap. */
static void kway_bisect_update_neighbours(struct kway_bisect_pass *p, int32_t v)
{
    const struct nw_graph *g = p->graph;

    for (size_t e = g->row[v]; e < g->row[v + 1]; e++) {
        int32_t u = g->arc[e].to;
        bool same = p->side[u] == p->side[v];

        if (p->done[u])
            continue;
        if (p->at[u]) {
            p->gain[u] += same ? -2 * (double)g->arc[e].weight
                               : 2 * (double)g->arc[e].weight;
            nw_heap_update(&p->heap[p->side[u]], u);
        } else if (!same) {
            kway_bisect_find_gain(p, u);
            nw_heap_add(&p->heap[p->side[u]], u);
        }
    }
}

/* Returns the side from which the next vertex moves: a side that exceeds its
 * limit; otherwise, of the sides whose best vertex fits on the other side, the
 * one with the larger gain. Returns -1 if no vertex can move. */
static int kway_bisect_choose_side(const struct kway_bisect_pass *p)
{
    const struct nw_kway_bisection *cut = p->cut;
    const struct nw_graph *g = p->graph;
    int best = -1;

    for (int s = 0; s < 2; s++)
        if ((p->load[s] > cut->limit[s] + p->extra ||
             p->count[s] > cut->capacity[s] + p->extra_count) &&
            p->heap[s].count)
            return s;
    for (int s = 0; s < 2; s++) {
        int32_t v = nw_heap_top(&p->heap[s]);

        if (v < 0 || p->load[!s] + g->load[v] > cut->limit[!s] + p->tolerance)
            continue;
        if (best < 0 || p->gain[v] > p->gain[p->heap[!s].item[0]] ||
            (p->gain[v] == p->gain[p->heap[!s].item[0]] &&
             (double)p->load[s] - cut->target[s] >
                 (double)p->load[!s] - cut->target[!s]))
            best = s;
    }
    return best;
}

/* Removes all vertices from the heaps. */
static void kway_bisect_clear_heaps(struct kway_bisect_pass *p)
{
    for (int s = 0; s < 2; s++)
        while (p->heap[s].count)
            nw_heap_remove(&p->heap[s], p->heap[s].item[p->heap[s].count - 1]);
}

/* Begins a pass: computes all gains and adds to the heaps the vertices with an
 * edge across the cut, or all vertices if the graph is small or a limit is
 * exceeded. Fixed vertices are left out. */
static void kway_bisect_fill_heaps(struct kway_bisect_pass *p)
{
    kway_bisect_clear_heaps(p);
    for (int32_t v = 0; v < p->graph->n; v++) {
        bool border = kway_bisect_find_gain(p, v);

        p->done[v] = p->fixed && p->fixed[v] >= 0;
        if (!p->done[v] && (border || p->graph->n <= nw_tuned.kway.small ||
                            kway_bisect_excess(p) > 0))
            nw_heap_add(&p->heap[p->side[v]], v);
    }
}

/* Moves vertices back so that of the `from` moves made only the first `to`
 * remain. */
static void kway_bisect_undo(struct kway_bisect_pass *p, int32_t from,
                             int32_t to)
{
    for (int32_t i = from; i > to; i--)
        kway_bisect_flip(p, p->moves[i - 1]);
}

/* Returns true if the time of this bisection is over. The cut found so far is
 * then the result. */
static bool kway_bisect_is_past(const struct nw_kway_bisection *cut)
{
    return nw_budget_is_past(cut->budget, cut->until);
}

static bool kway_bisect_is_late(const struct kway_bisect_pass *p)
{
    return nw_budget_is_overdue(p->cut->budget);
}

/* Makes one pass: moves vertices one by one, then undoes the moves after the
 * best cut. Returns true if the cut became better. Gains of vertices that were
 * moved back are wrong afterwards; the next pass computes them again. */
static bool kway_bisect_refine_once(struct kway_bisect_pass *p)
{
    double best_imbalance = kway_bisect_excess(p), best = 0,
           first = best_imbalance;
    int32_t count = 0, kept = 0, patience;

    patience = nw_tuned.kway.bisect_patience +
               p->graph->n / nw_tuned.kway.bisect_patience_each;

    p->value = 0;
    kway_bisect_fill_heaps(p);
    while (count - kept < patience) {
        int s = kway_bisect_choose_side(p);
        int32_t v;
        double now;

        if (s < 0 || (count % OFTEN == OFTEN - 1 && kway_bisect_is_late(p)))
            break;
        v = nw_heap_top(&p->heap[s]);
        nw_heap_remove(&p->heap[s], v);
        p->done[v] = true;
        kway_bisect_flip(p, v);
        p->moves[count++] = v;
        kway_bisect_update_neighbours(p, v);
        now = kway_bisect_excess(p);
        if (now < best_imbalance ||
            (now == best_imbalance && p->value < best)) {
            best_imbalance = now;
            best = p->value;
            kept = count;
        } else if (now < first) {
            patience++;
        }
    }
    kway_bisect_undo(p, count, kept);
    return best < 0 || best_imbalance < first;
}

/* Makes at most `passes` passes. Ends earlier after a pass that finds no better
 * cut, or if time is over. */
static void kway_bisect_refine(struct kway_bisect_pass *p, int passes)
{
    kway_bisect_measure(p);
    while (passes-- && kway_bisect_refine_once(p) && !kway_bisect_is_late(p))
        ;
}

/* Makes an initial cut: side 0 grows from a random vertex along the heaviest
 * edges; all other vertices are on side 1. */
static void kway_bisect_grow(struct kway_bisect_pass *p,
                             struct nw_random *random)
{
    const struct nw_graph *g = p->graph;
    struct nw_heap *heap = &p->heap[1];
    int32_t left = g->n;

    for (int32_t v = 0; v < g->n; v++) {
        p->side[v] = p->fixed && p->fixed[v] >= 0 ? p->fixed[v] : 1;
        p->done[v] = p->fixed && p->fixed[v] >= 0;
    }
    kway_bisect_clear_heaps(p);
    kway_bisect_measure(p);
    for (int32_t v = 0; v < g->n; v++) {
        kway_bisect_find_gain(p, v);
        if (p->side[v] == 0)
            kway_bisect_update_neighbours(p, v);
    }
    while (left-- && (double)p->load[0] < p->cut->target[0]) {
        int32_t v = nw_heap_top(heap);

        for (int i = 0; v < 0 && i < 20; i++) {
            v = (int32_t)nw_random_below(random, (uint64_t)g->n);
            if (p->done[v] || p->side[v] == 0)
                v = -1;
        }
        for (int32_t u = 0; v < 0 && u < g->n; u++)
            if (!p->done[u] && p->side[u] == 1)
                v = u;
        if (v < 0)
            return;
        if (p->at[v])
            nw_heap_remove(heap, v);
        p->done[v] = true;
        if ((double)(p->load[0] + g->load[v]) - p->cut->target[0] >
            p->cut->target[0] - (double)p->load[0])
            continue;
        kway_bisect_find_gain(p, v);
        kway_bisect_flip(p, v);
        kway_bisect_update_neighbours(p, v);
    }
}

/* Makes several initial cuts of a small graph, refines each, and keeps the
 * best. */
static nw_status kway_bisect_cut_small(struct kway_bisect_pass *p,
                                       struct nw_random *random)
{
    size_t n = (size_t)p->graph->n;
    int8_t *best = NULL;
    double least = 0, least_imbalance = 0;
    nw_status status = nw_alloc(n, 1, &best);

    for (int i = 0;
         !status && i < p->cut->tries && !(i && kway_bisect_is_past(p->cut));
         i++) {
        double now, over;

        kway_bisect_grow(p, random);
        kway_bisect_refine(p, 8);
        over = kway_bisect_excess(p);
        now = kway_bisect_cut_of(p);
        if (!i || over < least_imbalance ||
            (over == least_imbalance && now < least)) {
            least = now;
            least_imbalance = over;
            memcpy(best, p->side, n);
        }
    }
    if (!status)
        memcpy(p->side, best, n);
    free(best);
    return status;
}

static nw_status kway_bisect_cut_level(const struct nw_graph *graph,
                                       const struct nw_kway_bisection *cut,
                                       int8_t *side, struct nw_random *random,
                                       bool finest);

/* Coarsens the graph of p, bisects the coarser graph, projects that cut to the
 * graph of p and refines it. */
static nw_status kway_bisect_cut_coarser(struct kway_bisect_pass *p,
                                         const struct nw_graph *coarse,
                                         const int32_t *into,
                                         struct nw_random *random)
{
    int8_t *side = NULL;
    nw_status status = nw_alloc((size_t)coarse->n, 1, &side);

    if (!status) {
        memset(side, -1, (size_t)coarse->n);
        for (int32_t v = 0; p->fixed && v < p->graph->n; v++)
            side[into[v]] = p->fixed[v];
        status = kway_bisect_cut_level(coarse, p->cut, side, random, false);
    }
    for (int32_t v = 0; !status && v < p->graph->n; v++)
        p->side[v] = side[into[v]];
    if (!status)
        kway_bisect_refine(p, 4);
    free(side);
    return status;
}

/* Bisects the graph of p: directly if it is small or cannot be coarsened,
 * otherwise by bisecting a coarser graph first. */
static nw_status kway_bisect_cut_with(struct kway_bisect_pass *p,
                                      struct nw_random *random)
{
    const struct nw_graph *graph = p->graph;
    struct nw_graph_merge merge = {0};
    struct nw_graph coarse = {0};
    int32_t *into = NULL, *sides = NULL;
    double all = p->cut->target[0] + p->cut->target[1];
    nw_status status = NW_OK;

    if (graph->n <= nw_tuned.kway.small)
        return kway_bisect_cut_small(p, random);
    merge.load_max = (int64_t)(all / nw_tuned.kway.merged_max) + 1;
    if (p->fixed) {
        status = nw_alloc((size_t)graph->n, sizeof *sides, &sides);
        for (int32_t v = 0; !status && v < graph->n; v++)
            sides[v] = p->fixed[v];
        merge.part = sides;
    }
    if (!status)
        status = nw_alloc((size_t)graph->n, sizeof *into, &into);
    if (!status)
        status = nw_graph_coarsen(graph, &merge, random, &coarse, into);
    if (!status)
        status = coarse.n > graph->n - graph->n / nw_tuned.kway.less_min
                     ? kway_bisect_cut_small(p, random)
                     : kway_bisect_cut_coarser(p, &coarse, into, random);
    nw_graph_fini(&coarse);
    free(into);
    free(sides);
    return status;
}

/* Bisects a graph. Vertices that are on side 0 or 1 on input stay there.
 * `finest` is true if the graph is the input graph, not a coarser one. */
static nw_status kway_bisect_cut_level(const struct nw_graph *graph,
                                       const struct nw_kway_bisection *cut,
                                       int8_t *side, struct nw_random *random,
                                       bool finest)
{
    struct kway_bisect_pass p = {
        .graph = graph, .cut = cut, .side = side, .finest = finest};
    bool any = false;
    nw_status status = kway_bisect_pass_init(&p);

    for (int32_t v = 0; v < graph->n; v++)
        any |= side[v] >= 0;
    if (!status && any)
        status = nw_alloc((size_t)graph->n, 1, &p.fixed);
    if (!status && any)
        memcpy(p.fixed, side, (size_t)graph->n);
    if (!status)
        status = kway_bisect_cut_with(&p, random);
    free(p.fixed);
    kway_bisect_pass_fini(&p);
    return status;
}

/* Sets figure[0] to the excess over the limits and figure[1] to the weight of
 * the cut edges. */
static void kway_bisect_judge(const struct nw_graph *graph,
                              const struct nw_kway_bisection *cut, int8_t *side,
                              double figure[2])
{
    struct kway_bisect_pass p = {
        .graph = graph, .cut = cut, .side = side, .finest = true};

    kway_bisect_measure(&p);
    figure[0] = kway_bisect_excess(&p);
    figure[1] = kway_bisect_cut_of(&p);
}

nw_status nw_kway_bisect(const struct nw_graph *graph,
                         const struct nw_kway_bisection *cut, int8_t *side,
                         struct nw_random *random)
{
    size_t n = (size_t)graph->n;
    int8_t *made = NULL, *best = NULL;
    double least[2] = {0}, now[2];
    nw_status status = nw_alloc(n, 1, &made);

    if (!status)
        status = nw_alloc(n, 1, &best);
    for (int i = 0;
         !status && i < cut->repeats && !(i && kway_bisect_is_past(cut)); i++) {
        memcpy(made, side, n);
        status = kway_bisect_cut_level(graph, cut, made, random, true);
        if (status)
            break;
        kway_bisect_judge(graph, cut, made, now);
        if (!i || now[0] < least[0] ||
            (now[0] == least[0] && now[1] < least[1])) {
            memcpy(least, now, sizeof least);
            memcpy(best, made, n);
        }
    }
    if (!status)
        memcpy(side, best, n);
    free(made);
    free(best);
    return status;
}
