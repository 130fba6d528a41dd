/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates graphs, extracts subgraphs and contracts groups of vertices. */
#include "map/graph/graph.h"
#include "base/array.h"

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

nw_status nw_graph_contract(const struct nw_graph *fine, const int32_t *into,
                            int32_t n, struct nw_graph *coarse)
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
