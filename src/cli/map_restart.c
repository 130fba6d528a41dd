/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the lost nodes of --without; prints spare nodes and ranks that
 * moved. */
#include "cli/map_restart.h"
#include "base/array.h"
#include "base/hostlist.h"
#include "base/nearest.h"
#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Finds a node by name. The error names the node with the most similar name if
 * one is similar, else the command that lists the nodes. */
static nw_status restart_find(const nw_topology *topology, const char *name,
                              int32_t *out)
{
    struct nw_nearest nearest;

    *out = nw_topology_node_find(topology, name);
    if (*out >= 0)
        return NW_OK;
    nw_nearest_start(&nearest, name, strlen(name));
    for (int32_t n = 0; n < nw_topology_node_count(topology); n++)
        nw_nearest_try(&nearest, nw_topology_node_name(topology, n));
    return nw_fail(
        NW_EINVAL, "--without: %s has no node '%s'; %s",
        nw_topology_name(topology), name,
        nw_nearest_say(&nearest, "nodewise topology lists its nodes"));
}

nw_status nw_cli_restart_read(struct nw_cli_restart *restart,
                              const nw_topology *topology,
                              struct nw_map_options *map)
{
    struct nw_hostlist names = {0};
    nw_status status;

    if (!restart->without)
        return NW_OK;
    status = nw_hostlist_expand(restart->without, &names);
    if (status)
        return nw_fail(NW_EINVAL, "--without: %s", nw_error_text());
    if (!names.count)
        status = nw_fail(NW_EINVAL, "--without names no node");
    if (!status)
        status = nw_alloc(names.count, sizeof *restart->lost, &restart->lost);
    for (size_t i = 0; !status && i < names.count; i++)
        status = restart_find(topology, names.name[i], &restart->lost[i]);
    map->lost = restart->lost;
    map->lost_count = names.count;
    nw_hostlist_fini(&names);
    return status;
}

void nw_cli_restart_fini(struct nw_cli_restart *restart)
{
    free(restart->lost);
}

/* Lists the names of the spare nodes: those that the mapping may use, but that
 * are not lost and have no ranks. The caller frees the array, not the names. */
static nw_status restart_find_spare(const struct nw_map_options *map,
                                    const nw_mapping *mapping,
                                    const char ***out, size_t *count)
{
    size_t all = map->hosts ? map->host_count : (size_t)mapping->node_count;
    const char **names = NULL;
    bool *taken;
    nw_status status =
        nw_alloc((size_t)mapping->node_count, sizeof *taken, &taken);

    if (!status)
        status = nw_alloc(all, sizeof *names, &names);
    for (int32_t r = 0; !status && r < mapping->rank_count; r++)
        taken[mapping->node[r]] = true;
    for (size_t i = 0; !status && i < map->lost_count; i++)
        taken[map->lost[i]] = true;
    *count = 0;
    for (size_t h = 0; !status && h < all; h++) {
        int32_t node = map->hosts ? map->hosts[h] : (int32_t)h;

        if (!taken[node])
            names[(*count)++] = mapping->node_name[node];
    }
    free(taken);
    *out = names;
    return status;
}

nw_status nw_cli_restart_add(const struct nw_cli_restart *restart,
                             const struct nw_map_options *map,
                             const struct nw_map_answer *answer,
                             struct nw_text *text)
{
    const struct nw_map_report *report = &answer->report;
    const char **names = NULL;
    char *list = NULL;
    size_t count;
    nw_status status;

    if (!restart->spare && !restart->without)
        return NW_OK;
    status = restart_find_spare(map, answer->mapping, &names, &count);
    if (!status)
        status = nw_hostlist_compress(names, count, &list);
    if (!status)
        nw_text_format(text, "spare nodes: %s\n", count ? list : "none");
    if (!status && restart->without)
        nw_text_format(text,
                       "moved ranks: %d of lost nodes, %d others (a move must "
                       "gain %.3g us of an exchange)\n",
                       report->lost_ranks, report->moved - report->lost_ranks,
                       1e6 * report->move_cost);
    free(list);
    free(names);
    return status;
}

nw_status nw_cli_restart_json(const struct nw_cli_restart *restart,
                              const struct nw_map_options *map,
                              const struct nw_map_answer *answer,
                              struct nw_json *json)
{
    const char **names = NULL;
    size_t count;
    nw_status status;

    if (!restart->spare && !restart->without)
        return NW_OK;
    status = restart_find_spare(map, answer->mapping, &names, &count);
    if (status)
        return status;
    nw_json_array(json, "spare_nodes");
    for (size_t i = 0; i < count; i++)
        nw_json_string(json, NULL, names[i]);
    nw_json_end_array(json);
    free(names);
    if (!restart->without)
        return NW_OK;
    nw_json_unsigned(json, "lost_ranks", (uint64_t)answer->report.lost_ranks);
    nw_json_unsigned(json, "moved_ranks", (uint64_t)answer->report.moved);
    nw_json_number(json, "move_cost", answer->report.move_cost);
    return NW_OK;
}
