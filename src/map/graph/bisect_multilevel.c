/* SPDX-License-Identifier: BSD-3-Clause */
/* Contracts the graph to a small one, bisects the small graph, and projects the
 * bisection back with refinement on each level. */
#include "map/graph/bisect_multilevel.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

double nw_bisect_cut(const struct nw_graph *graph, const int8_t *side)
{
    double sum = 0;

    for (int32_t v = 0; v < graph->n; v++)
        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++)
            if (side[graph->arc[a].to] != side[v])
                sum += (double)graph->arc[a].weight;
    return sum;
}

/* --- initial bisections --- */

/* Greedy graph growing: side 0 begins with a random vertex. Then the vertex
 * with the largest (bytes to side 0 less bytes to side 1) joins, again and
 * again, until the size of side 0 is near `target`. Takes O(n^2) time, for
 * small n. connection[n] is scratch. */
static void bisect_grow(const struct nw_graph *graph, int32_t target,
                        struct nw_random *random, double *connection,
                        int8_t *side)
{
    int32_t v = (int32_t)nw_random_below(random, (uint64_t)graph->n);
    int32_t size = 0;

    for (int32_t u = 0; u < graph->n; u++) {
        side[u] = 1;
        connection[u] = 0;
        for (size_t a = graph->row[u]; a < graph->row[u + 1]; a++)
            connection[u] -= graph->arc[a].weight;
    }
    while (v >= 0 && size < target) {
        int32_t next = -1;

        side[v] = 0;
        size += graph->size[v];
        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++)
            connection[graph->arc[a].to] += 2 * (double)graph->arc[a].weight;
        for (int32_t u = 0; u < graph->n; u++)
            if (side[u] && size + graph->size[u] / 2 <= target &&
                (next < 0 || connection[u] > connection[next]))
                next = u;
        v = next;
    }
}

/* Refines a bisection by FM. On coarse levels the size of side 0 may differ
 * from `target` by the size of the largest vertex, because otherwise that
 * vertex could not move. */
static nw_status bisect_refine(const struct nw_graph *graph, int32_t target,
                               int8_t *side, double *cut)
{
    struct nw_fm_cut to = {.target = target};

    for (int32_t v = 0; v < graph->n; v++)
        if (graph->size[v] > 1 && graph->size[v] > to.tolerance)
            to.tolerance = graph->size[v];
    return nw_fm(graph, to, side, cut);
}

/* Makes `tries` initial bisections by growing, refines each and keeps the one
 * with the smallest cut. */
static nw_status bisect_cut_first(const struct nw_graph *graph, int32_t target,
                                  int tries, struct nw_random *random,
                                  int8_t *side)
{
    size_t n = (size_t)graph->n;
    double *connection = NULL, best = -1;
    int8_t *mine = NULL;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(n, connection), NW_ARRAY(n, mine));

    for (int i = 0; !status && i < tries; i++) {
        double cut;

        bisect_grow(graph, target, random, connection, mine);
        status = bisect_refine(graph, target, mine, &cut);
        if (!status && (best < 0 || cut < best)) {
            best = cut;
            memcpy(side, mine, n);
        }
    }
    free(connection);
    free(mine);
    return status;
}

/* --- the multilevel scheme --- */

nw_status nw_bisect_multilevel(const struct nw_graph *graph, int32_t target,
                               int tries, struct nw_random *random,
                               int8_t *side)
{
    struct nw_graph_merge merge = {0};
    struct nw_graph coarse = {0};
    size_t n = (size_t)graph->n;
    int32_t *into = NULL;
    int8_t *above = NULL;
    int32_t coarsest =
        graph->coarsest ? graph->coarsest : nw_tuned.bisection.coarsest;
    double cut;
    nw_status status = NW_OK;

    if (graph->n <= coarsest)
        return bisect_cut_first(graph, target, tries, random, side);
    status = nw_alloc(n, sizeof *into, &into);
    if (!status)
        status = nw_graph_coarsen(graph, &merge, random, &coarse, into);
    if (!status)
        status = nw_alloc((size_t)coarse.n, 1, &above);
    if (!status && coarse.n < nw_tuned.bisection.shrink * graph->n) {
        status = nw_bisect_multilevel(&coarse, target, tries, random, above);
        for (size_t v = 0; !status && v < n; v++)
            side[v] = above[into[v]];
        if (!status)
            status = bisect_refine(graph, target, side, &cut);
    } else if (!status) {
        status = bisect_cut_first(graph, target, 2, random, side);
    }
    free(into);
    free(above);
    nw_graph_fini(&coarse);
    return status;
}
