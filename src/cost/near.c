/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of what is noted inside nodes; see near.h. */
#include "cost/near.h"
#include "base/array.h"

#include <stdlib.h>

/* Equal depths and link classes on all ways up, no direct links. */
static bool is_even(const nw_topology *topology,
                    const struct nw_node_type *type)
{
    if (topology->matrix || !type->element_count)
        return false;
    for (int32_t i = 0; i < type->element_count; i++) {
        int32_t v = type->element[i], u = type->element[0];

        if (type->depth[v] != type->depth[u] ||
            (type->end_of && type->end_of[v] >= 0))
            return false;
        while (u != v) {
            if (topology->class[type->class[u]].latency !=
                topology->class[type->class[v]].latency)
                return false;
            u = type->parent[u];
            v = type->parent[v];
        }
    }
    return true;
}

nw_status nw_near_types_init(struct nw_near_types *types,
                             const nw_topology *topology)
{
    nw_status status = nw_alloc((size_t)topology->type_count,
                                sizeof *types->is_even, &types->is_even);

    for (int32_t t = 0; !status && t < topology->type_count; t++)
        types->is_even[t] = is_even(topology, topology->type[t]);
    return status;
}

void nw_near_types_fini(struct nw_near_types *types)
{
    free(types->is_even);
    *types = (struct nw_near_types){0};
}

nw_status nw_near_init(struct nw_near *near, const nw_topology *topology,
                       const struct nw_near_types *types)
{
    size_t links = (size_t)nw_topology_link_count(topology);
    uint64_t **sums[] = {&near->bytes, &near->messages, &near->begun,
                         &near->ended};
    nw_status status = NW_OK;

    *near = (struct nw_near){.topology = topology, .types = types};
    for (size_t i = 0; !status && i < sizeof sums / sizeof *sums; i++)
        status = nw_alloc(links, sizeof **sums[i], sums[i]);
    return status;
}

void nw_near_fini(struct nw_near *near)
{
    free(near->bytes);
    free(near->messages);
    free(near->begun);
    free(near->ended);
    *near = (struct nw_near){0};
}

void nw_near_merge(struct nw_near *to, const struct nw_near *from)
{
    size_t links = (size_t)nw_topology_link_count(to->topology);
    uint64_t *sum[] = {to->bytes, to->messages, to->begun, to->ended};
    const uint64_t *more[] = {from->bytes, from->messages, from->begun,
                              from->ended};

    to->overflows |= from->overflows;
    for (int i = 0; i < 4; i++)
        for (size_t l = 0; l < links; l++)
            nw_near_sum(&sum[i][l], more[i][l], &to->overflows);
}
