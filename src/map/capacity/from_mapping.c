/* SPDX-License-Identifier: BSD-3-Clause */
/* A given mapping as parts to begin from, where elements take several ranks. It
 * may pass limits, which are other ones by now; ranks that are fixed are where
 * they are fixed. */
#include "map/capacity/several.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>

/* The host of a name, numbered as in `many`; -1 where it is not to be used. */
static int32_t find_host(const struct nw_many *many, const char *name)
{
    int32_t node = nw_topology_node_find(many->topology, name);
    int32_t low = 0, high = many->host_count;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;

        if (many->host[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return node >= 0 && low < many->host_count && many->host[low] == node ? low
                                                                          : -1;
}

static nw_status read_rank(const struct nw_many *many, int32_t r,
                           const int32_t *host_of, int32_t *part)
{
    const nw_mapping *start = many->options.start;
    const struct nw_krange *range = many->graph.range;
    int32_t node = start->node[r], h = node < 0 ? -1 : host_of[node];
    struct nw_ints cores = nw_mapping_cores(start, r);

    if (node >= 0 && h < 0)
        return nw_fail(NW_EINVAL,
                       "the mapping to begin from has rank %d on %s, which is "
                       "not among the hosts to use",
                       r, start->node_name[node]);
    *part = -1;
    if (h >= 0 && cores.count && cores.values[0] >= 0 &&
        cores.values[0] < many->first[h + 1] - many->first[h])
        *part = many->first[h] + cores.values[0];
    if (range && !nw_kmay(&many->graph, r, *part))
        *part = range[r].low;
    if (*part < 0)
        return nw_fail(NW_EINVAL,
                       "the mapping to begin from leaves rank %d open or on a "
                       "core that is not there",
                       r);
    return NW_OK;
}

nw_status nw_many_read_start(const struct nw_many *many, int32_t **out)
{
    const nw_mapping *start = many->options.start;
    int32_t *part = NULL, *host_of = NULL;
    nw_status status;

    if (!start)
        return NW_OK;
    if (start->rank_count != many->graph.n)
        return nw_fail(NW_EINVAL,
                       "the mapping to begin from has %d ranks, the pattern %d",
                       start->rank_count, many->graph.n);
    status = nw_alloc((size_t)start->node_count, sizeof *host_of, &host_of);
    if (!status)
        status = nw_alloc((size_t)many->graph.n, sizeof *part, &part);
    for (int32_t i = 0; !status && i < start->node_count; i++)
        host_of[i] = find_host(many, start->node_name[i]);
    for (int32_t r = 0; !status && r < many->graph.n; r++)
        status = read_rank(many, r, host_of, &part[r]);
    free(host_of);
    if (status)
        free(part);
    else
        *out = part;
    return status;
}
