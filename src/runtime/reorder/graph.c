/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Graph_create and MPI_Graph_map: every rank passes the whole graph, and
 * rank 0 decides. An edge that is listed w times has weight w. */
#include "runtime/reorder/reorder.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

struct graph_graph {
    int count;
    const int *index, *edges;
};

/* Returns true if MPI would reject the graph. */
static bool reorder_graph_is_bad(const struct nw_call *call,
                                 const struct graph_graph *graph)
{
    int before = 0;

    if (graph->count < 0 || graph->count > call->size ||
        (graph->count && !graph->index))
        return true;
    for (int v = 0; v < graph->count; before = graph->index[v++])
        if (graph->index[v] < before)
            return true;
    if (before && !graph->edges)
        return true;
    for (int e = 0; e < before; e++)
        if (graph->edges[e] < 0 || graph->edges[e] >= graph->count)
            return true;
    return false;
}

/* Returns true if a valid graph has edges. Without edges, every order costs the
 * same. */
static bool has_edges(const struct graph_graph *graph)
{
    return graph->count >= 2 && graph->index[graph->count - 1] > 0;
}

static nw_status reorder_graph_add_edges(const struct graph_graph *graph,
                                         nw_pattern_builder *builder)
{
    nw_status status = NW_OK;

    for (int v = 0, e = 0; !status && v < graph->count; v++)
        for (; !status && e < graph->index[v]; e++)
            if (graph->edges[e] != v)
                status = nw_pattern_builder_add(builder, v, graph->edges[e],
                                                NW_KIND_HH, 1, 1);
    return status;
}

static bool reorder_graph_decide(struct nw_call *call,
                                 const struct graph_graph *graph)
{
    nw_pattern_builder *builder;
    nw_pattern *pattern = NULL;
    bool good;

    if (nw_pattern_builder_new(graph->count, &builder))
        return false;
    good = !reorder_graph_add_edges(graph, builder) &&
           !nw_pattern_builder_build(builder, &pattern) &&
           nw_call_decide(call, pattern);
    nw_pattern_free(pattern);
    nw_pattern_builder_free(builder);
    return good;
}

static uint64_t reorder_graph_hash_of(const struct graph_graph *graph,
                                      bool sound)
{
    size_t n = (size_t)graph->count;

    if (!sound)
        return 0;
    return nw_hash_ints(nw_hash_ints(n, graph->index, n), graph->edges,
                        (size_t)graph->index[n - 1]);
}

static int reorder_graph_create(const struct nw_call *call,
                                const struct graph_graph *graph, MPI_Comm *out)
{
    MPI_Comm permuted;
    int code = nw_call_permute(call, &permuted);

    *out = MPI_COMM_NULL;
    if (code || permuted == MPI_COMM_NULL)
        return code;
    code = NW_PMPI(Graph_create)(permuted, graph->count, graph->index,
                                 graph->edges, 0, out);
    NW_PMPI(Comm_free)(&permuted);
    return code;
}

int nw_graph_create(MPI_Comm comm, int count, const int *index,
                    const int *edges, int reorder, MPI_Comm *out)
{
    struct graph_graph graph = {count, index, edges};
    struct nw_call call;
    char shape[48];
    bool ours = nw_call_open(&call, "MPI_Graph_create", comm, reorder);
    int code;

    if (ours) {
        bool sound, good;

        call.bad = reorder_graph_is_bad(&call, &graph);
        sound = call.wanted && !call.bad && has_edges(&graph);
        good = sound && nw_call_reserve(&call) &&
               (call.rank || reorder_graph_decide(&call, &graph));
        snprintf(shape, sizeof shape, "of %d vert%s", count,
                 nw_by_count((uint64_t)count, "ex", "ices"));
        good = nw_call_tell(&call, good, reorder_graph_hash_of(&graph, sound));
        ours = nw_call_share(&call, good) && nw_call_report(&call, shape);
    }
    code = call.refused ? nw_call_refuse(&call, MPI_ERR_ARG)
           : ours       ? reorder_graph_create(&call, &graph, out)
                        : NW_PMPI(Graph_create)(comm, count, index, edges,
                                          nw_call_reorder(&call, reorder), out);
    if (!code && call.opened)
        nw_call_finish(&call, *out);
    nw_call_close(&call);
    return code;
}

int nw_graph_map(MPI_Comm comm, int count, const int *index, const int *edges,
                 int *rank)
{
    struct graph_graph graph = {count, index, edges};
    struct nw_call call;
    bool ours = nw_call_open(&call, "MPI_Graph_map", comm, 1) && call.wanted &&
                !reorder_graph_is_bad(&call, &graph) && has_edges(&graph) &&
                reorder_graph_decide(&call, &graph);
    int code = MPI_SUCCESS;

    if (ours && call.decision.changes &&
        nw_reorder_settings()->mode != NW_REORDER_REPORT) {
        int vertex = call.decision.vertex[call.rank];

        *rank = vertex < 0 ? MPI_UNDEFINED : vertex;
    } else {
        code = NW_PMPI(Graph_map)(comm, count, index, edges, rank);
    }
    nw_call_close(&call);
    return code;
}
