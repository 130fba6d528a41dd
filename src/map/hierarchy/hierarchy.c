/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the tree in a machine's distances. Seats are put in the order of the
 * machine's tree; then the distances of neighbours say everything: two seats
 * are as far apart as the farthest neighbours between them. That it is so is
 * tried on many pairs. */
#include "map/hierarchy/hierarchy.h"
#include "base/array.h"
#include "base/crew.h"
#include "map/common/budget.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRIALS 4096
#define THREADED 16384 /* seats that are worth several threads */

/* --- the order of the machine --- */

struct keyed {
    int32_t node, vertex, place;
};

static int by_key(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;

    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->vertex != b->vertex)
        return a->vertex < b->vertex ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Compares the ways from the root to two switches. */
static int by_switch(const struct nw_network *network, int32_t a, int32_t b)
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

struct port {
    const struct nw_network *network;
    int32_t at, node;
};

static int by_port(const void *left, const void *right)
{
    const struct port *a = left, *b = right;
    int order = a->at == b->at ? 0 : by_switch(a->network, a->at, b->at);

    return order ? order : (a->node > b->node) - (a->node < b->node);
}

/* turn[node]: its number along the network's tree. */
static nw_status order_nodes(const nw_topology *topology, int32_t *turn)
{
    const struct nw_network *network = topology->network;
    struct port *port = NULL;
    size_t nodes = (size_t)topology->node_count;
    nw_status status = nw_alloc(nodes, sizeof *port, &port);

    for (size_t i = 0; !status && i < nodes; i++)
        port[i] = (struct port){
            network, network ? topology->port[topology->port_first[i]] : 0,
            (int32_t)i};
    if (!status && network && network->parent)
        qsort(port, nodes, sizeof *port, by_port);
    for (size_t i = 0; !status && i < nodes; i++)
        turn[port[i].node] = (int32_t)i;
    free(port);
    return status;
}

/* turn[vertex]: its number in a walk that takes children in their order. */
static nw_status order_vertices(const struct nw_node_type *type, int32_t *turn)
{
    size_t n = (size_t)type->vertex_count;
    int32_t *size = NULL, *next = NULL;
    nw_status status = nw_alloc(n, sizeof *size, &size);

    if (!status)
        status = nw_alloc(n, sizeof *next, &next);
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
    free(size);
    free(next);
    return status;
}

static nw_status order_types(const nw_topology *topology, int32_t **turn)
{
    nw_status status = NW_OK;

    for (int32_t t = 0; !status && t < topology->type_count; t++) {
        const struct nw_node_type *type = topology->type[t];

        status = nw_alloc((size_t)type->vertex_count, sizeof **turn, &turn[t]);
        if (!status)
            status = order_vertices(type, turn[t]);
    }
    return status;
}

static bool is_sorted(const struct keyed *keys, int32_t n)
{
    for (int32_t i = 1; i < n; i++)
        if (by_key(&keys[i - 1], &keys[i]) > 0)
            return false;
    return true;
}

static nw_status order_places(const struct nw_places *places,
                              struct keyed *keys)
{
    const nw_topology *topology = places->topology;
    int32_t *node_turn = NULL, **turn = NULL;
    size_t types = (size_t)topology->type_count;
    nw_status status =
        nw_alloc((size_t)topology->node_count, sizeof *node_turn, &node_turn);

    if (!status)
        status = nw_alloc(types, sizeof *turn, &turn);
    if (!status)
        status = order_nodes(topology, node_turn);
    if (!status)
        status = order_types(topology, turn);
    for (int32_t q = 0; !status && q < places->count; q++) {
        struct nw_end end = places->end[q];

        keys[q] = (struct keyed){node_turn[end.node], 0, q};
        if (!topology->matrix)
            keys[q].vertex = turn[topology->node_type[end.node]][end.vertex];
    }
    if (!status && !is_sorted(keys, places->count))
        qsort(keys, (size_t)places->count, sizeof *keys, by_key);
    for (size_t t = 0; turn && t < types; t++)
        free(turn[t]);
    free(turn);
    free(node_turn);
    return status;
}

