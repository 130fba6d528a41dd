/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs ranks into elements within the limits of load and ignores traffic.
 * Without --from, the k-way engine begins from this solution if the default
 * mapping (ranks in order) exceeds the limits. Ranks that are fixed to some
 * elements are packed first, then the others, both in descending order of load.
 * Each rank goes to the element that can take the most additional load. With
 * one rank per element this finds a solution if one exists, unless ranks are
 * fixed to nodes. */
#include "map/capacity/several.h"
#include "base/array.h"
#include "map/common/addressable_heap.h"

#include <stdlib.h>

/* A rank and its load, to be sorted. */
struct bin_packing_weighed {
    int64_t load;
    int32_t rank;
};

/* State of one call of nw_several_bin_packing. */
struct bin_packing_work {
    const struct nw_several *several;
    /* elements that take at least one more rank, by `gain` */
    struct nw_heap heap;
    nw_graph_load *left; /* [elements] load that each element can still take */
    double *gain;        /* [elements] `left` as a double, for the heap */
    int32_t *count;      /* [elements] number of ranks on each element */
    struct bin_packing_weighed *order; /* [ranks] ranks, the heaviest first */
};

/* Compares ranks for qsort: the heavier one comes first; of equal loads, the
 * lower rank. */
static int bin_packing_heaviest_first(const void *left, const void *right)
{
    const struct bin_packing_weighed *a = left, *b = right;

    if (a->load != b->load)
        return (a->load < b->load) - (a->load > b->load);
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Returns the element that can take the most additional load among those that
 * may take rank v; -1 if none takes another rank. */
static int32_t bin_packing_roomiest(const struct bin_packing_work *fit,
                                    int32_t v)
{
    const struct nw_graph_range *range = fit->several->graph.range;
    int32_t best = -1;

    if (!nw_several_is_fixed(fit->several, v))
        return nw_heap_top(&fit->heap);
    for (int32_t q = range[v].low; q < range[v].high; q++)
        if (fit->heap.at[q] && (best < 0 || fit->left[q] > fit->left[best]))
            best = q;
    return best;
}

/* Puts rank v on the element that can take the most additional load, and sets
 * part[v]. Returns false if that element cannot take the rank's load, or if no
 * element takes another rank. */
static bool bin_packing_put(struct bin_packing_work *fit, int32_t v,
                            int32_t *part)
{
    const struct nw_several *several = fit->several;
    int64_t load = several->graph.load[v];
    int32_t q = bin_packing_roomiest(fit, v);

    if (q < 0 || fit->left[q] < load)
        return false;
    part[v] = q;
    fit->left[q] -= load;
    fit->gain[q] = (double)fit->left[q];
    if (++fit->count[q] == several->machine.capacity[q])
        nw_heap_remove(&fit->heap, q);
    else
        nw_heap_update(&fit->heap, q);
    return true;
}

/* Puts all ranks on elements, first the fixed ones (nw_several_is_fixed).
 * part[v] becomes the element of rank v. Returns false if a rank does not fit.
 */
static bool bin_packing_put_all(struct bin_packing_work *fit, int32_t *part)
{
    int32_t n = fit->several->graph.n;
    bool fits = true;

    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; fits && i < n; i++)
            if (nw_several_is_fixed(fit->several, fit->order[i].rank) == !pass)
                fits = bin_packing_put(fit, fit->order[i].rank, part);
    return fits;
}

/* Allocates the arrays, sorts the ranks and adds the elements that take ranks
 * to the heap. */
static nw_status bin_packing_prepare(struct bin_packing_work *fit)
{
    const struct nw_kway_machine *m = &fit->several->machine;
    const struct nw_graph *g = &fit->several->graph;
    size_t n = (size_t)g->n, k = (size_t)m->k;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(n, fit->order), NW_ARRAY(k, fit->left),
                     NW_ARRAY(k, fit->gain), NW_ARRAY(k, fit->count),
                     NW_ARRAY(k, fit->heap.at), NW_ARRAY(k, fit->heap.item));

    if (status)
        return status;
    fit->heap.gain = fit->gain;
    for (int32_t v = 0; v < g->n; v++)
        fit->order[v] = (struct bin_packing_weighed){g->load[v], v};
    qsort(fit->order, n, sizeof *fit->order, bin_packing_heaviest_first);
    for (int32_t q = 0; q < m->k; q++) {
        fit->left[q] = m->limit[q];
        fit->gain[q] = (double)m->limit[q];
        if (m->capacity[q])
            nw_heap_add(&fit->heap, q);
    }
    return NW_OK;
}

nw_status nw_several_bin_packing(const struct nw_several *several,
                                 int32_t *part, bool *fits)
{
    struct bin_packing_work fit = {.several = several};
    nw_status status = bin_packing_prepare(&fit);

    if (!status)
        *fits = bin_packing_put_all(&fit, part);
    NW_FREE_ALL(fit.order, fit.left, fit.gain, fit.count, fit.heap.at,
                fit.heap.item);
    return status;
}
