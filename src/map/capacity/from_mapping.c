/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the mapping of --from to the element of each rank, from which the
 * k-way engine begins. The mapping may exceed the limits, which may have
 * changed since it was made. A fixed rank gets an element that it is fixed to,
 * whatever the mapping says. */
#include "map/capacity/several.h"
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>

/* Sets *part to the element of rank r in the mapping of --from, or to the first
 * element that rank r is fixed to if the mapping gives it none of these.
 * Returns NW_EINVAL if the rank is on an unused node or has no element.
 * host_of[i] is the index in several->host of node i of that mapping; -1: not
 * used. */
static nw_status
several_from_mapping_read_rank(const struct nw_several *several, int32_t r,
                               const int32_t *host_of, int32_t *part)
{
    const nw_mapping *start = several->options.start;
    const struct nw_graph_range *range = several->graph.range;
    int32_t node = start->node[r], h = node < 0 ? -1 : host_of[node];
    struct nw_ints cores = nw_mapping_cores(start, r);

    if (node >= 0 && h < 0)
        return nw_fail(NW_EINVAL,
                       "the mapping to begin from has rank %d on %s, which is "
                       "not among the hosts to use; --without names lost nodes",
                       r, start->node_name[node]);
    *part = -1;
    if (h >= 0 && cores.count &&
        cores.values[0] < several->first[h + 1] - several->first[h])
        *part = several->first[h] + cores.values[0];
    if (range && !nw_kway_allows(&several->graph, r, *part))
        *part = range[r].low;
    if (*part < 0)
        return nw_fail(NW_EINVAL,
                       "the mapping to begin from leaves rank %d open or on a "
                       "core that is not there",
                       r);
    return NW_OK;
}

nw_status nw_several_from_mapping(const struct nw_several *several,
                                  int32_t **out)
{
    const nw_mapping *start = several->options.start;
    int32_t *part = NULL, *host_of = NULL;
    nw_status status;

    if (!start)
        return NW_OK;
    if (start->rank_count != several->graph.n)
        return nw_fail(
            NW_EINVAL,
            "the mapping to begin from has %d rank%s, the pattern %d",
            start->rank_count, nw_plural((uint64_t)start->rank_count),
            several->graph.n);
    status = NW_ALLOC_ALL(NW_ARRAY((size_t)start->node_count, host_of),
                          NW_ARRAY((size_t)several->graph.n, part));
    for (int32_t i = 0; !status && i < start->node_count; i++)
        host_of[i] = nw_several_host_find(several, start->node_name[i]);
    for (int32_t r = 0; !status && r < several->graph.n; r++)
        status = several_from_mapping_read_rank(several, r, host_of, &part[r]);
    free(host_of);
    if (status)
        free(part);
    else
        *out = part;
    return status;
}
