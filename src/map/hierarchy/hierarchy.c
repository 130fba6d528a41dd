/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the tree in the distances of a machine. Slots are sorted in the order
 * of the machine's own tree (network, node). If the distances form a tree, the
 * distance of two slots is the largest distance of consecutive slots between
 * them. That is checked for a sample of pairs. */
#include "map/hierarchy/hierarchy.h"
#include "base/array.h"
#include "base/parallel.h"
#include "map/common/budget.h"
#include "map/common/parameters.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the order of slots --- */

/* A place and the keys by which places are sorted. */
struct hierarchy_keyed {
    int32_t node, vertex, place;
};

/* Compares places for qsort: by node, then vertex, then place number. */
static int hierarchy_by_key(const void *left, const void *right)
{
    const struct hierarchy_keyed *a = left, *b = right;

    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->vertex != b->vertex)
        return a->vertex < b->vertex ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Compares two switches by their paths from the root of the network's tree;
 * returns a value below, equal to or above 0. */
static int hierarchy_by_switch(const struct nw_network *network, int32_t a,
                               int32_t b)
{
    int32_t before_a = a, before_b = b;

    while (a != b) {
        bool a_up = network->depth[a] >= network->depth[b];
        bool b_up = network->depth[b] >= network->depth[a];

        if (a_up) {
            before_a = a;
            a = network->parent[a];
        }
        if (b_up) {
            before_b = b;
            b = network->parent[b];
        }
        if (a < 0 || b < 0)
            break;
    }
    return (before_a > before_b) - (before_a < before_b);
}

/* A node, and `at`, the switch to which it (or its first NIC) is attached. */
struct hierarchy_port {
    const struct nw_network *network;
    int32_t at, node;
};

/* Compares nodes for qsort: by their switches, then by their numbers. */
static int hierarchy_by_port(const void *left, const void *right)
{
    const struct hierarchy_port *a = left, *b = right;
    int order =
        a->at == b->at ? 0 : hierarchy_by_switch(a->network, a->at, b->at);

    return order ? order : (a->node > b->node) - (a->node < b->node);
}

/* Sets turn[node] to the node's position in a walk through the network's tree;
 * to the node's number if the network is not a tree. */
static nw_status hierarchy_order_nodes(const nw_topology *topology,
                                       int32_t *turn)
{
    const struct nw_network *network = topology->network;
    struct hierarchy_port *port = NULL;
    size_t nodes = (size_t)topology->node_count;
    nw_status status = nw_alloc(nodes, sizeof *port, &port);

    for (size_t i = 0; !status && i < nodes; i++)
        port[i] = (struct hierarchy_port){
            network, network ? topology->port[topology->port_first[i]] : 0,
            (int32_t)i};
    if (!status && network && network->parent)
        qsort(port, nodes, sizeof *port, hierarchy_by_port);
    for (size_t i = 0; !status && i < nodes; i++)
        turn[port[i].node] = (int32_t)i;
    free(port);
    return status;
}

/* Sets (*out)[vertex] to the vertex's position in a depth-first walk of the
 * node; the caller frees *out. */
static nw_status hierarchy_order_vertices(const struct nw_node_type *type,
                                          int32_t **out)
{
    size_t n = (size_t)type->vertex_count;
    int32_t *size = NULL, *next = NULL, *turn = NULL;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(n, size), NW_ARRAY(n, next), NW_ARRAY(n, turn));

    for (size_t v = n; !status && v-- > 0;) {
        size[v]++;
        if (type->parent[v] >= 0)
            size[type->parent[v]] += size[v];
    }
    for (size_t v = 0; !status && v < n; v++) {
        int32_t parent = type->parent[v];

        turn[v] = parent < 0 ? 0 : next[parent];
        if (parent >= 0)
            next[parent] += size[v];
        next[v] = turn[v] + 1;
    }
    *out = turn;
    free(size);
    free(next);
    return status;
}

/* Returns true if the places are already in order, so that sorting is not
 * needed. */
static bool hierarchy_is_sorted(const struct hierarchy_keyed *keys, int32_t n)
{
    for (int32_t i = 1; i < n; i++)
        if (hierarchy_by_key(&keys[i - 1], &keys[i]) > 0)
            return false;
    return true;
}

/* Fills keys[] with all places in the order of the machine's tree. */
static nw_status hierarchy_order_places(const struct nw_places *places,
                                        struct hierarchy_keyed *keys)
{
    const nw_topology *topology = places->topology;
    int32_t *node_turn = NULL, **turn = NULL;
    size_t types = (size_t)topology->type_count;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY((size_t)topology->node_count, node_turn),
                     NW_ARRAY(types, turn));

    if (!status)
        status = hierarchy_order_nodes(topology, node_turn);
    for (size_t t = 0; !status && t < types; t++)
        status = hierarchy_order_vertices(topology->type[t], &turn[t]);
    for (int32_t q = 0; !status && q < places->count; q++) {
        struct nw_end end = places->end[q];

        keys[q] = (struct hierarchy_keyed){node_turn[end.node], 0, q};
        if (!topology->matrix)
            keys[q].vertex = turn[topology->node_type[end.node]][end.vertex];
    }
    if (!status && !hierarchy_is_sorted(keys, places->count))
        qsort(keys, (size_t)places->count, sizeof *keys, hierarchy_by_key);
    for (size_t t = 0; turn && t < types; t++)
        free(turn[t]);
    free(turn);
    free(node_turn);
    return status;
}

