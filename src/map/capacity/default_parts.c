/* SPDX-License-Identifier: BSD-3-Clause */
/* The default mapping with several ranks per element: ranks in ascending order
 * fill element after element. Also converts the element of each rank to a
 * mapping. */
#include "map/capacity/several.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>

nw_status nw_several_to_mapping(const struct nw_several *several,
                                const int32_t *part, nw_mapping **out)
{
    nw_mapping *mapping;
    nw_status status =
        nw_mapping_new(several->topology, several->graph.n, &mapping);

    if (status)
        return status;
    for (int32_t v = 0; v < several->graph.n; v++) {
        int32_t node = several->end[part[v]].node;

        mapping->node[v] = node;
        mapping->core[v] =
            several->element[part[v]] -
            nw_topology_node_elements(several->topology, node).first;
        mapping->gpu[v] = -1;
    }
    *out = mapping;
    return NW_OK;
}

/* State while the ranks, in ascending order, fill one element after another. */
struct default_parts_work {
    const struct nw_several *several;
    /* [elements] elements in the order in which they are filled: host by host,
     * in the order in which the caller named the hosts */
    int32_t *order;
    int32_t *count; /* [elements] number of ranks on each element so far */
    int64_t *spare; /* [hosts] how many more ranks that are not fixed each host
                       takes, so that all fixed ranks still fit; NULL if no rank
                       is fixed */
    double dealt;   /* load of the ranks assigned so far */
    double due;     /* load wanted on elements order[0] .. order[at] together */
    int32_t at;     /* index in `order` of the element that is being filled */
};

/* Returns the entry of d->spare for the host of element q. */
static int64_t *default_parts_spare_of(const struct default_parts_work *d,
                                       int32_t q)
{
    return &d->spare[d->several->host_of[d->several->end[q].node]];
}

/* Returns true if rank v may go to element q: it is not fixed elsewhere, q
 * takes another rank, and the fixed ranks of q's host still fit there
 * afterwards. */
static bool default_parts_may_distribute(const struct default_parts_work *d,
                                         int32_t v, int32_t q)
{
    return d->count[q] < d->several->machine.capacity[q] &&
           nw_kway_allows(&d->several->graph, v, q) &&
           (!d->spare || nw_several_is_fixed(d->several, v) ||
            *default_parts_spare_of(d, q) > 0);
}

/* Returns an element for rank v. The present element is order[d->at]; once it
 * has its share of the load or is full, goes on to the next one in the order.
 * If rank v may not go to the present element, tries the elements after it,
 * then those before it. Returns -1 if no element takes the rank. */
static int32_t default_parts_distribute(struct default_parts_work *d, int32_t v)
{
    const struct nw_kway_machine *m = &d->several->machine;
    double load = (double)d->several->graph.load[v];

    while (d->at < m->k - 1 &&
           (d->dealt + load / 2 > d->due * (1 + 1e-12) ||
            d->count[d->order[d->at]] >= m->capacity[d->order[d->at]])) {
        d->at++;
        d->due += m->share[d->order[d->at]];
    }
    d->dealt += load;
    for (int32_t i = 0; i < m->k; i++) {
        int32_t q = d->order[(d->at + i) % m->k];

        if (default_parts_may_distribute(d, v, q))
            return q;
    }
    return -1;
}

/* Assigns each rank that is fixed to one element to this element, and sets
 * part[v] to -1 for all other ranks v. If ranks are fixed, fills d->spare with
 * the number of ranks that each host takes beyond its fixed ranks. */
static nw_status default_parts_keep_places(struct default_parts_work *d,
                                           int32_t *part)
{
    const struct nw_several *several = d->several;
    const struct nw_graph_range *range = several->graph.range;
    nw_status status;

    for (int32_t v = 0; v < several->graph.n; v++)
        part[v] = -1;
    if (!range)
        return NW_OK;
    status = nw_alloc((size_t)several->host_count, sizeof *d->spare, &d->spare);
    for (int32_t q = 0; !status && q < several->machine.k; q++)
        *default_parts_spare_of(d, q) += several->machine.capacity[q];
    for (int32_t v = 0; !status && v < several->graph.n; v++) {
        if (nw_several_is_fixed(several, v))
            --*default_parts_spare_of(d, range[v].low);
        if (range[v].high == range[v].low + 1) {
            part[v] = range[v].low;
            d->count[part[v]]++;
        }
    }
    return status;
}

/* Assigns all ranks v that have no element yet (part[v] is -1), in ascending
 * order. Returns NW_EINVAL if no element takes a rank. */
static nw_status default_parts_distribute_all(struct default_parts_work *d,
                                              int32_t *part)
{
    const struct nw_graph *g = &d->several->graph;

    for (int32_t v = 0; v < g->n; v++) {
        if (part[v] >= 0) {
            d->dealt += (double)g->load[v];
            continue;
        }
        part[v] = default_parts_distribute(d, v);
        if (part[v] < 0)
            return nw_fail_about(NW_FIXED(-1), NW_EINVAL,
                                 "the fixed ranks leave no element for rank %d",
                                 v);
        d->count[part[v]]++;
        if (d->spare && !nw_several_is_fixed(d->several, v))
            --*default_parts_spare_of(d, part[v]);
    }
    return NW_OK;
}

nw_status nw_several_default_parts(const struct nw_several *several,
                                   int32_t **out)
{
    struct default_parts_work d = {.several = several};
    size_t k = (size_t)several->machine.k, at = 0;
    int32_t *part = NULL;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(k, d.order), NW_ARRAY(k, d.count),
                                    NW_ARRAY((size_t)several->graph.n, part));

    for (int32_t i = 0; !status && i < several->host_count; i++) {
        int32_t h = several->order[i];

        for (int32_t q = several->first[h]; q < several->first[h + 1]; q++)
            d.order[at++] = q;
    }
    if (!status)
        status = default_parts_keep_places(&d, part);
    if (!status) {
        d.due = several->machine.share[d.order[0]];
        status = default_parts_distribute_all(&d, part);
    }
    NW_FREE_ALL(d.order, d.count, d.spare);
    if (status)
        free(part);
    else
        *out = part;
    return status;
}
