/* SPDX-License-Identifier: BSD-3-Clause */
/* Contracts the graph to a small one, bisects the small graph, and projects the
 * bisection back with refinement on each level. */
#include "map/graph/bisect_multilevel.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct nw_bisection nw_bisection_exact(const struct nw_graph *graph,
                                       int32_t target)
{
    return (struct nw_bisection){.target = target,
                                 .limit = {target, graph->n - target},
                                 .capacity = {graph->n, graph->n},
                                 .merged_max = graph->n,
                                 .coarsest = nw_tuned.bisection.coarsest,
                                 .repeats = 1};
}

double nw_bisect_cut(const struct nw_graph *graph, const int8_t *side)
{
    double sum = 0;

    for (int32_t v = 0; v < graph->n; v++)
        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++)
            if (side[graph->arc[a].to] != side[v])
                sum += (double)graph->arc[a].weight;
    return sum;
}

/* Copies the bisection `made` to *best and side[] if it is better than *best or
 * *best is empty. Better is less load beyond the limits or, if that is equal, a
 * smaller cut. */
static void bisect_keep_better(const struct nw_fm *made, struct nw_fm *best,
                               int8_t *side)
{
    if (best->side &&
        (made->excess > best->excess ||
         (made->excess == best->excess && made->cut >= best->cut)))
        return;
    *best = *made;
    best->side = side;
    memcpy(side, made->side, (size_t)made->graph->n);
}

/* --- initial bisections --- */

/* Makes `tries` initial bisections by growing, or fewer if time is over,
 * refines each and keeps the best one in side[] and *best. */
static nw_status bisect_cut_first(const struct nw_graph *graph,
                                  const struct nw_bisection *to, bool coarse,
                                  struct nw_random *random, int8_t *side,
                                  struct nw_fm *best)
{
    struct nw_fm made = {graph, to, .coarse = coarse};
    nw_status status = nw_alloc((size_t)graph->n, 1, &made.side);

    best->side = NULL;
    for (int i = 0; !status && i < to->tries &&
                    !(i && nw_budget_is_past(to->budget, to->until));
         i++) {
        status = nw_bisect_grow(graph, to, random, made.side);
        if (!status)
            status = nw_fm(&made);
        if (!status)
            bisect_keep_better(&made, best, side);
    }
    free(made.side);
    return status;
}

/* --- the multilevel scheme --- */

static nw_status bisect_level(const struct nw_graph *graph,
                              const struct nw_bisection *to, bool coarse,
                              struct nw_random *random, int8_t *side,
                              struct nw_fm *made);

/* Bisects the coarser graph in which into[v] contains vertex v of `graph`, then
 * projects that cut to `graph`: fills side[], which the caller refines. */
static nw_status bisect_coarser(const struct nw_graph *graph,
                                struct nw_bisection to,
                                const struct nw_graph *coarser,
                                const int32_t *into, struct nw_random *random,
                                int8_t *side)
{
    size_t n = (size_t)coarser->n;
    int8_t *above = NULL, *fixed = NULL;
    struct nw_fm made;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(n, above), NW_ARRAY(n, fixed));

    for (int32_t v = 0; !status && to.fixed && v < graph->n; v++)
        fixed[into[v]] = to.fixed[v];
    if (to.fixed)
        to.fixed = fixed;
    if (!status)
        status = bisect_level(coarser, &to, true, random, above, &made);
    for (int32_t v = 0; !status && v < graph->n; v++)
        side[v] = above[into[v]];
    free(above);
    free(fixed);
    return status;
}

/* Bisects the graph, which is the caller's or a coarser one. *made describes
 * the result in side[]. */
static nw_status bisect_level(const struct nw_graph *graph,
                              const struct nw_bisection *to, bool coarse,
                              struct nw_random *random, int8_t *side,
                              struct nw_fm *made)
{
    struct nw_graph_merge merge = {.load_max = to->merged_max,
                                   .side = to->fixed};
    struct nw_graph coarser = {0};
    int32_t *into = NULL;
    nw_status status = NW_OK;

    if (graph->n <= to->coarsest)
        return bisect_cut_first(graph, to, coarse, random, side, made);
    status = nw_alloc((size_t)graph->n, sizeof *into, &into);
    if (!status)
        status = nw_graph_coarsen(graph, &merge, random, &coarser, into);
    if (!status && coarser.n < nw_tuned.bisection.shrink * graph->n) {
        status = bisect_coarser(graph, *to, &coarser, into, random, side);
        *made = (struct nw_fm){graph, to, .side = side, .coarse = coarse};
        if (!status)
            status = nw_fm(made);
    } else if (!status) {
        status = bisect_cut_first(graph, to, coarse, random, side, made);
    }
    free(into);
    nw_graph_fini(&coarser);
    return status;
}

nw_status nw_bisect_multilevel(const struct nw_graph *graph,
                               const struct nw_bisection *to,
                               struct nw_random *random, int8_t *side)
{
    struct nw_fm made, best = {0};
    int8_t *mine = NULL;
    nw_status status = nw_alloc((size_t)graph->n, 1, &mine);

    for (int i = 0; !status && i < to->repeats &&
                    !(i && nw_budget_is_past(to->budget, to->until));
         i++) {
        status = bisect_level(graph, to, false, random, mine, &made);
        if (!status)
            bisect_keep_better(&made, &best, side);
    }
    free(mine);
    return status;
}