/* --- levels and codes --- */

static int hierarchy_by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Collects the different values of gap[], and 0, in ascending order in
 * hierarchy->distance. Returns false if there are too many levels, or if a
 * distance is negative. */
static bool hierarchy_find_levels(struct nw_hierarchy *hierarchy,
                                  const double *gap)
{
    hierarchy->levels = 1;
    hierarchy->distance[0] = 0;
    for (int32_t s = 0; s + 1 < hierarchy->slots; s++) {
        int32_t l = hierarchy->levels;

        while (l && hierarchy->distance[l - 1] != gap[s])
            l--;
        if (l)
            continue;
        if (hierarchy->levels == NW_HIERARCHY_LEVELS || !(gap[s] >= 0))
            return false;
        hierarchy->distance[hierarchy->levels++] = gap[s];
    }
    qsort(hierarchy->distance, (size_t)hierarchy->levels, sizeof(double),
          hierarchy_by_value);
    return true;
}

/* Makes the clusters of level l: the longest runs of consecutive slots without
 * a gap wider than hierarchy->distance[l]. */
static nw_status hierarchy_cut_level(struct nw_hierarchy *hierarchy,
                                     const double *gap, int32_t l)
{
    size_t slots = (size_t)hierarchy->slots;
    int32_t count = 0;
    nw_status status =
        nw_alloc_raw(slots + 1, sizeof(int32_t), &hierarchy->first[l]);

    if (!status)
        status = nw_alloc_raw(slots, sizeof(int32_t), &hierarchy->cluster[l]);
    for (int32_t s = 0; !status && s < hierarchy->slots; s++) {
        if (!s || gap[s - 1] > hierarchy->distance[l])
            hierarchy->first[l][count++] = s;
        hierarchy->cluster[l][s] = count - 1;
    }
    if (!status)
        hierarchy->first[l][count] = hierarchy->slots;
    hierarchy->count[l] = count;
    return status;
}

/* Returns the first cluster of level l that has the same parent as the cluster
 * of slot s. */
static int32_t hierarchy_first_child(const struct nw_hierarchy *hierarchy,
                                     int32_t l, int32_t s)
{
    return hierarchy
        ->cluster[l][hierarchy->first[l + 1][hierarchy->cluster[l + 1][s]]];
}

/* Sets the code of each slot. A code holds, for each level, the number of the
 * slot's cluster within its parent; level 0 is in the lowest bits. Returns
 * false if codes would need more than 62 bits. */
static bool hierarchy_write_codes(struct nw_hierarchy *hierarchy)
{
    int shift = 0;

    hierarchy->apart[0] = 0;
    for (int32_t l = 0; l + 1 < hierarchy->levels; l++) {
        int32_t last = 0;
        int bits;

        for (int32_t s = 0; s < hierarchy->slots; s++) {
            int32_t child = hierarchy->cluster[l][s] -
                            hierarchy_first_child(hierarchy, l, s);

            last = child > last ? child : last;
        }
        bits = last ? 32 - __builtin_clz((unsigned)last) : 0;
        if (shift + bits > 62)
            return false;
        for (int32_t s = 0; s < hierarchy->slots; s++)
            hierarchy->code[s] |=
                (uint64_t)(hierarchy->cluster[l][s] -
                           hierarchy_first_child(hierarchy, l, s))
                << shift;
        for (int bit = shift; bit < shift + bits; bit++)
            hierarchy->apart[bit + 1] = hierarchy->distance[l + 1];
        shift += bits;
    }
    return true;
}

nw_status nw_hierarchy_from_gaps(struct nw_hierarchy *hierarchy,
                                 const double *gap, const int32_t *place,
                                 int32_t slots, bool *is_hierarchy)
{
    size_t n = (size_t)slots;
    nw_status status;

    *hierarchy = (struct nw_hierarchy){.slots = slots};
    *is_hierarchy = hierarchy_find_levels(hierarchy, gap);
    status = nw_alloc_raw(n, sizeof *hierarchy->place, &hierarchy->place);
    if (!status)
        status = nw_alloc(n, sizeof *hierarchy->code, &hierarchy->code);
    if (!status && n)
        memcpy(hierarchy->place, place, n * sizeof *place);
    for (int32_t l = 0; !status && *is_hierarchy && l < hierarchy->levels; l++)
        status = hierarchy_cut_level(hierarchy, gap, l);
    if (!status && *is_hierarchy)
        *is_hierarchy = hierarchy_write_codes(hierarchy);
    if (status || !*is_hierarchy)
        nw_hierarchy_fini(hierarchy);
    return status;
}

/* --- from places to slots --- */

