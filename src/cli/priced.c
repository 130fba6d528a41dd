/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/priced.h"
#include "base/array.h"
#include "base/status.h"
#include "cli/hosts.h"

#include <stdlib.h>
#include <string.h>

#define KEY_COMPACT 0x1801
#define KEY_ELEMENTS 0x1802

static const struct argp_option priced_options[] = {
    {"topology", 't', "SOURCE", 0,
     "The machine: a cluster file or another SOURCE of nodewise topology", 0},
    {"pattern", 'p', "PATTERN", 0, "Communication pattern of the program", 0},
    {"compact", KEY_COMPACT, NULL, 0, "Renumber sparse ids of a list", 0},
    {"elements", KEY_ELEMENTS, "KIND", 0,
     "Place on core (default) or pu, hardware threads", 0},
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
        if (strcmp(value, "core") && strcmp(value, "pu"))
            nw_argfail(state, "--elements is core or pu, not '%s'", value);
        priced->topology.elements =
            *value == 'p' ? NW_ELEMENTS_PU : NW_ELEMENTS_CORE;
        return 0;
    case ARGP_KEY_ARGS:
        priced->mapping = state->argv + state->next;
        priced->mapping_count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (!priced->source || !priced->pattern)
            nw_argfail(state, "-t SOURCE and -p PATTERN are needed");
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

/* The smallest number of ranks per GPU with which this many ranks fit, each on
 * a core near its GPU; else 0. */
static int32_t least_share(const nw_topology *topology, int32_t ranks)
{
    int64_t fit = 0, before = -1;
    int32_t share = 0;

    while (fit < ranks && fit > before) {
        before = fit;
        fit = 0;
        share++;
        for (int32_t n = 0; n < nw_topology_node_count(topology); n++) {
            int64_t cores = nw_topology_node_elements(topology, n).count;
            int64_t room =
                (int64_t)share * nw_topology_node_gpus(topology, n).count;

            fit += cores < room ? cores : room;
        }
    }
    return fit < ranks ? 0 : share;
}

nw_status nw_cli_default_beside(const nw_topology *topology,
                                const nw_pattern *pattern,
                                struct nw_map_options map, nw_mapping **out)
{
    if (nw_pattern_has_gpu(pattern)) {
        int32_t share = least_share(topology, count_gpu_ranks(pattern));

        if (share > map.ranks_per_gpu)
            map.ranks_per_gpu = share;
    } else if (pattern->rank_count > nw_topology_element_count(topology)) {
        map.imbalance = 0;
    }
    return nw_map_default(topology, pattern, &map, out);
}
