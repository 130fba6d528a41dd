/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates graphs, extracts subgraphs, and coarsens a graph by one level:
 * heavy-edge matching (Karypis and Kumar 1998, section 3), matching of vertices
 * that remain single, then contraction of the matched pairs. */
#include "map/graph/graph.h"
#include "base/array.h"

#include <stdlib.h>

nw_status nw_graph_init(struct nw_graph *graph, int32_t n, size_t arcs)
{
    nw_status status;

    *graph = (struct nw_graph){.n = n};
    status = nw_alloc_raw(arcs, sizeof *graph->arc, &graph->arc);
    if (!status)
        status = NW_ALLOC_ALL(NW_ARRAY((size_t)n + 1, graph->row),
                              NW_ARRAY((size_t)n, graph->size),
                              NW_ARRAY((size_t)n, graph->load));
    if (status)
        nw_graph_fini(graph);
    return status;
}

void nw_graph_fini(struct nw_graph *graph)
{
    NW_FREE_ALL(graph->row, graph->arc, graph->size, graph->load, graph->range);
    *graph = (struct nw_graph){0};
}

/* --- subgraphs --- */

nw_status nw_graph_subgraph(const struct nw_graph *graph, const int32_t *vertex,
                            int32_t count, int32_t *place,
                            struct nw_graph *part)
{
    size_t arcs = 0;
    nw_status status;

    for (int32_t i = 0; i < count; i++)
        arcs += (size_t)nw_graph_degree(graph, vertex[i]);
    status = nw_graph_init(part, count, arcs);
    arcs = 0;
    for (int32_t i = 0; !status && i < count; i++)
        __atomic_store_n(&place[vertex[i]], i, __ATOMIC_RELAXED);
    for (int32_t i = 0; !status && i < count; i++) {
        int32_t v = vertex[i];

        part->load[i] = graph->load[v];
        part->size[i] = graph->size[v];
        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            int32_t to = graph->arc[a].to;
            /* another thread may change place[to] if `to` is not in the list */
            int32_t at = __atomic_load_n(&place[to], __ATOMIC_RELAXED);

            if (at < count && vertex[at] == to)
                part->arc[arcs++] =
                    (struct nw_graph_arc){at, graph->arc[a].weight};
        }
        part->row[i + 1] = arcs;
    }
    return status;
}

/* --- contraction --- */

/* Adds vertex v to the coarse vertex into[v]: its load, its size and its arcs.
 * New arcs are appended to coarse->arc[] from index `end` on. Returns the new
 * end. sum[to] is the weight of the arc from the coarse vertex to coarse vertex
 * `to`; 0: no such arc. */
static size_t graph_add_vertex(const struct nw_graph *fine, const int32_t *into,
                               int32_t v, double *sum, struct nw_graph *coarse,
                               size_t end)
{
    int32_t group = into[v];

    for (size_t a = fine->row[v]; a < fine->row[v + 1]; a++) {
        int32_t to = into[fine->arc[a].to];

        if (to == group)
            continue;
        if (sum[to] <= 0)
            coarse->arc[end++].to = to;
        sum[to] += (double)fine->arc[a].weight;
    }
    coarse->load[group] += fine->load[v];
    coarse->size[group] += fine->size[v];
    if (coarse->range)
        coarse->range[group] = fine->range[v];
    return end;
}

/* Makes the coarser graph *coarse, in which vertex into[v] < n contains vertex
 * v of `fine`. Vertices with the same into[v] must have the same range. */
static nw_status graph_contract(const struct nw_graph *fine,
                                const int32_t *into, int32_t n,
                                struct nw_graph *coarse)
{
    int32_t *first = NULL, *member = NULL;
    double *sum = NULL;
    nw_status status = nw_graph_init(coarse, n, fine->row[fine->n]);

    if (!status)
        status = NW_ALLOC_ALL(NW_ARRAY((size_t)n + 2, first),
                              NW_ARRAY((size_t)fine->n, member),
                              NW_ARRAY((size_t)n, sum));
    if (!status && fine->range)
        status = nw_alloc((size_t)n, sizeof *coarse->range, &coarse->range);
    if (!status)
        nw_list_by_group(into, fine->n, n, first, member);
    for (int32_t g = 0; !status && g < n; g++) {
        size_t end = coarse->row[g];

        for (int32_t i = first[g]; i < first[g + 1]; i++)
            end = graph_add_vertex(fine, into, member[i], sum, coarse, end);
        for (size_t a = coarse->row[g]; a < end; a++) {
            coarse->arc[a].weight = (float)sum[coarse->arc[a].to];
            sum[coarse->arc[a].to] = 0;
        }
        coarse->row[g + 1] = end;
    }
    NW_FREE_ALL(first, member, sum);
    return status;
}

/* --- coarsening --- */

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
        status = graph_contract(graph, into, count, coarse);
    }
    free(mate);
    free(scratch);
    return status;
}
