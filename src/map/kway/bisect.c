/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A graph cut in two: coarsened, cut several times where it is small, the best
 * cut refined on every level (Fiduccia and Mattheyses 1982, with heaps).
 */
#include "base/array.h"
#include "map/common/addressable_heap.h"
#include "map/kway/memetic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALL = 60, /* vertices that are cut without coarsening */
    OFTEN = 256 /* moves between looks at the clock */
};

/* Memory for the refinement of one graph. */
struct pass {
    const struct nw_kgraph *graph;
    const struct nw_kcut *cut;
    int8_t *side, *fixed; /* fixed: 0, 1 or -1 */
    double *gain;
    int32_t *at, *moves;
    bool *done;
    struct nw_heap heap[2];
    nw_kload load[2], slack, extra; /* slack: heaviest vertex */
    int64_t count[2], extra_count;  /* extras: allowed over the limits here */
    bool finest;
    double value; /* of the cut, less where it began */
};

static void pass_fini(struct pass *p)
{
    free(p->gain);
    free(p->at);
    free(p->moves);
    free(p->done);
    free(p->heap[0].item);
    free(p->heap[1].item);
}

static nw_status pass_init(struct pass *p)
{
    size_t n = (size_t)p->graph->n;
    nw_status status = nw_alloc(n, sizeof *p->gain, &p->gain);

    if (!status)
        status = nw_alloc(n, sizeof *p->at, &p->at);
    if (!status)
        status = nw_alloc(n, sizeof *p->moves, &p->moves);
    if (!status)
        status = nw_alloc(n, sizeof *p->done, &p->done);
    for (int s = 0; s < 2; s++) {
        if (!status)
            status = nw_alloc(n, sizeof *p->moves, &p->heap[s].item);
        p->heap[s].gain = p->gain;
        p->heap[s].at = p->at;
    }
    return status;
}

static void measure(struct pass *p)
{
    const struct nw_kgraph *g = p->graph;
    int32_t most = 0;

    p->load[0] = p->load[1] = p->count[0] = p->count[1] = 0;
    p->slack = 0;
    p->value = 0;
    for (int32_t v = 0; v < g->n; v++) {
        if (p->side[v] >= 0) {
            p->load[p->side[v]] += g->load[v];
            p->count[p->side[v]] += g->count[v];
        }
        if (g->load[v] > p->slack)
            p->slack = g->load[v];
        if (g->count[v] > most)
            most = g->count[v];
    }
    p->extra = p->finest ? 0 : p->slack;
    p->extra_count = p->finest ? 0 : most;
}

static double cut_of(const struct pass *p)
{
    const struct nw_kgraph *g = p->graph;
    double sum = 0;

    for (int32_t v = 0; v < g->n; v++)
        for (size_t e = g->row[v]; e < g->row[v + 1]; e++)
            if (p->side[v] != p->side[g->to[e]])
                sum += g->weight[e];
    return sum / 2;
}

/* Load and vertices beyond what is allowed, as shares of it. */
static double excess(const struct pass *p)
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

static bool find_gain(struct pass *p, int32_t v)
{
    const struct nw_kgraph *g = p->graph;
    double gain = 0;
    bool border = false;

    for (size_t e = g->row[v]; e < g->row[v + 1]; e++) {
        bool across = p->side[g->to[e]] != p->side[v];

        gain += across ? g->weight[e] : -g->weight[e];
        border |= across;
    }
    p->gain[v] = gain;
    return border;
}

static void flip(struct pass *p, int32_t v)
{
    const struct nw_kgraph *g = p->graph;
    int from = p->side[v];

    p->value -= p->gain[v];
    p->side[v] = (int8_t)!from;
    p->load[from] -= g->load[v];
    p->load[!from] += g->load[v];
    p->count[from] -= g->count[v];
    p->count[!from] += g->count[v];
    p->gain[v] = -p->gain[v];
}

/* After v changed sides: its neighbours' gains, and new ones at the border. */
static void tell_neighbours(struct pass *p, int32_t v)
{
    const struct nw_kgraph *g = p->graph;

    for (size_t e = g->row[v]; e < g->row[v + 1]; e++) {
        int32_t u = g->to[e];
        bool same = p->side[u] == p->side[v];

        if (p->done[u])
            continue;
        if (p->at[u]) {
            p->gain[u] += same ? -2 * g->weight[e] : 2 * g->weight[e];
            nw_heap_update(&p->heap[p->side[u]], u);
        } else if (!same) {
            find_gain(p, u);
            nw_heap_add(&p->heap[p->side[u]], u);
        }
    }
}

