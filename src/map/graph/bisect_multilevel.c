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

/* --- coarsening --- */

/* Matches vertices by heavy-edge matching. The vertices are visited in random
 * order. Each is matched with an unmatched neighbour: the one with the most
 * bytes on the edge between both, relative to the neighbour's size. mate[v] is
 * v if vertex v finds no partner. order[n] is scratch. */
static void bisect_match(const struct nw_graph *graph, struct nw_random *random,
                         int32_t *order, int32_t *mate)
{
    for (int32_t v = 0; v < graph->n; v++) {
        order[v] = v;
        mate[v] = -1;
    }
    nw_random_shuffle(random, order, (size_t)graph->n);
    for (int32_t i = 0; i < graph->n; i++) {
        int32_t v = order[i], best = v;
        float most = 0;

        if (mate[v] >= 0)
            continue;
        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            int32_t u = graph->arc[a].to;
            float connection = graph->arc[a].weight / (float)graph->size[u];

            if (mate[u] < 0 && connection > most) {
                most = connection;
                best = u;
            }
        }
        mate[v] = best;
        mate[best] = v;
    }
}

/* Returns the peer of v to which v has the most bytes; n if v has no arcs. */
static int32_t bisect_heaviest(const struct nw_graph *graph, int32_t v)
{
    int32_t best = graph->n;
    float most = 0;

    for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++)
        if (graph->arc[a].weight > most) {
            most = graph->arc[a].weight;
            best = graph->arc[a].to;
        }
    return best;
}

/* Matches vertices that are still single (mate[v] is v) with each other if they
 * have the same heaviest peer, a hub, or if both have no arcs. waiting[n + 1]
 * is scratch. */
static void bisect_match_rest(const struct nw_graph *graph, int32_t *waiting,
                              int32_t *mate)
{
    for (int32_t v = 0; v <= graph->n; v++)
        waiting[v] = -1;
    for (int32_t v = 0; v < graph->n; v++) {
        int32_t hub = mate[v] == v ? bisect_heaviest(graph, v) : -1;

        if (hub < 0)
            continue;
        if (waiting[hub] < 0) {
            waiting[hub] = v;
            continue;
        }
        mate[v] = waiting[hub];
        mate[waiting[hub]] = v;
        waiting[hub] = -1;
    }
}

nw_status nw_bisect_coarsen(const struct nw_graph *graph,
                            struct nw_random *random, struct nw_graph *out,
                            int32_t *into)
{
    size_t n = (size_t)graph->n;
    int32_t *mate = NULL, *scratch = NULL, count = 0;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(n, mate), NW_ARRAY(n + 1, scratch));

    *out = (struct nw_graph){0};
    if (!status) {
        bisect_match(graph, random, scratch, mate);
        bisect_match_rest(graph, scratch, mate);
        for (int32_t v = 0; v < graph->n; v++)
            into[v] = mate[v] < v ? into[mate[v]] : count++;
        status = nw_graph_contract(graph, into, count, out);
    }
    free(mate);
    free(scratch);
    return status;
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
        status = nw_bisect_coarsen(graph, random, &coarse, into);
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
