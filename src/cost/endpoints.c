/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the endpoints of each rank in a mapping and checks them, so that cost
 * and simulation use the same endpoints. */
#include "cost/endpoints.h"

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>

static nw_status place_core(struct nw_endpoints *ends,
                            const nw_topology *topology,
                            const nw_mapping *mapping, int32_t r)
{
    struct nw_ints cores = nw_mapping_cores(mapping, r);
    int32_t node = mapping->node[r];

    if (node < 0 || !cores.count)
        return nw_fail_about(NW_MAPPED(r), NW_EINVAL,
                             "rank %d of the mapping has no core", r);
    if (node >= nw_topology_node_count(topology) ||
        cores.values[0] >= nw_topology_node_elements(topology, node).count)
        return nw_fail_about(NW_MAPPED(r), NW_EINVAL,
                             "rank %d is mapped outside the topology", r);
    ends->core[r] = nw_topology_element_end(
        topology,
        nw_topology_node_elements(topology, node).first + cores.values[0]);
    ends->core[r].nic = mapping->nic ? mapping->nic[r] : -1;
    return NW_OK;
}

static nw_status place_gpu(struct nw_endpoints *ends,
                           const nw_topology *topology,
                           const nw_mapping *mapping, int32_t r)
{
    struct nw_ints gpus = nw_mapping_gpus(mapping, r);
    int32_t node = mapping->node[r];
    int32_t nic = mapping->nic ? mapping->nic[r] : -1;

    ends->gpu[r].node = -1;
    if (!gpus.count || gpus.values[0] < 0)
        return NW_OK;
    if (mapping->gpu_node && mapping->gpu_node[r] >= 0) {
        ends->remote_gpus += mapping->gpu_node[r] != node;
        nic = mapping->gpu_node[r] != node ? -1 : nic;
        node = mapping->gpu_node[r];
    }
    if (node >= nw_topology_node_count(topology) ||
        gpus.values[0] >= nw_topology_node_gpus(topology, node).count)
        return nw_fail_about(NW_MAPPED(r), NW_EINVAL,
                             "rank %d has GPU %d, but its node has no such GPU",
                             r, gpus.values[0]);
    ends->gpu[r] = nw_topology_gpu_end(
        topology, nw_topology_node_gpus(topology, node).first + gpus.values[0]);
    ends->gpu[r].nic = nic;
    return NW_OK;
}

nw_status nw_endpoints_find(const nw_topology *topology,
                            const nw_pattern *pattern,
                            const nw_mapping *mapping, struct nw_endpoints *out)
{
    struct nw_endpoints ends = {0};
    size_t n = (size_t)pattern->rank_count;
    nw_status status;

    if (mapping->rank_count != pattern->rank_count)
        return nw_fail_about(
            NW_MAPPED(-1), NW_EINVAL,
            "the mapping has %d rank%s and the pattern %d", mapping->rank_count,
            nw_plural((uint64_t)mapping->rank_count), pattern->rank_count);
    status = nw_alloc(n, sizeof *ends.core, &ends.core);
    if (!status)
        status = nw_alloc(n, sizeof *ends.gpu, &ends.gpu);
    for (int32_t r = 0; !status && r < pattern->rank_count; r++) {
        status = place_core(&ends, topology, mapping, r);
        if (!status)
            status = place_gpu(&ends, topology, mapping, r);
    }
    if (status)
        nw_endpoints_fini(&ends);
    else
        *out = ends;
    return status;
}

void nw_endpoints_fini(struct nw_endpoints *ends)
{
    free(ends->core);
    free(ends->gpu);
    *ends = (struct nw_endpoints){0};
}

static nw_status one_end(const struct nw_endpoints *ends, int32_t rank,
                         bool on_gpu, struct nw_end *out)
{
    if (on_gpu && ends->gpu[rank].node < 0)
        return nw_fail_about(
            NW_MAPPED(rank), NW_EINVAL,
            "rank %d sends or receives GPU messages and has no GPU", rank);
    *out = on_gpu ? ends->gpu[rank] : ends->core[rank];
    return NW_OK;
}

nw_status nw_endpoints_of_edge(const struct nw_endpoints *ends,
                               const nw_pattern *pattern, int32_t src, size_t e,
                               struct nw_end out[2])
{
    uint8_t kind = pattern->kind[e];
    nw_status status;

    if (kind == NW_KIND_HH) { /* most edges of most patterns */
        out[0] = ends->core[src];
        out[1] = ends->core[pattern->dst[e]];
        return NW_OK;
    }
    status =
        one_end(ends, src, kind == NW_KIND_GG || kind == NW_KIND_GH, &out[0]);
    if (status)
        return status;
    return one_end(ends, pattern->dst[e],
                   kind == NW_KIND_GG || kind == NW_KIND_HG, &out[1]);
}