/* The side to take from: what is too full, else the better gain that fits;
 * -1 where neither is to be had. */
static int choose_side(const struct pass *p)
{
    const struct nw_kcut *cut = p->cut;
    const struct nw_kgraph *g = p->graph;
    int best = -1;

    for (int s = 0; s < 2; s++)
        if ((p->load[s] > cut->limit[s] + p->extra ||
             p->count[s] > cut->capacity[s] + p->extra_count) &&
            p->heap[s].count)
            return s;
    for (int s = 0; s < 2; s++) {
        int32_t v = nw_heap_top(&p->heap[s]);

        if (v < 0 || p->load[!s] + g->load[v] > cut->limit[!s] + p->slack)
            continue;
        if (best < 0 || p->gain[v] > p->gain[p->heap[!s].item[0]] ||
            (p->gain[v] == p->gain[p->heap[!s].item[0]] &&
             (double)p->load[s] - cut->target[s] >
                 (double)p->load[!s] - cut->target[!s]))
            best = s;
    }
    return best;
}

static void clear_heaps(struct pass *p)
{
    for (int s = 0; s < 2; s++)
        while (p->heap[s].count)
            nw_heap_remove(&p->heap[s], p->heap[s].item[p->heap[s].count - 1]);
}

static void fill_heaps(struct pass *p)
{
    clear_heaps(p);
    for (int32_t v = 0; v < p->graph->n; v++) {
        bool border = find_gain(p, v);

        p->done[v] = p->fixed && p->fixed[v] >= 0;
        if (!p->done[v] && (border || p->graph->n <= SMALL || excess(p) > 0))
            nw_heap_add(&p->heap[p->side[v]], v);
    }
}

static void undo(struct pass *p, int32_t from, int32_t to)
{
    for (int32_t i = from; i > to; i--)
        flip(p, p->moves[i - 1]);
}

/* What is at hand is then the last. */
static bool is_past(const struct nw_kcut *cut)
{
    return nw_budget_is_past(cut->budget, cut->until);
}

static bool is_late(const struct pass *p)
{
    return nw_budget_is_overdue(p->cut->budget);
}

/* One pass; true where it made the cut better. Gains of what is undone are
 * wrong afterwards, and found anew by the next pass. */
static bool refine_once(struct pass *p)
{
    double best_excess = excess(p), best = 0, first = best_excess;
    int32_t count = 0, kept = 0, patience = 30 + p->graph->n / 40;

    p->value = 0;
    fill_heaps(p);
    while (count - kept < patience) {
        int s = choose_side(p);
        int32_t v;
        double now;

        if (s < 0 || (count % OFTEN == OFTEN - 1 && is_late(p)))
            break;
        v = nw_heap_top(&p->heap[s]);
        nw_heap_remove(&p->heap[s], v);
        p->done[v] = true;
        flip(p, v);
        p->moves[count++] = v;
        tell_neighbours(p, v);
        now = excess(p);
        if (now < best_excess || (now == best_excess && p->value < best)) {
            best_excess = now;
            best = p->value;
            kept = count;
        } else if (now < first) {
            patience++;
        }
    }
    undo(p, count, kept);
    return best < 0 || best_excess < first;
}

static void refine(struct pass *p, int passes)
{
    measure(p);
    while (passes-- && refine_once(p) && !is_late(p))
        ;
}

/* Side 0 grown from a random vertex by the strongest ties; side 1 is all the
 * rest. */
static void grow(struct pass *p, struct nw_random *random)
{
    const struct nw_kgraph *g = p->graph;
    struct nw_heap *heap = &p->heap[1];
    int32_t left = g->n;

    for (int32_t v = 0; v < g->n; v++) {
        p->side[v] = p->fixed && p->fixed[v] >= 0 ? p->fixed[v] : 1;
        p->done[v] = p->fixed && p->fixed[v] >= 0;
    }
    clear_heaps(p);
    measure(p);
    for (int32_t v = 0; v < g->n; v++) {
        find_gain(p, v);
        if (p->side[v] == 0)
            tell_neighbours(p, v);
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
        find_gain(p, v);
        flip(p, v);
        tell_neighbours(p, v);
    }
}

