/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates machines and computes the cost of a partition. */
#include "base/array.h"
#include "map/kway/kway.h"

#include <stdlib.h>

void nw_kway_machine_fini(struct nw_kway_machine *machine)
{
    NW_FREE_ALL(machine->step, machine->share, machine->limit,
                machine->capacity);
}

nw_status nw_kway_machine_alloc(struct nw_kway_machine *machine, int32_t k)
{
    size_t n = (size_t)k;

    machine->k = k;
    return NW_ALLOC_ALL(NW_ARRAY(n, machine->step), NW_ARRAY(n, machine->share),
                        NW_ARRAY(n, machine->limit),
                        NW_ARRAY(n, machine->capacity));
}

double nw_kway_cost(const struct nw_graph *graph,
                    const struct nw_kway_machine *machine, const int32_t *part)
{
    double sum = 0;

    for (int32_t v = 0; v < graph->n; v++)
        for (size_t e = graph->row[v]; e < graph->row[v + 1]; e++)
            if (graph->arc[e].to > v)
                sum +=
                    (double)graph->arc[e].weight *
                    nw_kway_distance(machine, part[v], part[graph->arc[e].to]);
    return sum;
}
