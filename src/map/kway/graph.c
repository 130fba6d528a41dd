/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates graphs and machines, and computes the cost of a partition. */
#include "base/array.h"
#include "map/kway/memetic.h"

#include <stdlib.h>

void nw_kway_graph_fini(struct nw_kway_graph *graph)
{
    NW_FREE_ALL(graph->row, graph->to, graph->weight, graph->load, graph->count,
                graph->range);
    *graph = (struct nw_kway_graph){0};
}

nw_status nw_kway_graph_alloc(struct nw_kway_graph *graph, int32_t n,
                              size_t arcs)
{
    struct nw_kway_graph made = {.n = n};
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY((size_t)n + 1, made.row), NW_ARRAY(arcs, made.to),
        NW_ARRAY(arcs, made.weight), NW_ARRAY((size_t)n, made.load),
        NW_ARRAY((size_t)n, made.count));

    if (status)
        nw_kway_graph_fini(&made);
    else
        *graph = made;
    return status;
}

void nw_kway_machine_fini(struct nw_kway_machine *machine)
{
    NW_FREE_ALL(machine->step, machine->share, machine->limit,
                machine->capacity);
}

nw_status nw_kway_machine_alloc(struct nw_kway_machine *machine, int32_t k)
{
    size_t n = (size_t)k;
    nw_status status = nw_alloc(n, sizeof *machine->step, &machine->step);

    machine->k = k;
    if (!status)
        status = NW_ALLOC_ALL(NW_ARRAY(n, machine->share),
                              NW_ARRAY(n, machine->limit),
                              NW_ARRAY(n, machine->capacity));
    return status;
}

double nw_kway_cost(const struct nw_kway_graph *graph,
                    const struct nw_kway_machine *machine, const int32_t *part)
{
    double sum = 0;

    for (int32_t v = 0; v < graph->n; v++)
        for (size_t e = graph->row[v]; e < graph->row[v + 1]; e++)
            if (graph->to[e] > v)
                sum += graph->weight[e] *
                       nw_kway_distance(machine, part[v], part[graph->to[e]]);
    return sum;
}
