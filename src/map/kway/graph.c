/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the graph and the machine, and the cost of a partition. */
#include "base/array.h"
#include "map/kway/memetic.h"

#include <stdlib.h>

void nw_kway_graph_fini(struct nw_kway_graph *graph)
{
    free(graph->row);
    free(graph->to);
    free(graph->weight);
    free(graph->load);
    free(graph->count);
    free(graph->range);
    *graph = (struct nw_kway_graph){0};
}

nw_status nw_kway_graph_alloc(struct nw_kway_graph *graph, int32_t n,
                              size_t arcs)
{
    struct nw_kway_graph made = {.n = n};
    nw_status status = nw_alloc((size_t)n + 1, sizeof *made.row, &made.row);

    if (!status)
        status = nw_alloc(arcs, sizeof *made.to, &made.to);
    if (!status)
        status = nw_alloc(arcs, sizeof *made.weight, &made.weight);
    if (!status)
        status = nw_alloc((size_t)n, sizeof *made.load, &made.load);
    if (!status)
        status = nw_alloc((size_t)n, sizeof *made.count, &made.count);
    if (status)
        nw_kway_graph_fini(&made);
    else
        *graph = made;
    return status;
}

void nw_kway_machine_fini(struct nw_kway_machine *machine)
{
    free(machine->step);
    free(machine->share);
    free(machine->limit);
    free(machine->capacity);
}

nw_status nw_kway_machine_alloc(struct nw_kway_machine *machine, int32_t k)
{
    size_t n = (size_t)k;
    nw_status status = nw_alloc(n, sizeof *machine->step, &machine->step);

    machine->k = k;
    if (!status)
        status = nw_alloc(n, sizeof *machine->share, &machine->share);
    if (!status)
        status = nw_alloc(n, sizeof *machine->limit, &machine->limit);
    if (!status)
        status = nw_alloc(n, sizeof *machine->capacity, &machine->capacity);
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
