/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/priced.h"
#include "base/array.h"
#include "base/status.h"
#include "cli/hosts.h"

#include <stdlib.h>

nw_status nw_cli_read_priced(const char *path, const nw_topology *topology,
                             nw_mapping **out)
{
    nw_mapping *mapping;
    nw_status status = nw_mapping_read(path, topology, &mapping);

    if (status)
        return status;
    for (int32_t r = 0; !status && r < mapping->rank_count; r++) {
        struct nw_ints gpus = nw_mapping_gpus(mapping, r);

        if (gpus.count && gpus.values[0] == -2)
            status = nw_fail_about(NW_MAPPED(r), NW_EINVAL,
                                   "the GPU of rank %d is open ('*')", r);
    }
    if (!status)
        *out = mapping;
    else
        nw_mapping_free(mapping);
    return nw_cli_blame_mapping(path, status);
}

static int32_t count_gpu_ranks(const nw_pattern *pattern)
{
    int32_t n = pattern->rank_count, count = 0;
    bool *seen;

    if (nw_alloc((size_t)n, sizeof *seen, &seen))
        return n;
    for (int32_t r = 0; r < n; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++) {
            enum nw_kind kind = pattern->kind[e];

            seen[r] |= kind == NW_KIND_GG || kind == NW_KIND_GH;
            seen[pattern->dst[e]] |= kind == NW_KIND_GG || kind == NW_KIND_HG;
        }
    for (int32_t r = 0; r < n; r++)
        count += seen[r];
    free(seen);
    return count;
}

/* The smallest number of ranks per GPU with which this many ranks fit, each on
 * a core near its GPU; else 0. */
static int32_t least_share(const nw_topology *topology, int32_t ranks)
{
    int64_t fit = 0, before = -1;
    int32_t share = 0;

    while (fit < ranks && fit > before) {
        before = fit;
        fit = 0;
        share++;
        for (int32_t n = 0; n < nw_topology_node_count(topology); n++) {
            int64_t cores = nw_topology_node_elements(topology, n).count;
            int64_t room =
                (int64_t)share * nw_topology_node_gpus(topology, n).count;

            fit += cores < room ? cores : room;
        }
    }
    return fit < ranks ? 0 : share;
}

nw_status nw_cli_default_beside(const nw_topology *topology,
                                const nw_pattern *pattern,
                                struct nw_map_options map, nw_mapping **out)
{
    if (nw_pattern_has_gpu(pattern)) {
        int32_t share = least_share(topology, count_gpu_ranks(pattern));

        if (share > map.ranks_per_gpu)
            map.ranks_per_gpu = share;
    } else if (pattern->rank_count > nw_topology_element_count(topology)) {
        map.imbalance = 0;
    }
    return nw_map_default(topology, pattern, &map, out);
}
