/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a source such as hierarchy:4:8:16@1:10:100, a balanced tree with given
 * distances, as used in the literature on process mapping. Without distances,
 * they are numbers of links. The tree becomes one node, whose cores are the
 * elements. Every link has a bandwidth of 1 byte/s. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/source.h"
#include "topology/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LEVELS 32

/* The levels of the tree, from the innermost to the outermost. */
struct levels {
    int count;
    uint64_t size[MAX_LEVELS]; /* [level] children of each vertex; 0 is the
                                  innermost level */
    double distance[MAX_LEVELS];
    bool given;
};

static nw_status hierarchy_bad(const char *what, const char *word)
{
    return nw_fail(NW_EFORMAT, "hierarchy: %s '%s'", what, word);
}

static nw_status hierarchy_parse_sizes(char *words, struct levels *levels)
{
    char *rest = words, *word;
    uint64_t total = 1;

    while ((word = strsep(&rest, ":"))) {
        uint64_t size;

        if (levels->count == MAX_LEVELS)
            return hierarchy_bad("more than 32 levels at", word);
        if (!nw_parse_u64(word, &size) || size == 0)
            return hierarchy_bad("a level size is a number from 1, not", word);
        if (size > INT32_MAX / 4 / total)
            return hierarchy_bad("more than 2^29 elements at", word);
        total *= size;
        levels->size[levels->count++] = size;
    }
    return NW_OK;
}

static nw_status parse_distances(char *words, struct levels *levels)
{
    char *rest = words, *word;
    int count = 0;

    while ((word = strsep(&rest, ":"))) {
        double distance;

        if (!nw_parse_double(word, &distance) || distance < 0)
            return hierarchy_bad("a distance is a number from 0, not", word);
        if (distance > NW_DISTANCE_MOST)
            return hierarchy_bad("distances are not as long as", word);
        if (count == levels->count)
            return hierarchy_bad("more distances than levels at", word);
        if (count && distance < levels->distance[count - 1])
            return hierarchy_bad(
                "distances must not fall from the innermost out, at", word);
        levels->distance[count++] = distance;
    }
    if (count != levels->count)
        return nw_fail(NW_EFORMAT, "hierarchy: %d level%s but %d distances",
                       levels->count, nw_plural((uint64_t)levels->count),
                       count);
    levels->given = true;
    return NW_OK;
}

/* Adds the vertices of the level at `depth` (0: the outermost level) below
 * `parent`, and the levels below them, depth first. So the cores of a group
 * have consecutive numbers. */
static nw_status hierarchy_add_below(struct nw_node_type *type,
                                     const struct levels *levels,
                                     int32_t parent, int depth, int32_t class)
{
    int level = levels->count - 1 - depth;
    nw_status status = NW_OK;
    int32_t vertex;

    for (uint64_t i = 0; !status && i < levels->size[level]; i++) {
        status = nw_node_type_add(type, parent,
                                  level ? NW_VERTEX_GROUP : NW_VERTEX_CORE,
                                  class, &vertex);
        if (!status && level)
            status =
                hierarchy_add_below(type, levels, vertex, depth + 1, class);
    }
    return status;
}

/* Sets the distance of two cores for each depth of their common ancestor: the
 * given distance, or the number of links between the cores by way of that
 * ancestor. */
static nw_status keep_distances(const struct levels *levels,
                                nw_topology *topology)
{
    int n = levels->count;
    nw_status status =
        nw_alloc((size_t)n, sizeof(double), &topology->depth_distance);

    if (status)
        return status;
    topology->depth_count = n;
    for (int i = 0; i < n; i++)
        topology->depth_distance[n - 1 - i] =
            levels->given ? levels->distance[i] : 2 * (i + 1);
    return NW_OK;
}

static nw_status hierarchy_build(const struct levels *levels,
                                 nw_topology *topology,
                                 enum nw_elements elements)
{
    struct nw_link_class figures = nw_link_assumed(NW_LINK_GROUP);
    struct nw_node_type *type;
    int32_t class;
    nw_status status;

    figures.assumed = false; /* the bandwidth of 1 byte/s is a definition,
                                not a guess */
    status = nw_topology_class(topology, &figures, &class);
    if (!status)
        status = nw_node_type_new(topology, "hierarchy", &type);
    if (!status)
        status = hierarchy_add_below(type, levels, 0, 0, class);
    if (!status)
        status = nw_topology_set_nodes(topology, 1, 0);
    if (!status)
        status = nw_strdup("machine", &topology->node_name[0]);
    if (!status)
        status = keep_distances(levels, topology);
    if (!status)
        status = nw_topology_finish(topology, elements);
    return status;
}

nw_status nw_source_hierarchy(const char *what, enum nw_elements elements,
                              nw_topology **out)
{
    struct levels levels = {0};
    nw_topology *topology = NULL;
    char *words = NULL, *distances;
    char name[96];
    nw_status status = nw_strdup(what, &words);

    if (status)
        return status;
    distances = strchr(words, '@');
    if (distances)
        *distances++ = '\0';
    status = hierarchy_parse_sizes(words, &levels);
    if (!status && distances)
        status = parse_distances(distances, &levels);
    snprintf(name, sizeof name, "hierarchy:%s", what);
    if (!status)
        status = nw_topology_new(name, &topology);
    if (!status)
        status = hierarchy_build(&levels, topology, elements);
    free(words);
    if (status)
        nw_topology_free(topology);
    else
        *out = topology;
    return status;
}
