/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes an undirected graph of the pattern: both directions and all kinds of an
 * edge are summed, weighted as the objective counts them. Also finds the
 * elements that fixed ranks may use. */
#include "base/array.h"
#include "base/status.h"
#include "map/capacity/several.h"

#include <math.h>
#include <stdlib.h>

#define LOAD_MAX ((nw_kway_load)1 << 63) /* of all ranks */

static double to_graph_weight_of(const struct nw_several *several, size_t e)
{
    if (several->options.objective == NW_OBJECTIVE_LATENCY)
        return (double)several->pattern->messages[e];
    return (double)several->pattern->bytes[e];
}

/* Edges of each rank to and from others, sorted by the other end: what comes
 * in is spread by rising source, what goes out is sorted already. */
static nw_status to_graph_transpose(const nw_pattern *p, size_t **row,
                                    int32_t **from, size_t **edge)
{
    size_t n = (size_t)p->rank_count;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(n + 2, *row), NW_ARRAY(p->edge_count, *from),
                     NW_ARRAY(p->edge_count, *edge));

    if (status)
        return status;
    for (size_t e = 0; e < p->edge_count; e++)
        (*row)[p->dst[e] + 2]++;
    for (size_t v = 0; v < n; v++)
        (*row)[v + 2] += (*row)[v + 1];
    for (int32_t v = 0; v < p->rank_count; v++)
        for (size_t e = p->row[v]; e < p->row[v + 1]; e++) {
            size_t at = (*row)[p->dst[e] + 1]++;

            (*from)[at] = v;
            (*edge)[at] = e;
        }
    return NW_OK;
}

struct to_graph_work {
    struct nw_several *several;
    size_t *row;
    int32_t *from;
    size_t *edge;
    size_t arcs;
};

static void to_graph_add(struct to_graph_work *m, int32_t v, int32_t u,
                         double weight)
{
    struct nw_kway_graph *g = &m->several->graph;

    if (u == v || weight == 0)
        return;
    if (m->arcs > g->row[v] && g->to[m->arcs - 1] == u) {
        g->weight[m->arcs - 1] += weight;
        return;
    }
    g->to[m->arcs] = u;
    g->weight[m->arcs++] = weight;
}

static void to_graph_merge_rank(struct to_graph_work *m, int32_t v)
{
    const nw_pattern *p = m->several->pattern;
    size_t out = p->row[v], in = m->row[v];

    m->several->graph.row[v] = m->arcs;
    while (out < p->row[v + 1] || in < m->row[v + 1]) {
        bool take_out = in == m->row[v + 1] ||
                        (out < p->row[v + 1] && p->dst[out] <= m->from[in]);

        if (take_out) {
            to_graph_add(m, v, p->dst[out],
                         to_graph_weight_of(m->several, out));
            out++;
        } else {
            to_graph_add(m, v, m->from[in],
                         to_graph_weight_of(m->several, m->edge[in]));
            in++;
        }
    }
}

static nw_status to_graph_merge(struct nw_several *several)
{
    const nw_pattern *p = several->pattern;
    struct to_graph_work m = {.several = several};
    nw_status status =
        nw_kway_graph_alloc(&several->graph, p->rank_count, 2 * p->edge_count);

    if (!status)
        status = to_graph_transpose(p, &m.row, &m.from, &m.edge);
    for (int32_t v = 0; !status && v < p->rank_count; v++)
        to_graph_merge_rank(&m, v);
    if (!status)
        several->graph.row[p->rank_count] = m.arcs;
    NW_FREE_ALL(m.row, m.from, m.edge);
    return status;
}

static nw_status to_graph_set_loads(struct nw_several *several)
{
    const uint64_t *weight = several->options.weights
                                 ? several->options.weights
                                 : several->pattern->weight;
    nw_kway_load sum = 0;

    for (int32_t v = 0; v < several->graph.n; v++) {
        uint64_t load = weight ? weight[v] : 1;

        if (load > INT64_MAX || sum + (nw_kway_load)load > LOAD_MAX)
            return nw_fail(NW_EINVAL, "the weights of the ranks sum to more "
                                      "than 2^63");
        sum += (nw_kway_load)load;
        several->graph.load[v] = (int64_t)load;
        several->graph.count[v] = 1;
    }
    return NW_OK;
}

static nw_status to_graph_fix_rank(struct nw_several *several, int32_t r)
{
    const nw_mapping *fixed = several->options.fixed;
    struct nw_kway_range *range = &several->graph.range[r];
    struct nw_ints cores;
    int32_t h = 0;

    *range = (struct nw_kway_range){0, several->first[several->host_count]};
    if (fixed->node[r] < 0)
        return NW_OK;
    while (h < several->host_count && several->host[h] != fixed->node[r])
        h++;
    if (h == several->host_count)
        return nw_fail_about(NW_FIXED(r), NW_EINVAL,
                             "rank %d is fixed to a node that is not used", r);
    *range = (struct nw_kway_range){several->first[h], several->first[h + 1]};
    cores = nw_mapping_cores(fixed, r);
    if (!cores.count || cores.values[0] < 0)
        return NW_OK;
    if (cores.count > 1)
        return nw_fail_about(
            NW_FIXED(r), NW_EINVAL,
            "rank %d is fixed to %zu cores, and has one where an "
            "element takes several ranks",
            r, cores.count);
    if (cores.values[0] >= range->high - range->low)
        return nw_fail_about(NW_FIXED(r), NW_EINVAL,
                             "rank %d is fixed to a core that is not there", r);
    range->low += cores.values[0];
    range->high = range->low + 1;
    return NW_OK;
}

static nw_status to_graph_fix_ranks(struct nw_several *several)
{
    const nw_mapping *fixed = several->options.fixed;
    nw_status status;

    if (!fixed)
        return NW_OK;
    if (fixed->rank_count != several->graph.n)
        return nw_fail_about(NW_FIXED(-1), NW_EINVAL,
                             "%d ranks are fixed or open, the pattern has "
                             "%d",
                             fixed->rank_count, several->graph.n);
    status = nw_alloc((size_t)several->graph.n, sizeof *several->graph.range,
                      &several->graph.range);
    for (int32_t r = 0; !status && r < several->graph.n; r++)
        status = to_graph_fix_rank(several, r);
    return status;
}

nw_status nw_several_to_graph(struct nw_several *several)
{
    nw_status status = to_graph_merge(several);

    if (!status)
        status = to_graph_set_loads(several);
    if (!status)
        status = to_graph_fix_ranks(several);
    return status;
}
