/* SPDX-License-Identifier: BSD-3-Clause */
#include "map/graph/rebalance.h"

/* Returns by how many bytes the cut falls if vertex v moves to part `to`. */
static double rebalance_gain_of(const struct nw_graph *graph,
                                const int32_t *part, int32_t v, int32_t to)
{
    double gain = 0;

    for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
        int32_t there = part[graph->arc[a].to];

        if (there == to)
            gain += (double)graph->arc[a].weight;
        if (there == part[v])
            gain -= (double)graph->arc[a].weight;
    }
    return gain;
}

/* Moves the vertex with the largest gain from part `from` to part `to`. */
static void rebalance_move_best(const struct nw_graph *graph, int32_t *part,
                                int32_t from, int32_t to)
{
    int32_t best = -1;
    double most = 0;

    for (int32_t v = 0; v < graph->n; v++) {
        double gain;

        if (part[v] != from)
            continue;
        gain = rebalance_gain_of(graph, part, v, to);
        if (best < 0 || gain > most) {
            best = v;
            most = gain;
        }
    }
    part[best] = to;
}

void nw_rebalance(const struct nw_graph *graph, int32_t *part, int32_t parts,
                  int32_t *imbalance)
{
    int32_t to = 0;

    for (int32_t p = 0; p < parts; p++)
        for (; imbalance[p] > 0; imbalance[p]--) {
            while (imbalance[to] >= 0)
                to++;
            rebalance_move_best(graph, part, p, to);
            imbalance[to]++;
        }
}
