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

nw_status nw_cli_default_beside(const nw_topology *topology,
                                const nw_pattern *pattern,
                                struct nw_map_options map, nw_mapping **out)
{
    int32_t gpus = nw_topology_gpu_count(topology);

    if (nw_pattern_has_gpu(pattern)) {
        int32_t ranks = count_gpu_ranks(pattern);

        if (gpus && ranks > gpus)
            map.ranks_per_gpu = (ranks - 1) / gpus + 1;
    } else if (pattern->rank_count > nw_topology_element_count(topology)) {
        map.imbalance = 0;
    }
    return nw_map_default(topology, pattern, &map, out);
}