/* --- levels and codes --- */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* The different gaps, ascending, 0 the first. */
static bool find_levels(struct nw_tree *tree, const double *gap)
{
    tree->levels = 1;
    tree->distance[0] = 0;
    for (int32_t s = 0; s + 1 < tree->seats; s++) {
        int32_t l = tree->levels;

        while (l && tree->distance[l - 1] != gap[s])
            l--;
        if (l)
            continue;
        if (tree->levels == NW_TREE_LEVELS || !(gap[s] >= 0))
            return false;
        tree->distance[tree->levels++] = gap[s];
    }
    qsort(tree->distance, (size_t)tree->levels, sizeof(double), by_value);
    return true;
}

static nw_status cut_level(struct nw_tree *tree, const double *gap, int32_t l)
{
    size_t seats = (size_t)tree->seats;
    int32_t count = 0;
    nw_status status =
        nw_alloc_raw(seats + 1, sizeof(int32_t), &tree->first[l]);

    if (!status)
        status = nw_alloc_raw(seats, sizeof(int32_t), &tree->cluster[l]);
    for (int32_t s = 0; !status && s < tree->seats; s++) {
        if (!s || gap[s - 1] > tree->distance[l])
            tree->first[l][count++] = s;
        tree->cluster[l][s] = count - 1;
    }
    if (!status)
        tree->first[l][count] = tree->seats;
    tree->count[l] = count;
    return status;
}

static int bits_for(int32_t values)
{
    int bits = 0;

    while (bits < 31 && 1 << bits < values)
        bits++;
    return bits;
}

static int32_t first_child(const struct nw_tree *tree, int32_t l, int32_t s)
{
    return tree->cluster[l][tree->first[l + 1][tree->cluster[l + 1][s]]];
}

/* Below the top: which child of its parent each cluster is, from the lowest
 * bits up. */
static bool write_codes(struct nw_tree *tree)
{
    int shift = 0;

    tree->apart[0] = 0;
    for (int32_t l = 0; l + 1 < tree->levels; l++) {
        int32_t most = 1;
        int bits;

        for (int32_t s = 0; s < tree->seats; s++) {
            int32_t child = tree->cluster[l][s] - first_child(tree, l, s);

            most = child + 1 > most ? child + 1 : most;
        }
        bits = bits_for(most);
        if (shift + bits > 62)
            return false;
        for (int32_t s = 0; s < tree->seats; s++)
            tree->code[s] |=
                (uint64_t)(tree->cluster[l][s] - first_child(tree, l, s))
                << shift;
        for (int bit = shift; bit < shift + bits; bit++)
            tree->apart[bit + 1] = tree->distance[l + 1];
        shift += bits;
    }
    return true;
}

nw_status nw_tree_from_gaps(struct nw_tree *tree, const double *gap,
                            const int32_t *place, int32_t seats, bool *is_tree)
{
    size_t n = (size_t)seats;
    nw_status status;

    *tree = (struct nw_tree){.seats = seats};
    *is_tree = find_levels(tree, gap);
    status = nw_alloc_raw(n, sizeof *tree->place, &tree->place);
    if (!status)
        status = nw_alloc(n, sizeof *tree->code, &tree->code);
    if (!status && n)
        memcpy(tree->place, place, n * sizeof *place);
    for (int32_t l = 0; !status && *is_tree && l < tree->levels; l++)
        status = cut_level(tree, gap, l);
    if (!status && *is_tree)
        *is_tree = write_codes(tree);
    if (status || !*is_tree)
        nw_tree_fini(tree);
    return status;
}

/* --- from places --- */

static bool holds(const struct nw_tree *tree, const struct nw_places *places)
{
    struct nw_random random;

    nw_random_init(&random, 1);
    for (int i = 0; i < TRIALS && tree->seats > 1; i++) {
        uint64_t n = (uint64_t)tree->seats;
        int32_t a = (int32_t)nw_random_below(&random, n);
        int32_t b = (int32_t)nw_random_below(&random, n);
        double apart = nw_tree_apart(tree, tree->code[a], tree->code[b]);

        if (nw_places_distance(places, tree->place[a], tree->place[b]) !=
                apart ||
            nw_places_distance(places, tree->place[b], tree->place[a]) != apart)
            return false;
    }
    return true;
}

