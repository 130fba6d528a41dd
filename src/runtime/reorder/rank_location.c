/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the locations of ranks. A rank's location in its node is the smallest
 * part of the node that contains all cores to which the rank is bound. */
#include "runtime/reorder/rank_location.h"

#include "base/array.h"
#include "base/cpus.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/topology.h"

#include <nodewise/mapping.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_path(const struct nw_node_type *type, int32_t vertex,
                      struct nw_rank_location *location)
{
    int32_t depth = type->depth[vertex];

    for (; depth > NW_LOCATION_DEPTH; depth--)
        vertex = type->parent[vertex];
    location->depth = depth;
    for (; depth > 0; vertex = type->parent[vertex])
        location->at[--depth] = vertex;
}

static bool may_run(const struct nw_node_type *type, int32_t core,
                    const unsigned long *bound, int words)
{
    for (int32_t t = type->core_pu[core]; t < type->core_pu[core + 1]; t++)
        if (nw_cpus_has(bound, words, type->pu_os[t]))
            return true;
    return false;
}

static int32_t binding_vertex(const struct nw_node_type *type,
                              const unsigned long *bound, int words)
{
    int32_t vertex = -1;

    if (!type->core_pu || !type->pu_os)
        return 0;
    for (int32_t c = 0; c < type->core_count; c++)
        if (may_run(type, c, bound, words))
            vertex = vertex < 0
                         ? type->core[c]
                         : nw_node_type_common(type, vertex, type->core[c]);
    return vertex < 0 ? 0 : vertex;
}

nw_status nw_rank_location_local(const unsigned long *bound, int words,
                                 int count, struct nw_rank_location *location)
{
    const char *this_system = getenv("HWLOC_THISSYSTEM");
    bool elsewhere = this_system && !strcmp(this_system, "0");
    const struct nw_node_type *type;
    nw_topology *topology;
    nw_status status = nw_topology_load("live", NULL, &topology);

    if (status)
        return status;
    type = nw_topology_type_of(topology, 0);
    for (int i = 0; i < count; i++)
        take_path(type,
                  elsewhere ? type->core[i % type->core_count]
                            : binding_vertex(type, bound + i * words, words),
                  &location[i]);
    nw_topology_free(topology);
    return NW_OK;
}

/* Returns the node with this host name, or -1. Ignores the domain of names:
 * "node07.cluster" is "node07". */
static int32_t find_host(const nw_topology *topology, const char *host)
{
    int32_t node = nw_topology_node_find(topology, host);
    char name[64];

    if (node >= 0)
        return node;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(host, "."), host);
    node = nw_topology_node_find(topology, name);
    for (int32_t i = 0; node < 0 && i < nw_topology_node_count(topology); i++) {
        const char *other = nw_topology_node_name(topology, i);

        if (strlen(name) == strcspn(other, ".") &&
            !strncmp(name, other, strlen(name)))
            node = i;
    }
    return node;
}

static void take_switches(const nw_topology *topology, int32_t node,
                          int32_t *above)
{
    const struct nw_network *network = topology->network;
    int32_t at = nw_topology_switch_of(topology, node, -1);
    int32_t depth = network->depth[at] + 1;

    for (; depth > NW_SWITCH_DEPTH; depth--)
        at = network->parent[at];
    for (int d = depth; d < NW_SWITCH_DEPTH; d++)
        above[d] = -1;
    for (; depth > 0; at = network->parent[at])
        above[--depth] = at;
}

static nw_status rank_location_take_network(const nw_topology *topology,
                                            const char *source,
                                            const int32_t *node,
                                            struct nw_job_location *job)
{
    if (!topology->network)
        return NW_OK;
    if (topology->network->parent) {
        for (int i = 0; i < job->node_count; i++)
            take_switches(topology, node[i], &job->above[i * NW_SWITCH_DEPTH]);
        return NW_OK;
    }
    if (nw_alloc((size_t)job->node_count, sizeof *job->number, &job->number) ||
        nw_strdup(source, &job->source))
        return NW_ENOMEM;
    memcpy(job->number, node, (size_t)job->node_count * sizeof *node);
    return NW_OK;
}

static nw_status rank_location_read_source(const char *source,
                                           const struct nw_node_words *words,
                                           struct nw_job_location *job)
{
    nw_topology *topology;
    int32_t *node = NULL;
    nw_status status = nw_topology_load(source, NULL, &topology);

    if (status)
        return status;
    status = nw_alloc((size_t)job->node_count, sizeof *node, &node);
    for (int i = 0; !status && i < job->node_count; i++) {
        node[i] = find_host(topology, words[i].host);
        if (node[i] < 0)
            status = nw_fail(NW_EINVAL, "%s has no host '%s'", source,
                             words[i].host);
    }
    if (!status)
        status = rank_location_take_network(topology, source, node, job);
    free(node);
    nw_topology_free(topology);
    return status;
}

