/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the undirected graph of the k-way engine from the pattern; its vertices
 * are the ranks. The weight of an edge sums both directions and all kinds of
 * traffic: bytes, or messages if the objective is latency. Also finds the
 * elements on which fixed ranks may be. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "map/capacity/several.h"
#include "map/problem/arcs.h"

#include <math.h>
#include <stdlib.h>

/* largest load of all ranks together */
#define LOAD_MAX ((nw_graph_load)1 << 63)

/* Makes the graph, one vertex for each rank, and its edges from the traffic
 * between ranks. */
static nw_status to_graph_read(struct nw_several *several)
{
    const nw_pattern *pattern = several->pattern;
    struct nw_arcs_of of = {.pattern = pattern,
                            .ranks.count = (size_t)pattern->rank_count,
                            .kinds = NW_KINDS_ALL,
                            .messages = several->options.objective ==
                                        NW_OBJECTIVE_LATENCY};
    struct nw_graph *graph = &several->graph;
    struct nw_arc *arc = NULL;
    size_t *row = NULL, count = 0;
    nw_status status = nw_arcs_read(&of, &row, &arc);

    if (!status)
        status =
            nw_graph_init(graph, pattern->rank_count, row[pattern->rank_count]);
    for (int32_t v = 0; !status && v < pattern->rank_count; v++) {
        for (size_t a = row[v]; a < row[v + 1]; a++) {
            graph->arc[count].to = arc[a].peer;
            graph->arc[count].weight = (float)(arc[a].out + arc[a].in);
            count += graph->arc[count].weight > 0;
        }
        graph->row[v + 1] = count;
    }
    free(row);
    free(arc);
    return status;
}

/* Sets the load of each vertex: the weight of the rank, or 1 if neither the
 * options nor the pattern give weights. Returns NW_EINVAL if the sum exceeds
 * LOAD_MAX. */
static nw_status to_graph_set_loads(struct nw_several *several)
{
    const uint64_t *weight = several->options.weights
                                 ? several->options.weights
                                 : several->pattern->weight;
    nw_graph_load sum = 0;

    for (int32_t v = 0; v < several->graph.n; v++) {
        uint64_t load = weight ? weight[v] : 1;

        if (load > INT64_MAX || sum + (nw_graph_load)load > LOAD_MAX)
            return nw_fail(NW_EINVAL, "the weights of the ranks sum to more "
                                      "than 2^63");
        sum += (nw_graph_load)load;
        several->graph.load[v] = (int64_t)load;
        several->graph.size[v] = 1;
    }
    return NW_OK;
}

/* Sets the range of elements on which rank r may be: one element if its core is
 * fixed, those of one host if only its node is fixed, otherwise all. Returns
 * NW_EINVAL if the node is not used, the core is missing or the rank has
 * several. */
static nw_status to_graph_fix_rank(struct nw_several *several, int32_t r)
{
    const nw_mapping *fixed = several->options.fixed;
    struct nw_graph_range *range = &several->graph.range[r];
    struct nw_ints cores;
    int32_t h;

    *range = (struct nw_graph_range){0, several->first[several->host_count]};
    if (fixed->node[r] < 0)
        return NW_OK;
    h = nw_several_host_find(several, fixed->node_name[fixed->node[r]]);
    if (h < 0)
        return nw_fail_about(NW_FIXED(r), NW_EINVAL,
                             "rank %d is fixed to a node that is not used", r);
    *range = (struct nw_graph_range){several->first[h], several->first[h + 1]};
    cores = nw_mapping_cores(fixed, r);
    if (!cores.count)
        return NW_OK;
    if (cores.count > 1)
        return nw_fail_about(NW_FIXED(r), NW_EINVAL,
                             "rank %d is fixed to %zu core%s, but has only one "
                             "if an element takes several ranks",
                             r, cores.count, nw_plural((uint64_t)cores.count));
    if (cores.values[0] >= range->high - range->low)
        return nw_fail_about(NW_FIXED(r), NW_EINVAL,
                             "rank %d is fixed to a core that is not there", r);
    range->low += cores.values[0];
    range->high = range->low + 1;
    return NW_OK;
}

/* Sets the range of elements on which each rank may be, if ranks are fixed. */
static nw_status to_graph_fix_ranks(struct nw_several *several)
{
    const nw_mapping *fixed = several->options.fixed;
    nw_status status;

    if (!fixed)
        return NW_OK;
    if (fixed->rank_count != several->graph.n)
        return nw_fail_about(
            NW_FIXED(-1), NW_EINVAL,
            "the list of fixed ranks is for %d rank%s, the pattern has %d",
            fixed->rank_count, nw_plural((uint64_t)fixed->rank_count),
            several->graph.n);
    status = nw_alloc((size_t)several->graph.n, sizeof *several->graph.range,
                      &several->graph.range);
    for (int32_t r = 0; !status && r < several->graph.n; r++)
        status = to_graph_fix_rank(several, r);
    return status;
}

nw_status nw_several_to_graph(struct nw_several *several)
{
    nw_status status = to_graph_read(several);

    if (!status)
        status = to_graph_set_loads(several);
    if (!status)
        status = to_graph_fix_ranks(several);
    return status;
}
