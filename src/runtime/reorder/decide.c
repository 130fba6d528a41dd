/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's elements are the members' seats; the engine says which vertex
 * sits where. Vertex i on member i, what the MPI libraries do, is the cost to
 * beat. */
#include "runtime/reorder/decide.h"

#include "base/array.h"
#include "base/status.h"
#include "runtime/reorder/machine.h"

#include <nodewise/cost.h>
#include <nodewise/map.h>
#include <stdlib.h>
#include <string.h>

struct deciding {
    const struct nw_members *members;
    nw_topology *machine;
    int32_t *member; /* of each element */
};

/* Vertex i on member i. */
static nw_status map_in_place(const struct deciding *d, int32_t vertices,
                              nw_mapping **out)
{
    nw_mapping *mapping;
    nw_status status = nw_mapping_new(d->machine, vertices, &mapping);

    if (status)
        return status;
    for (int32_t e = 0; e < d->members->count; e++) {
        int32_t v = d->member[e];

        if (v >= vertices)
            continue;
        mapping->node[v] = nw_topology_element_node(d->machine, e);
        mapping->core[v] =
            e - nw_topology_node_elements(d->machine, mapping->node[v]).first;
        mapping->gpu[v] = -1;
    }
    *out = mapping;
    return NW_OK;
}

static nw_status price(const struct deciding *d, const nw_pattern *graph,
                       const nw_mapping *mapping, double *out)
{
    struct nw_cost cost;
    nw_status status = nw_cost_evaluate(d->machine, graph, mapping, &cost);

    if (status)
        return status;
    *out = cost.hop_bytes.value;
    nw_cost_fini(&cost);
    return NW_OK;
}

static void take_vertices(const struct deciding *d, const nw_mapping *mapping,
                          int *vertex)
{
    for (int i = 0; i < d->members->count; i++)
        vertex[i] = -1;
    for (int32_t v = 0; v < mapping->rank_count; v++) {
        struct nw_range elements =
            nw_topology_node_elements(d->machine, mapping->node[v]);

        vertex[d->member[elements.first + mapping->core[v]]] = v;
    }
}

static nw_status compute(const struct deciding *d, const nw_pattern *graph,
                         const struct nw_reorder_settings *settings,
                         struct nw_decision *out)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_mapping *before = NULL, *after = NULL;
    nw_status status = map_in_place(d, graph->rank_count, &before);

    options.algorithm = settings->algorithm;
    options.objective = NW_OBJECTIVE_HOP_BYTES;
    options.effort = NW_EFFORT_FAST;
    options.threads = 1;
    if (!status)
        status = price(d, graph, before, &out->before);
    if (!status)
        status = nw_map(d->machine, graph, &options, &after, NULL);
    if (!status)
        status = price(d, graph, after, &out->after);
    if (!status)
        take_vertices(d, after, out->vertex);
    nw_mapping_free(before);
    nw_mapping_free(after);
    return status;
}

nw_status nw_decide(const struct nw_members *members, const nw_pattern *graph,
                    const struct nw_reorder_settings *settings,
                    struct nw_decision *out)
{
    struct deciding d = {.members = members};
    nw_status status = nw_machine_of(members->site, members->world,
                                     members->count, &d.machine, &d.member);

    memset(out, 0, sizeof *out);
    if (status)
        return status;
    status =
        nw_alloc((size_t)members->count, sizeof *out->vertex, &out->vertex);
    if (!status)
        status = compute(&d, graph, settings, out);
    if (!status)
        out->changes = out->after <= out->before * (1 - settings->gain) &&
                       (out->after < out->before || settings->gain < 0);
    nw_topology_free(d.machine);
    free(d.member);
    if (status) {
        free(out->vertex);
        out->vertex = NULL;
    }
    return status;
}
