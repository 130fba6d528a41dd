/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the distance and the links between two ends: cores or GPUs. */
#include "cli/topology_route.h"
#include "base/array.h"
#include "base/json.h"
#include "base/status.h"

#include <nodewise/report.h>

#include <stdlib.h>
#include <string.h>

/* Parses an end: the number of an element, or gpuN. */
static nw_status find_end(const nw_topology *topology, const char *word,
                          struct nw_end *end)
{
    bool gpu = !strncmp(word, "gpu", 3);
    int32_t count = gpu ? nw_topology_gpu_count(topology)
                        : nw_topology_element_count(topology);
    int32_t number;

    /* also accept "gpu 0", as the tree prints it */
    if (!nw_parse_i32(gpu ? word + 3 + (word[3] == ' ') : word, &number) ||
        number < 0)
        return nw_fail(NW_EINVAL,
                       "an end is an element's number or gpuN, not '%s'", word);
    if (number >= count)
        return nw_fail(
            NW_EINVAL, "unknown %s%d: the machine has %d %s, counted from 0",
            gpu ? "gpu" : "element ", number, count, gpu ? "GPUs" : "elements");
    *end = gpu ? nw_topology_gpu_end(topology, number)
               : nw_topology_element_end(topology, number);
    return NW_OK;
}

/* The route between two ends; if messages are striped over several network
 * cards, the routes of all parts. Each entry of hop[count] is 2 * link +
 * direction. */
struct topology_route_path {
    struct nw_end end[2];
    uint32_t *hop;
    size_t count;
};

static nw_status topology_route_find(const nw_topology *topology,
                                     const struct nw_cli_route *route,
                                     struct topology_route_path *path)
{
    int32_t stripes = 1;
    nw_status status = find_end(topology, route->end[0], &path->end[0]);

    if (!status)
        status = find_end(topology, route->end[1], &path->end[1]);
    if (!status)
        stripes =
            nw_topology_stripe_count(topology, path->end[0], path->end[1]);
    if (!status)
        status = nw_alloc(nw_topology_route_max(topology), sizeof *path->hop,
                          &path->hop);
    for (int32_t i = 0; !status && i < stripes; i++) {
        struct nw_end from = path->end[0], to = path->end[1];

        from.nic -= i;
        to.nic -= i;
        path->count +=
            nw_topology_route(topology, from, to, path->hop + path->count);
    }
    return status;
}

static void link_json(struct nw_json *json, const nw_topology *topology,
                      uint32_t hop)
{
    struct nw_link_info info = nw_topology_link(topology, (int32_t)(hop / 2));
    char name[160];

    nw_json_flat_object(json, NULL);
    nw_json_string(
        json, "name",
        nw_topology_link_name(topology, (int32_t)(hop / 2), name, sizeof name));
    nw_json_string(json, "kind", nw_link_kind_name(info.kind));
    nw_json_integer(json, "link", (int32_t)(hop / 2));
    nw_json_integer(json, "direction", hop % 2);
    nw_json_number(json, "bandwidth", info.bandwidth[hop % 2]);
    nw_json_number(json, "latency", info.latency);
    nw_json_bool(json, "assumed", info.assumed);
    nw_json_end_object(json);
}

static nw_status topology_route_json(const nw_topology *topology,
                                     const struct nw_cli_route *route,
                                     const struct topology_route_path *path,
                                     char **out)
{
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.route/1");
    nw_json_number(&json, "distance",
                   nw_topology_distance(topology, path->end[0], path->end[1]));
    nw_json_string(
        &json, "level",
        nw_topology_level_name(
            topology, nw_topology_level(topology, path->end[0], path->end[1])));
    if (route->links) {
        nw_json_array(&json, "links");
        for (size_t i = 0; i < path->count; i++)
            link_json(&json, topology, path->hop[i]);
        nw_json_end_array(&json);
    }
    nw_json_end_object(&json);
    return nw_text_take(&text, out);
}

static void link_row(nw_table *table, const nw_topology *topology, uint32_t hop)
{
    struct nw_link_info info = nw_topology_link(topology, (int32_t)(hop / 2));
    char name[160], figure[32];

    nw_table_row(table, -1);
    nw_table_cell(
        table, "%s",
        nw_topology_link_name(topology, (int32_t)(hop / 2), name, sizeof name));
    nw_table_cell(table, "%s", hop % 2 ? "down" : "up");
    nw_table_cell(table, "%s", nw_link_kind_name(info.kind));
    nw_table_cell(table, "%s",
                  nw_format_quantity(info.bandwidth[hop % 2], NW_UNIT_BANDWIDTH,
                                     figure, sizeof figure));
    nw_table_cell(
        table, "%s",
        nw_format_quantity(info.latency, NW_UNIT_TIME, figure, sizeof figure));
    nw_table_cell(table, "%s", info.assumed ? "assumed" : "");
}

static nw_status topology_route_table(const nw_topology *topology,
                                      const struct topology_route_path *path,
                                      char **out)
{
    static const char *const titles[] = {"link",      "way",     "kind",
                                         "bandwidth", "latency", "note"};
    nw_table *table;
    nw_status status = nw_table_new(&table);

    if (status)
        return status;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        nw_table_column(table, titles[i],
                        i == 3 || i == 4 ? NW_ALIGN_RIGHT : NW_ALIGN_LEFT);
    for (size_t i = 0; i < path->count; i++)
        link_row(table, topology, path->hop[i]);
    status = nw_table_text(table, out);
    nw_table_free(table);
    return status;
}

static nw_status topology_route_distance(const nw_topology *topology,
                                         const struct topology_route_path *path,
                                         char **out)
{
    struct nw_text text = {0};

    nw_text_format(&text, "%.17g\n",
                   nw_topology_distance(topology, path->end[0], path->end[1]));
    return nw_text_take(&text, out);
}

nw_status nw_cli_route(const nw_topology *topology,
                       const struct nw_cli_route *route, char **out)
{
    struct topology_route_path path = {0};
    nw_status status = topology_route_find(topology, route, &path);

    if (!status && route->json)
        status = topology_route_json(topology, route, &path, out);
    else if (!status && route->links)
        status = topology_route_table(topology, &path, out);
    else if (!status)
        status = topology_route_distance(topology, &path, out);
    free(path.hop);
    return status;
}
