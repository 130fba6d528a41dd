/* SPDX-License-Identifier: BSD-3-Clause */
/* Some way to keep every limit, however far apart it puts who talks: what the
 * engine begins with where ranks in order break the limits. Heaviest ranks
 * first, each to the element with the most room; with one rank an element that
 * finds a way where there is one, unless ranks are fixed to nodes. */
#include "map/capacity/several.h"
#include "base/array.h"
#include "map/common/addressable_heap.h"

#include <stdlib.h>

struct weighed {
    int64_t load;
    int32_t rank;
};

struct fitting {
    const struct nw_many *many;
    struct nw_heap heap;   /* of elements with room for one more rank */
    nw_kload *left;        /* [k] load */
    double *gain;          /* [k] the same for the heap */
    int32_t *count;        /* [k] ranks */
    struct weighed *order; /* [n] ranks */
};

static int heaviest_first(const void *left, const void *right)
{
    const struct weighed *a = left, *b = right;

    if (a->load != b->load)
        return (a->load < b->load) - (a->load > b->load);
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static bool is_ranged(const struct fitting *fit, int32_t v)
{
    const struct nw_krange *range = fit->many->graph.range;

    return range && range[v].high - range[v].low < fit->many->machine.k;
}

static int32_t roomiest(const struct fitting *fit, int32_t v)
{
    const struct nw_krange *range = fit->many->graph.range;
    int32_t best = -1;

    if (!is_ranged(fit, v))
        return nw_heap_top(&fit->heap);
    for (int32_t q = range[v].low; q < range[v].high; q++)
        if (fit->heap.at[q] && (best < 0 || fit->left[q] > fit->left[best]))
            best = q;
    return best;
}

static bool put(struct fitting *fit, int32_t v, int32_t *part)
{
    const struct nw_many *many = fit->many;
    int64_t load = many->graph.load[v];
    int32_t q = roomiest(fit, v);

    if (q < 0 || fit->left[q] < load)
        return false;
    part[v] = q;
    fit->left[q] -= load;
    fit->gain[q] = (double)fit->left[q];
    if (++fit->count[q] == many->machine.capacity[q])
        nw_heap_remove(&fit->heap, q);
    else
        nw_heap_update(&fit->heap, q);
    return true;
}

/* Who is held to some elements goes before the others. */
static bool put_all(struct fitting *fit, int32_t *part)
{
    int32_t n = fit->many->graph.n;
    bool fits = true;

    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; fits && i < n; i++)
            if (is_ranged(fit, fit->order[i].rank) == !pass)
                fits = put(fit, fit->order[i].rank, part);
    return fits;
}

static nw_status prepare(struct fitting *fit)
{
    const struct nw_kmachine *m = &fit->many->machine;
    const struct nw_kgraph *g = &fit->many->graph;
    size_t n = (size_t)g->n, k = (size_t)m->k;
    nw_status status = nw_alloc(n, sizeof *fit->order, &fit->order);

    if (!status)
        status = nw_alloc(k, sizeof *fit->left, &fit->left);
    if (!status)
        status = nw_alloc(k, sizeof *fit->gain, &fit->gain);
    if (!status)
        status = nw_alloc(k, sizeof *fit->count, &fit->count);
    if (!status)
        status = nw_alloc(k, sizeof *fit->heap.at, &fit->heap.at);
    if (!status)
        status = nw_alloc(k, sizeof *fit->heap.item, &fit->heap.item);
    if (status)
        return status;
    fit->heap.gain = fit->gain;
    for (int32_t v = 0; v < g->n; v++)
        fit->order[v] = (struct weighed){g->load[v], v};
    qsort(fit->order, n, sizeof *fit->order, heaviest_first);
    for (int32_t q = 0; q < m->k; q++) {
        fit->left[q] = m->limit[q];
        fit->gain[q] = (double)m->limit[q];
        if (m->capacity[q])
            nw_heap_add(&fit->heap, q);
    }
    return NW_OK;
}

nw_status nw_many_fit(const struct nw_many *many, int32_t *part, bool *fits)
{
    struct fitting fit = {.many = many};
    nw_status status = prepare(&fit);

    if (!status)
        *fits = put_all(&fit, part);
    free(fit.order);
    free(fit.left);
    free(fit.gain);
    free(fit.count);
    free(fit.heap.at);
    free(fit.heap.item);
    return status;
}