/* Returns true if the tree gives the exact distances of a random sample of
 * pairs of places, in both directions. */
static bool hierarchy_holds(const struct nw_hierarchy *hierarchy,
                            const struct nw_places *places)
{
    struct nw_random random;

    nw_random_init(&random, 1);
    for (int i = 0; i < nw_tuned.hierarchy.check_pairs && hierarchy->slots > 1;
         i++) {
        uint64_t n = (uint64_t)hierarchy->slots;
        int32_t a = (int32_t)nw_random_below(&random, n);
        int32_t b = (int32_t)nw_random_below(&random, n);
        double apart = nw_hierarchy_distance(hierarchy, hierarchy->code[a],
                                             hierarchy->code[b]);

        if (nw_places_distance(places, hierarchy->place[a],
                               hierarchy->place[b]) != apart ||
            nw_places_distance(places, hierarchy->place[b],
                               hierarchy->place[a]) != apart)
            return false;
    }
    return true;
}

/* Numbers the slots: each place, in the order of keys[], gets as many
 * consecutive slots as it can hold processes, those that it already has
 * included. Sets (*place)[s] to the place of slot s; the caller frees *place.
 */
static nw_status hierarchy_number_slots(const struct nw_placement *placement,
                                        const struct hierarchy_keyed *keys,
                                        int32_t **place, int32_t *slots)
{
    const int32_t *capacity = placement->free_slots.capacity;
    int32_t count = placement->places->count, *room = NULL, at = 0;
    size_t total = 0;
    nw_status status = nw_alloc((size_t)count, sizeof *room, &room);

    for (int32_t p = 0; !status && p < placement->count; p++)
        if (placement->place[p] >= 0)
            room[placement->place[p]]++;
    for (int32_t q = 0; !status && q < count; q++) {
        room[q] += capacity[q] > 0 ? capacity[q] : 0;
        total += (size_t)room[q];
    }
    if (!status)
        status = nw_alloc(total, sizeof **place, place);
    for (int32_t i = 0; !status && i < count; i++)
        for (int32_t k = 0; k < room[keys[i].place]; k++)
            (*place)[at++] = keys[i].place;
    *slots = at;
    free(room);
    return status;
}

/* Argument of the tasks that compute the distances of consecutive slots. */
struct hierarchy_gaps {
    const struct nw_places *places;
    const int32_t *place; /* [slots] place of each slot */
    int32_t slots;
    double *gap; /* [slots] distance from a slot to the next one */
};

/* Computes gap[] for the slots of one range; a task for threads. */
static void hierarchy_find_part(void *user, int32_t part)
{
    const struct hierarchy_gaps *gaps = user;
    struct nw_parallel_range mine = nw_parallel_range(gaps->slots - 1, part);

    for (int64_t s = mine.first; s < mine.end; s++)
        gaps->gap[s] = nw_places_distance(gaps->places, gaps->place[s],
                                          gaps->place[s + 1]);
}

/* Computes (*gap)[s], the distance from slot s to slot s + 1; the caller frees
 * *gap. */
static nw_status hierarchy_find_gaps(const struct nw_placement *placement,
                                     const int32_t *place, int32_t slots,
                                     double **gap)
{
    struct hierarchy_gaps gaps = {placement->places, place, slots, NULL};
    bool few = slots < nw_tuned.threads.slots_min || !placement->budget;
    nw_status status = nw_alloc((size_t)slots, sizeof **gap, gap);

    if (status || slots < 2)
        return status;
    gaps.gap = *gap;
    nw_parallel_run(hierarchy_find_part, &gaps, NW_PARALLEL_RANGES,
                    few ? 1 : placement->budget->threads);
    return NW_OK;
}

nw_status nw_hierarchy_init(struct nw_hierarchy *hierarchy,
                            const struct nw_placement *placement,
                            bool *is_hierarchy)
{
    struct hierarchy_keyed *keys = NULL;
    int32_t *place = NULL, slots = 0;
    double *gap = NULL;
    nw_status status =
        nw_alloc_raw((size_t)placement->places->count, sizeof *keys, &keys);

    if (!status)
        status = hierarchy_order_places(placement->places, keys);
    if (!status)
        status = hierarchy_number_slots(placement, keys, &place, &slots);
    if (!status)
        status = hierarchy_find_gaps(placement, place, slots, &gap);
    if (!status)
        status =
            nw_hierarchy_from_gaps(hierarchy, gap, place, slots, is_hierarchy);
    if (!status && *is_hierarchy)
        hierarchy->exact = hierarchy_holds(hierarchy, placement->places);
    NW_FREE_ALL(keys, place, gap);
    return status;
}

void nw_hierarchy_fini(struct nw_hierarchy *hierarchy)
{
    for (int32_t l = 0; l < NW_HIERARCHY_LEVELS; l++) {
        free(hierarchy->first[l]);
        free(hierarchy->cluster[l]);
    }
    free(hierarchy->place);
    free(hierarchy->code);
    *hierarchy = (struct nw_hierarchy){0};
}
