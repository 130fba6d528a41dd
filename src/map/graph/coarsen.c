/* SPDX-License-Identifier: BSD-3-Clause */
/* Coarsens a graph by one level: heavy-edge matching (Karypis and Kumar 1998,
 * section 3), matching of vertices that remain single, then contraction of the
 * matched pairs. */
#include "map/graph/graph.h"
#include "base/array.h"

#include <stdlib.h>

/* Returns true if v and u may become one coarse vertex. */
static bool coarsen_may_join(const struct nw_graph *graph,
                             const struct nw_graph_merge *merge, int32_t v,
                             int32_t u)
{
    const struct nw_graph_range *range = graph->range;

    return graph->load[v] <= merge->load_max - graph->load[u] &&
           (!merge->part || merge->part[v] == merge->part[u]) &&
           (!merge->other || merge->other[v] == merge->other[u]) &&
           (!merge->side || merge->side[v] == merge->side[u]) &&
           (!range ||
            (range[v].low == range[u].low && range[v].high == range[u].high));
}

/* Matches vertices by heavy-edge matching. The vertices are visited in random
 * order. Each is matched with an unmatched neighbour that it may join
 * (coarsen_may_join). This is the one with the most weight on the edge between
 * both, relative to the neighbour's size. mate[v] is v if vertex v finds no
 * partner. order[vertices] is scratch. */
static void coarsen_match(const struct nw_graph *graph,
                          const struct nw_graph_merge *merge,
                          struct nw_random *random, int32_t *order,
                          int32_t *mate)
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

            if (mate[u] < 0 && connection > most &&
                coarsen_may_join(graph, merge, v, u)) {
                most = connection;
                best = u;
            }
        }
        mate[v] = best;
        mate[best] = v;
    }
}

/* Returns the peer of v to which v has the most weight; graph->n if v has no
 * arcs. */
static int32_t coarsen_heaviest(const struct nw_graph *graph, int32_t v)
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
 * may join and have the same heaviest peer, a hub, or both have no arcs.
 * waiting[vertices + 1] is scratch. */
static void coarsen_match_rest(const struct nw_graph *graph,
                               const struct nw_graph_merge *merge,
                               int32_t *waiting, int32_t *mate)
{
    for (int32_t v = 0; v <= graph->n; v++)
        waiting[v] = -1;
    for (int32_t v = 0; v < graph->n; v++) {
        int32_t hub = mate[v] == v ? coarsen_heaviest(graph, v) : -1;

        if (hub < 0)
            continue;
        if (waiting[hub] < 0 ||
            !coarsen_may_join(graph, merge, v, waiting[hub])) {
            waiting[hub] = v;
            continue;
        }
        mate[v] = waiting[hub];
        mate[waiting[hub]] = v;
        waiting[hub] = -1;
    }
}

nw_status nw_graph_coarsen(const struct nw_graph *graph,
                           const struct nw_graph_merge *merge,
                           struct nw_random *random, struct nw_graph *coarse,
                           int32_t *into)
{
    size_t n = (size_t)graph->n;
    int32_t *mate = NULL, *scratch = NULL, count = 0;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(n, mate), NW_ARRAY(n + 1, scratch));

    *coarse = (struct nw_graph){0};
    if (!status) {
        coarsen_match(graph, merge, random, scratch, mate);
        coarsen_match_rest(graph, merge, scratch, mate);
        for (int32_t v = 0; v < graph->n; v++)
            into[v] = mate[v] < v ? into[mate[v]] : count++;
        status = nw_graph_contract(graph, into, count, coarse);
    }
    free(mate);
    free(scratch);
    return status;
}
