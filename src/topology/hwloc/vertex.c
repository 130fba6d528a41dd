/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the vertex of an hwloc object in its userdata, and makes link classes
 * with hwloc's bandwidths. */
#include "topology/hwloc/parts.h"

int32_t nw_hwloc_vertex(hwloc_obj_t obj)
{
    while (!obj->userdata && obj->parent)
        obj = obj->parent;
    return obj->userdata ? (int32_t)((intptr_t)obj->userdata - 1) : 0;
}

void nw_hwloc_set_vertex(hwloc_obj_t obj, int32_t vertex)
{
    obj->userdata = (void *)((intptr_t)vertex + 1);
}

nw_status nw_hwloc_class(struct nw_hwloc_build *build, enum nw_link_kind kind,
                         const double bandwidth[2], int32_t *out)
{
    struct nw_link_class figures = nw_link_assumed(kind);

    if (bandwidth && (bandwidth[0] > 0 || bandwidth[1] > 0)) {
        for (int i = 0; i < 2; i++)
            figures.bandwidth[i] = bandwidth[bandwidth[i] > 0 ? i : !i];
        figures.assumed = false;
    }
    return nw_topology_class(build->topology, &figures, out);
}