/* Places in their order, as often as they take ranks. */
static nw_status deal_seats(const struct nw_placing *placing,
                            const struct keyed *keys, int32_t **place,
                            int32_t *seats)
{
    const int32_t *room = placing->rooms.room;
    int32_t count = placing->places->count;
    size_t total = 0;
    int32_t at = 0;
    nw_status status;

    for (int32_t p = 0; p < placing->count; p++)
        total += placing->place[p] >= 0;
    for (int32_t q = 0; q < count; q++)
        total += room[q] > 0 ? (size_t)room[q] : 0;
    status = nw_alloc(total, sizeof **place, place);
    for (int32_t i = 0; !status && i < count; i++) {
        int32_t q = keys[i].place;

        for (int32_t r = 0; r < room[q]; r++)
            (*place)[at++] = q;
        for (int32_t p = keys[i].vertex; p; p--)
            (*place)[at++] = q;
    }
    *seats = at;
    return status;
}

struct gaps {
    const struct nw_places *places;
    const int32_t *place; /* [seats] */
    int32_t seats;
    double *gap; /* [seats] */
};

static void find_part(void *user, int32_t part)
{
    const struct gaps *gaps = user;
    struct nw_crew_part mine = nw_crew_part(gaps->seats - 1, part);

    for (int64_t s = mine.first; s < mine.end; s++)
        gaps->gap[s] = nw_places_distance(gaps->places, gaps->place[s],
                                          gaps->place[s + 1]);
}

static nw_status find_gaps(const struct nw_placing *placing,
                           const int32_t *place, int32_t seats, double **gap)
{
    struct gaps gaps = {placing->places, place, seats, NULL};
    bool few = seats < THREADED || !placing->budget;
    nw_status status = nw_alloc((size_t)seats, sizeof **gap, gap);

    if (status || seats < 2)
        return status;
    gaps.gap = *gap;
    nw_crew_run(find_part, &gaps, NW_CREW_PARTS,
                few ? 1 : placing->budget->threads);
    return NW_OK;
}

/* From here on a key's vertex counts the processes that are on its place
 * already: their seats are beyond the room that is left. */
static nw_status count_taken(const struct nw_placing *placing,
                             struct keyed *keys)
{
    int32_t count = placing->places->count, *taken = NULL;
    nw_status status = nw_alloc((size_t)count, sizeof *taken, &taken);

    for (int32_t p = 0; !status && p < placing->count; p++)
        if (placing->place[p] >= 0)
            taken[placing->place[p]]++;
    for (int32_t i = 0; !status && i < count; i++)
        keys[i].vertex = taken[keys[i].place];
    free(taken);
    return status;
}

nw_status nw_tree_init(struct nw_tree *tree, const struct nw_placing *placing,
                       bool *is_tree)
{
    struct keyed *keys = NULL;
    int32_t *place = NULL, seats = 0;
    double *gap = NULL;
    nw_status status =
        nw_alloc_raw((size_t)placing->places->count, sizeof *keys, &keys);

    if (!status)
        status = order_places(placing->places, keys);
    if (!status)
        status = count_taken(placing, keys);
    if (!status)
        status = deal_seats(placing, keys, &place, &seats);
    if (!status)
        status = find_gaps(placing, place, seats, &gap);
    if (!status)
        status = nw_tree_from_gaps(tree, gap, place, seats, is_tree);
    if (!status && *is_tree)
        tree->exact = holds(tree, placing->places);
    free(keys);
    free(place);
    free(gap);
    return status;
}

void nw_tree_fini(struct nw_tree *tree)
{
    for (int32_t l = 0; l < NW_TREE_LEVELS; l++) {
        free(tree->first[l]);
        free(tree->cluster[l]);
    }
    free(tree->place);
    free(tree->code);
    *tree = (struct nw_tree){0};
}
