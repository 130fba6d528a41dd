/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/mapping_arguments.h"
#include "base/array.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_COMPACT 0x1801
#define KEY_ELEMENTS 0x1802
#define KEY_HOSTS 0x1803
#define KEY_HOSTFILE 0x1804

static const struct argp_option priced_options[] = {
    {"topology", 't', "SOURCE", 0,
     "The machine: a cluster file or another SOURCE of nodewise topology", 0},
    {"pattern", 'p', "PATTERN", 0, "Communication pattern of the program", 0},
    {"compact", KEY_COMPACT, NULL, 0,
     "Renumber the ranks of a pattern list:FILE from 0 if numbers are missing",
     0},
    {"elements", KEY_ELEMENTS, "KIND", 0,
     "What the core numbers of the mappings mean: core (default) or pu, "
     "hardware threads",
     0},
    {"hosts", KEY_HOSTS, "LIST", 0,
     "Nodes of the default mapping, with optional slots: n[1-4],x:8", 0},
    {"hostfile", KEY_HOSTFILE, "FILE", 0,
     "Nodes of the default mapping, one per line", 0},
    {0},
};

static error_t priced_parse(int key, char *value, struct argp_state *state)
{
    struct nw_priced *priced = state->input;

    switch (key) {
    case 't':
        priced->source = value;
        return 0;
    case 'p':
        priced->pattern = value;
        return 0;
    case KEY_COMPACT:
        priced->read.compact = true;
        return 0;
    case KEY_ELEMENTS:
        priced->topology.elements = nw_argelements(state, value);
        return 0;
    case KEY_HOSTS:
        priced->hosts = value;
        return 0;
    case KEY_HOSTFILE:
        priced->hostfile = value;
        return 0;
    case ARGP_KEY_ARGS:
        priced->mapping = state->argv + state->next;
        priced->mapping_count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (!priced->source || !priced->pattern)
            nw_argfail(state, "-t SOURCE and -p PATTERN are needed");
        if (priced->hosts && priced->hostfile)
            nw_argfail(state, "--hosts and --hostfile exclude each other");
        if (nw_cli_hosts_check(priced->hosts))
            nw_argfail(state, "%s", nw_error_text());
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp priced_argp = {.options = priced_options,
                                        .parser = priced_parse};
const struct argp_child nw_priced_children[] = {
    {&nw_common_argp, 0, NULL, 0}, {&priced_argp, 0, NULL, 0}, {0}};

nw_status nw_priced_load(const struct nw_priced *priced,
                         const struct nw_common *common, nw_topology **topology,
                         nw_pattern **pattern)
{
    nw_status status = nw_cli_spare(common, priced->source, priced->pattern,
                                    priced->mapping, priced->mapping_count);

    if (!status)
        status = nw_cli_output_spares(common, priced->hostfile);
    if (!status)
        status = nw_topology_load(priced->source, &priced->topology, topology);
    return status ? status
                  : nw_pattern_read(priced->pattern, &priced->read, pattern);
}

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

/* Returns true if every rank of the mapping that has a node is on one of the
 * hosts. Returns false if memory is exhausted. */
static bool priced_stays_on(const struct nw_hosts *hosts,
                            const nw_topology *topology,
                            const nw_mapping *mapping)
{
    bool *known;
    int32_t r = 0;

    if (nw_alloc((size_t)nw_topology_node_count(topology), sizeof *known,
                 &known))
        return false;
    for (size_t h = 0; h < hosts->count; h++)
        known[hosts->node[h]] = true;
    while (r < mapping->rank_count &&
           (mapping->node[r] < 0 || known[mapping->node[r]]))
        r++;
    free(known);
    return r == mapping->rank_count;
}

nw_status nw_priced_hosts(const struct nw_priced *priced,
                          const struct nw_priced_set *set,
                          struct nw_hosts *hosts, struct nw_map_options *map)
{
    nw_status status =
        nw_cli_hosts(set->topology, priced->hosts, priced->hostfile, hosts);

    if (status)
        return nw_cli_blame_hosts(priced->source, priced->hostfile, status);
    for (size_t i = 0; hosts->variable && i < set->count; i++)
        if (!priced_stays_on(hosts, set->topology, set->mapping[i])) {
            nw_cli_hosts_fini(hosts);
            nw_cli_notes(
                set->command, set->common,
                "a mapping uses nodes outside this job: the default "
                "is placed on the whole machine; --hosts names others");
            return NW_OK;
        }
    nw_cli_hosts_use(hosts, set->rank_count, map);
    nw_cli_hosts_say(set->command, set->common, set->topology, hosts);
    return NW_OK;
}

bool nw_priced_note_hosts(const struct nw_priced_set *set,
                          const struct nw_hosts *hosts,
                          const struct nw_priced_worse *worse)
{
    const nw_mapping *const pair[2] = {worse->standard, worse->mapping};
    int32_t nodes = nw_topology_node_count(set->topology);
    bool is_same = true, *used[2] = {NULL, NULL};
    nw_status status = NW_OK;

    if (hosts->count || set->common->quiet)
        return false;
    for (int i = 0; !status && i < 2; i++)
        status = nw_alloc((size_t)nodes, sizeof **used, &used[i]);
    for (int i = 0; !status && i < 2; i++)
        for (int32_t r = 0; r < pair[i]->rank_count; r++)
            if (pair[i]->node[r] >= 0)
                used[i][pair[i]->node[r]] = true;
    for (int32_t n = 0; !status && n < nodes; n++)
        is_same &= used[0][n] == used[1][n];
    free(used[0]);
    free(used[1]);
    if (!is_same)
        fprintf(stderr,
                "nodewise %s: note: the default uses other nodes than %s; if "
                "this mapping was made with --hosts or inside a job, give the "
                "same --hosts\n",
                set->command, worse->name);
    return !is_same;
}