/* Several first cuts, each refined; the best is kept. */
static nw_status cut_small(struct pass *p, struct nw_random *random)
{
    size_t n = (size_t)p->graph->n;
    int8_t *best = NULL;
    double least = 0, least_excess = 0;
    nw_status status = nw_alloc(n, 1, &best);

    for (int i = 0; !status && i < p->cut->tries && !(i && is_past(p->cut));
         i++) {
        double now, over;

        grow(p, random);
        refine(p, 8);
        over = excess(p);
        now = cut_of(p);
        if (!i || over < least_excess ||
            (over == least_excess && now < least)) {
            least = now;
            least_excess = over;
            memcpy(best, p->side, n);
        }
    }
    if (!status)
        memcpy(p->side, best, n);
    free(best);
    return status;
}

static nw_status cut_level(const struct nw_kgraph *graph,
                           const struct nw_kcut *cut, int8_t *side,
                           struct nw_random *random, bool finest);

/* Through the coarser graph, and refined here. */
static nw_status cut_coarser(struct pass *p, const struct nw_kgraph *coarse,
                             const int32_t *into, struct nw_random *random)
{
    int8_t *side = NULL;
    nw_status status = nw_alloc((size_t)coarse->n, 1, &side);

    if (!status) {
        memset(side, -1, (size_t)coarse->n);
        for (int32_t v = 0; p->fixed && v < p->graph->n; v++)
            side[into[v]] = p->fixed[v];
        status = cut_level(coarse, p->cut, side, random, false);
    }
    for (int32_t v = 0; !status && v < p->graph->n; v++)
        p->side[v] = side[into[v]];
    if (!status)
        refine(p, 4);
    free(side);
    return status;
}

static nw_status cut_with(struct pass *p, struct nw_random *random)
{
    const struct nw_kgraph *graph = p->graph;
    struct nw_kmerge merge = {0};
    struct nw_kgraph coarse = {0};
    int32_t *into = NULL, *sides = NULL;
    double all = p->cut->target[0] + p->cut->target[1];
    nw_status status = NW_OK;

    if (graph->n <= SMALL)
        return cut_small(p, random);
    merge.load_max = (int64_t)(all / 15) + 1;
    if (p->fixed) {
        status = nw_alloc((size_t)graph->n, sizeof *sides, &sides);
        for (int32_t v = 0; !status && v < graph->n; v++)
            sides[v] = p->fixed[v];
        merge.part = sides;
    }
    if (!status)
        status = nw_kcoarsen(graph, &merge, random, &coarse, &into);
    if (!status)
        status = coarse.n > graph->n - graph->n / 20
                     ? cut_small(p, random)
                     : cut_coarser(p, &coarse, into, random);
    nw_kgraph_fini(&coarse);
    free(into);
    free(sides);
    return status;
}

static nw_status cut_level(const struct nw_kgraph *graph,
                           const struct nw_kcut *cut, int8_t *side,
                           struct nw_random *random, bool finest)
{
    struct pass p = {
        .graph = graph, .cut = cut, .side = side, .finest = finest};
    bool any = false;
    nw_status status = pass_init(&p);

    for (int32_t v = 0; v < graph->n; v++)
        any |= side[v] >= 0;
    if (!status && any)
        status = nw_alloc((size_t)graph->n, 1, &p.fixed);
    if (!status && any)
        memcpy(p.fixed, side, (size_t)graph->n);
    if (!status)
        status = cut_with(&p, random);
    free(p.fixed);
    pass_fini(&p);
    return status;
}

/* What is over the limits, then the cut. */
static void judge(const struct nw_kgraph *graph, const struct nw_kcut *cut,
                  int8_t *side, double figure[2])
{
    struct pass p = {.graph = graph, .cut = cut, .side = side, .finest = true};

    measure(&p);
    figure[0] = excess(&p);
    figure[1] = cut_of(&p);
}

nw_status nw_kbisect(const struct nw_kgraph *graph, const struct nw_kcut *cut,
                     int8_t *side, struct nw_random *random)
{
    size_t n = (size_t)graph->n;
    int8_t *made = NULL, *best = NULL;
    double least[2] = {0}, now[2];
    nw_status status = nw_alloc(n, 1, &made);

    if (!status)
        status = nw_alloc(n, 1, &best);
    for (int i = 0; !status && i < cut->repeats && !(i && is_past(cut)); i++) {
        memcpy(made, side, n);
        status = cut_level(graph, cut, made, random, true);
        if (status)
            break;
        judge(graph, cut, made, now);
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
