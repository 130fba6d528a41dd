/* SPDX-License-Identifier: BSD-3-Clause */
/* The pattern as an undirected graph: both directions and all kinds of an edge
 * are one, weighted by what the objective counts; and where fixed ranks may
 * lie. */
#include "base/array.h"
#include "base/status.h"
#include "map/capacity/several.h"

#include <math.h>
#include <stdlib.h>

#define LOAD_MOST ((nw_kload)1 << 63) /* of all ranks */

static double weight_of(const struct nw_many *many, size_t e)
{
    if (many->options.objective == NW_OBJECTIVE_LATENCY)
        return (double)many->pattern->messages[e];
    return (double)many->pattern->bytes[e];
}

/* Edges of each rank to and from others, sorted by the other end: what comes
 * in is spread by rising source, what goes out is sorted already. */
static nw_status transpose(const nw_pattern *p, size_t **row, int32_t **from,
                           size_t **edge)
{
    size_t n = (size_t)p->rank_count;
    nw_status status = nw_alloc(n + 2, sizeof **row, row);

    if (!status)
        status = nw_alloc(p->edge_count, sizeof **from, from);
    if (!status)
        status = nw_alloc(p->edge_count, sizeof **edge, edge);
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

struct merging {
    struct nw_many *many;
    size_t *row;
    int32_t *from;
    size_t *edge;
    size_t arcs;
};

static void add(struct merging *m, int32_t v, int32_t u, double weight)
{
    struct nw_kgraph *g = &m->many->graph;

    if (u == v || weight == 0)
        return;
    if (m->arcs > g->row[v] && g->to[m->arcs - 1] == u) {
        g->weight[m->arcs - 1] += weight;
        return;
    }
    g->to[m->arcs] = u;
    g->weight[m->arcs++] = weight;
}

static void merge_rank(struct merging *m, int32_t v)
{
    const nw_pattern *p = m->many->pattern;
    size_t out = p->row[v], in = m->row[v];

    m->many->graph.row[v] = m->arcs;
    while (out < p->row[v + 1] || in < m->row[v + 1]) {
        bool take_out = in == m->row[v + 1] ||
                        (out < p->row[v + 1] && p->dst[out] <= m->from[in]);

        if (take_out) {
            add(m, v, p->dst[out], weight_of(m->many, out));
            out++;
        } else {
            add(m, v, m->from[in], weight_of(m->many, m->edge[in]));
            in++;
        }
    }
}

static nw_status merge(struct nw_many *many)
{
    const nw_pattern *p = many->pattern;
    struct merging m = {.many = many};
    nw_status status =
        nw_kgraph_alloc(&many->graph, p->rank_count, 2 * p->edge_count);

    if (!status)
        status = transpose(p, &m.row, &m.from, &m.edge);
    for (int32_t v = 0; !status && v < p->rank_count; v++)
        merge_rank(&m, v);
    if (!status)
        many->graph.row[p->rank_count] = m.arcs;
    free(m.row);
    free(m.from);
    free(m.edge);
    return status;
}

static nw_status set_loads(struct nw_many *many)
{
    const uint64_t *weight =
        many->options.weights ? many->options.weights : many->pattern->weight;
    nw_kload sum = 0;

    for (int32_t v = 0; v < many->graph.n; v++) {
        uint64_t load = weight ? weight[v] : 1;

        if (load > INT64_MAX || sum + (nw_kload)load > LOAD_MOST)
            return nw_fail(NW_EINVAL, "the weights of the ranks sum to more "
                                      "than 2^63");
        sum += (nw_kload)load;
        many->graph.load[v] = (int64_t)load;
        many->graph.count[v] = 1;
    }
    return NW_OK;
}

static nw_status fix_rank(struct nw_many *many, int32_t r)
{
    const nw_mapping *fixed = many->options.fixed;
    struct nw_krange *range = &many->graph.range[r];
    struct nw_ints cores;
    int32_t h = 0;

    *range = (struct nw_krange){0, many->first[many->host_count]};
    if (fixed->node[r] < 0)
        return NW_OK;
    while (h < many->host_count && many->host[h] != fixed->node[r])
        h++;
    if (h == many->host_count)
        return nw_fail_about(NW_FIXED(r), NW_EINVAL,
                             "rank %d is fixed to a node that is not used", r);
    *range = (struct nw_krange){many->first[h], many->first[h + 1]};
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

static nw_status fix_ranks(struct nw_many *many)
{
    const nw_mapping *fixed = many->options.fixed;
    nw_status status;

    if (!fixed)
        return NW_OK;
    if (fixed->rank_count != many->graph.n)
        return nw_fail_about(NW_FIXED(-1), NW_EINVAL,
                             "%d ranks are fixed or open, the pattern has "
                             "%d",
                             fixed->rank_count, many->graph.n);
    status = nw_alloc((size_t)many->graph.n, sizeof *many->graph.range,
                      &many->graph.range);
    for (int32_t r = 0; !status && r < many->graph.n; r++)
        status = fix_rank(many, r);
    return status;
}

nw_status nw_many_make_graph(struct nw_many *many)
{
    nw_status status = merge(many);

    if (!status)
        status = set_loads(many);
    if (!status)
        status = fix_ranks(many);
    return status;
}