/* Slurm gives each node an address such as "top.s2.n3", which lists the
 * switches from the root down, then the node. Returns a number for the switch
 * that the first `length` characters of the node's address denote: the first
 * node whose address has the same prefix. */
static int32_t slurm_switch(const struct nw_node_words *words, int node,
                            size_t length)
{
    for (int i = 0; i < node; i++)
        if (!strncmp(words[i].slurm, words[node].slurm, length) &&
            words[i].slurm[length] == '.')
            return i;
    return node;
}

static void rank_location_read_slurm(const struct nw_node_words *words,
                                     struct nw_job_location *job)
{
    for (int i = 0; i < job->node_count; i++) {
        const char *at = words[i].slurm;

        for (int d = 0; d < NW_SWITCH_DEPTH; d++) {
            const char *dot = strchr(at, '.');

            if (!dot)
                break;
            job->above[i * NW_SWITCH_DEPTH + d] =
                slurm_switch(words, i, (size_t)(dot - words[i].slurm)) *
                    NW_SWITCH_DEPTH +
                d;
            at = dot + 1;
        }
    }
}

nw_status nw_rank_location_network(const char *source,
                                   const struct nw_node_words *node,
                                   struct nw_job_location *job)
{
    if (source && source[0])
        return rank_location_read_source(source, node, job);
    rank_location_read_slurm(node, job);
    return NW_OK;
}

static void rank_location_take_mapped(const nw_topology *topology,
                                      const nw_mapping *mapping,
                                      const int32_t *number,
                                      struct nw_job_location *job)
{
    for (int r = 0; r < job->rank_count; r++) {
        const struct nw_node_type *type =
            nw_topology_type_of(topology, mapping->node[r]);
        struct nw_ints cores = nw_mapping_cores(mapping, r);
        int32_t vertex = type->core[cores.values[0]];

        for (size_t c = 1; c < cores.count; c++)
            vertex =
                nw_node_type_common(type, vertex, type->core[cores.values[c]]);
        take_path(type, vertex, &job->location[r]);
        job->location[r].node = number[mapping->node[r]];
    }
}

static nw_status check_mapping(const nw_mapping *mapping, int ranks)
{
    if (mapping->rank_count != ranks)
        return nw_fail(NW_EINVAL, "a mapping of %d rank%s for %d",
                       mapping->rank_count,
                       nw_plural((uint64_t)mapping->rank_count), ranks);
    for (int r = 0; r < ranks; r++) {
        struct nw_ints cores = nw_mapping_cores(mapping, r);

        if (mapping->node[r] < 0 || !cores.count)
            return nw_fail(NW_EINVAL, "the mapping leaves rank %d open", r);
    }
    return NW_OK;
}

/* Takes the locations of all ranks from the mapping. Numbers the nodes with
 * ranks in the order of the topology. */
static nw_status take_mapping(const nw_topology *topology, const char *source,
                              const nw_mapping *mapping,
                              struct nw_job_location *job)
{
    int32_t nodes = nw_topology_node_count(topology), *number, *used = NULL;
    nw_status status = nw_alloc((size_t)nodes, sizeof *number, &number);

    if (!status)
        status = nw_alloc((size_t)nodes, sizeof *used, &used);
    for (int r = 0; !status && r < job->rank_count; r++)
        number[mapping->node[r]] = 1;
    job->node_count = 0;
    for (int32_t n = 0; !status && n < nodes; n++)
        if (number[n]) {
            used[job->node_count] = n;
            number[n] = job->node_count++;
        }
    if (!status)
        status = nw_alloc((size_t)job->node_count * NW_SWITCH_DEPTH,
                          sizeof *job->above, &job->above);
    if (!status)
        memset(job->above, -1,
               (size_t)job->node_count * NW_SWITCH_DEPTH * sizeof *used);
    if (!status)
        status = rank_location_take_network(topology, source, used, job);
    if (!status)
        rank_location_take_mapped(topology, mapping, number, job);
    free(number);
    free(used);
    return status;
}

nw_status nw_rank_location_mapped(const char *source, const char *mapping_file,
                                  struct nw_job_location *job)
{
    nw_mapping *mapping = NULL;
    nw_topology *topology;
    nw_status status = nw_topology_load(source, NULL, &topology);

    if (status)
        return status;
    status = nw_mapping_read(mapping_file, topology, &mapping);
    if (!status)
        status = check_mapping(mapping, job->rank_count);
    if (!status)
        status = take_mapping(topology, source, mapping, job);
    nw_mapping_free(mapping);
    nw_topology_free(topology);
    return status;
}
