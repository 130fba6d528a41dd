/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and frees mappings, and gives a rank's cores and GPUs. The files
 * mapping_file.c and mapping_write.c read and write the file format. */
#include <nodewise/mapping.h>

#include "base/array.h"

#include <stdlib.h>

void nw_mapping_free(nw_mapping *mapping)
{
    if (!mapping)
        return;
    for (int32_t n = 0; mapping->node_name && n < mapping->node_count; n++)
        free(mapping->node_name[n]);
    free(mapping->node_name);
    free(mapping->node);
    free(mapping->core);
    free(mapping->core_row);
    free(mapping->gpu);
    free(mapping->gpu_row);
    free(mapping->gpu_node);
    free(mapping->nic);
    free(mapping);
}

static nw_status name_nodes(nw_mapping *mapping, const nw_topology *topology)
{
    int32_t count = nw_topology_node_count(topology);
    nw_status status = nw_alloc((size_t)count, sizeof *mapping->node_name,
                                &mapping->node_name);

    if (status)
        return status;
    mapping->node_count = count;
    for (int32_t n = 0; !status && n < count; n++)
        status = nw_strdup(nw_topology_node_name(topology, n),
                           &mapping->node_name[n]);
    return status;
}

nw_status nw_mapping_new(const nw_topology *topology, int32_t rank_count,
                         nw_mapping **out)
{
    nw_mapping *mapping;
    size_t n = (size_t)rank_count;
    nw_status status = nw_alloc(1, sizeof *mapping, &mapping);

    if (status)
        return status;
    mapping->rank_count = rank_count;
    status = nw_alloc_raw(n, sizeof *mapping->node, &mapping->node);
    if (!status)
        status = nw_alloc_raw(n, sizeof *mapping->core, &mapping->core);
    if (!status)
        status = nw_alloc_raw(n, sizeof *mapping->gpu, &mapping->gpu);
    if (!status)
        status = name_nodes(mapping, topology);
    if (status) {
        nw_mapping_free(mapping);
        return status;
    }
    for (int32_t r = 0; r < rank_count; r++) {
        mapping->node[r] = mapping->core[r] = -1;
        mapping->gpu[r] = -2;
    }
    *out = mapping;
    return NW_OK;
}

static struct nw_ints mapping_view(const int32_t *values, const size_t *row,
                                   int32_t r)
{
    struct nw_ints view = {values + r, 1};

    if (row)
        view = (struct nw_ints){values + row[r], row[r + 1] - row[r]};
    if (view.count && view.values[0] == -1)
        view.count = 0;
    return view;
}

struct nw_ints nw_mapping_cores(const nw_mapping *mapping, int32_t rank)
{
    return mapping_view(mapping->core, mapping->core_row, rank);
}

struct nw_ints nw_mapping_gpus(const nw_mapping *mapping, int32_t rank)
{
    return mapping_view(mapping->gpu, mapping->gpu_row, rank);
}
