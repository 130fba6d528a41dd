/* SPDX-License-Identifier: BSD-3-Clause */
/* Greedy graph growing: a first bisection of a small graph, with the vertices
 * beyond side 0 in a heap. */
#include "map/graph/bisect_multilevel.h"
#include "map/common/addressable_heap.h"
#include "base/array.h"

/* Puts fixed vertices on their sides and all others on side 1. Adds these to
 * the heap, with the gain of a move to side 0. Returns the load of side 0. */
static double grow_bisection_begin(const struct nw_graph *graph,
                                   const int8_t *fixed, struct nw_heap *heap,
                                   double *gain, int8_t *side)
{
    double load = 0;

    for (int32_t v = 0; v < graph->n; v++) {
        side[v] = fixed && fixed[v] >= 0 ? fixed[v] : 1;
        load += side[v] ? 0 : (double)graph->load[v];
    }
    for (int32_t v = 0; v < graph->n; v++) {
        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++)
            gain[v] += side[graph->arc[a].to] ? -(double)graph->arc[a].weight
                                              : (double)graph->arc[a].weight;
        if (!fixed || fixed[v] < 0)
            nw_heap_add(heap, v);
    }
    return load;
}

nw_status nw_bisect_grow(const struct nw_graph *graph,
                         const struct nw_bisection *to,
                         struct nw_random *random, int8_t *side)
{
    size_t n = (size_t)graph->n;
    struct nw_heap heap = {0};
    double *gain = NULL, load = 0;
    int32_t v = (int32_t)nw_random_below(random, (uint64_t)n);
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(n, gain), NW_ARRAY(n, heap.at),
                                    NW_ARRAY(n, heap.item));

    heap.gain = gain;
    if (!status) {
        load = grow_bisection_begin(graph, to->fixed, &heap, gain, side);
        if (load > 0 || !heap.at[v])
            v = nw_heap_top(&heap);
    }
    while (!status && v >= 0 && load < to->target) {
        nw_heap_remove(&heap, v);
        side[v] = 0;
        load += (double)graph->load[v];
        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            int32_t u = graph->arc[a].to;

            gain[u] += 2 * (double)graph->arc[a].weight;
            if (heap.at[u])
                nw_heap_update(&heap, u);
        }
        while ((v = nw_heap_top(&heap)) >= 0 &&
               load + (double)(graph->load[v] / 2) > to->target)
            nw_heap_remove(&heap, v);
    }
    NW_FREE_ALL(gain, heap.at, heap.item);
    return status;
}
