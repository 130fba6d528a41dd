/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps the vertices of a graph to a machine whose elements are the locations of
 * the members. The new order is used only if nw_is_worth finds that it costs
 * enough less than vertex i on member i, which is the order of the MPI
 * libraries. */
#include "runtime/reorder/decide.h"

#include "base/array.h"
#include "base/status.h"

#include <nodewise/map.h>
#include <stdlib.h>
#include <string.h>

/* Returns the cost of an order in which vertex v is on element[v]: the sum over
 * all edges of bytes x distance (hop-bytes). */
static double decide_price(const struct nw_members *members,
                           const nw_pattern *graph, const int32_t *element)
{
    const nw_topology *machine = members->machine;
    double sum = 0;

    for (int32_t v = 0; v < graph->rank_count; v++) {
        struct nw_end from = nw_topology_element_end(machine, element[v]);

        for (size_t e = graph->row[v]; e < graph->row[v + 1]; e++)
            sum += (double)graph->bytes[e] *
                   nw_topology_distance(machine, from,
                                        nw_topology_element_end(
                                            machine, element[graph->dst[e]]));
    }
    return sum;
}

static void take_elements(const struct nw_members *members,
                          const nw_mapping *mapping, int32_t *element)
{
    for (int32_t v = 0; v < mapping->rank_count; v++)
        element[v] =
            nw_topology_node_elements(members->machine, mapping->node[v])
                .first +
            mapping->core[v];
}

static void take_vertices(const struct nw_members *members,
                          const int32_t *element, int32_t count, int *vertex)
{
    for (int i = 0; i < members->count; i++)
        vertex[i] = -1;
    for (int32_t v = 0; v < count; v++)
        vertex[members->member[element[v]]] = v;
}

/* Maps by the given algorithm. "auto" is recursive bisection along the
 * machine's tree, which reaches nearly the whole gain. Refinement by swaps
 * would take longer than MPI_Cart_create should. */
static nw_status decide_map(const struct nw_members *members,
                            const nw_pattern *graph, const char *algorithm,
                            nw_mapping **out)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    bool any = !strcmp(algorithm, "auto");
    nw_status status;

    options.algorithm = any ? "section" : algorithm;
    options.objective = NW_OBJECTIVE_HOP_BYTES;
    options.effort = NW_EFFORT_FAST;
    options.threads = 1;
    status = nw_map(members->machine, graph, &options, out, NULL);
    if (status == NW_EUNSUPPORTED && any) {
        /* the setting is "auto"; "section", which was tried first, needs a
         * tree, which the machine is not */
        options.algorithm = "auto";
        status = nw_map(members->machine, graph, &options, out, NULL);
    }
    return status;
}

static nw_status decide_compute(const struct nw_members *members,
                                const nw_pattern *graph,
                                const struct nw_reorder_settings *settings,
                                struct nw_decision *out)
{
    nw_mapping *mapping = NULL;
    int32_t *element = NULL;
    nw_status status =
        nw_alloc((size_t)members->count, sizeof *element, &element);

    if (!status)
        status = decide_map(members, graph, settings->algorithm, &mapping);
    if (!status) {
        out->before = decide_price(members, graph, members->element);
        take_elements(members, mapping, element);
        out->after = decide_price(members, graph, element);
        take_vertices(members, element, graph->rank_count, out->vertex);
    }
    nw_mapping_free(mapping);
    free(element);
    return status;
}

static bool moves_any(const int *vertex, int32_t count)
{
    for (int32_t v = 0; v < count; v++)
        if (vertex[v] != v)
            return true;
    return false;
}

nw_status nw_decide(struct nw_members *members, const nw_pattern *graph,
                    const struct nw_reorder_settings *settings,
                    struct nw_decision *out)
{
    nw_status status = nw_members_locate(members);

    memset(out, 0, sizeof *out);
    if (!status)
        status =
            nw_alloc((size_t)members->count, sizeof *out->vertex, &out->vertex);
    if (!status)
        status = decide_compute(members, graph, settings, out);
    if (status) {
        free(out->vertex);
        out->vertex = NULL;
        return status;
    }
    out->changes = nw_is_worth(settings, out->before, out->after) &&
                   moves_any(out->vertex, graph->rank_count);
    return NW_OK;
}

bool nw_is_worth(const struct nw_reorder_settings *settings, double before,
                 double after)
{
    return after <= before * (1 - settings->gain) &&
           (after < before || settings->gain < 0);
}
