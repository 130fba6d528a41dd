/* SPDX-License-Identifier: BSD-3-Clause */
/* Weights like those of Figure 1 of the paper by Rashti et al. That figure has
 * four: d1 (inside a socket) > d2 (between sockets) > d3 (between the closest
 * nodes) > d4 = 1 (between the farthest nodes). Here the weights inside a node
 * have a value for each depth of the lowest common ancestor, so caches and NUMA
 * nodes count, too. Between nodes the weights fall evenly with the number of
 * links. */
#include "map/placement/rashti_weights.h"
#include "topology/topology.h"

#include <math.h>

/* Returns the NIC through which messages of a place leave its node; the node's
 * root if it has no NIC. */
static struct nw_end rashti_weights_nic_of(const struct nw_places *places,
                                           int32_t place)
{
    const nw_topology *topology = places->topology;
    struct nw_end end = places->end[place];
    int32_t card = nw_end_card(topology, end);

    end.vertex =
        card < 0 ? 0 : nw_topology_type_of(topology, end.node)->nic[card];
    return end;
}

/* Returns the distance from the node of place a to that of place b in links
 * from NIC to NIC, or the given distance if the machine is described by a
 * matrix. */
static double rashti_weights_one_way(const struct nw_places *places, int32_t a,
                                     int32_t b)
{
    if (places->topology->matrix)
        return nw_places_distance(places, a, b);
    return nw_topology_distance(places->topology,
                                rashti_weights_nic_of(places, a),
                                rashti_weights_nic_of(places, b));
}

/* Returns the mean of the distances from the node of a to that of b and back,
 * because a weight has no direction. */
static double rashti_weights_hops(const struct nw_places *places, int32_t a,
                                  int32_t b)
{
    return rashti_weights_one_way(places, a, b) / 2 +
           rashti_weights_one_way(places, b, a) / 2;
}

static bool rashti_weights_same_node(const struct nw_places *places, int32_t a,
                                     int32_t b)
{
    return !places->topology->matrix &&
           places->end[a].node == places->end[b].node;
}

/* Sets the shortest and the longest distance between places on different nodes.
 */
static void rashti_weights_find_hops(struct nw_rashti_weights *weights)
{
    const struct nw_places *places = weights->places;

    for (int32_t a = 0; a < places->count; a++)
        for (int32_t b = 0; b < places->count; b++) {
            double far;

            if (a == b || rashti_weights_same_node(places, a, b))
                continue;
            far = rashti_weights_hops(places, a, b);
            weights->farthest = fmax(weights->farthest, far);
            weights->nearest =
                weights->nearest > 0 ? fmin(weights->nearest, far) : far;
        }
}

struct nw_rashti_weights nw_rashti_weights_init(const struct nw_places *places)
{
    struct nw_rashti_weights weights = {.places = places};

    rashti_weights_find_hops(&weights);
    for (int32_t a = 0; a < places->count; a++)
        for (int32_t b = 0; b < places->count; b++) {
            int64_t weight = a == b ? 0 : nw_rashti_weights_get(&weights, a, b);

            weights.largest =
                weight > weights.largest ? weight : weights.largest;
        }
    return weights;
}

int64_t nw_rashti_weights_get(const struct nw_rashti_weights *weights,
                              int32_t a, int32_t b)
{
    const struct nw_places *places = weights->places;
    double top = fmin(fmax(1, ceil(weights->farthest)), 1e6), share = 1;
    const struct nw_node_type *type;

    if (!rashti_weights_same_node(places, a, b)) {
        if (weights->farthest > weights->nearest)
            share = (weights->farthest - rashti_weights_hops(places, a, b)) /
                    (weights->farthest - weights->nearest);
        return 1 + (int64_t)round(share * (top - 1));
    }
    type = nw_topology_type_of(places->topology, places->end[a].node);
    return (int64_t)top + 1 +
           type->depth[nw_node_type_common(type, places->end[a].vertex,
                                           places->end[b].vertex)];
}

int64_t nw_rashti_weights_length(const struct nw_rashti_weights *weights,
                                 int32_t a, int32_t b)
{
    return weights->largest + 1 - nw_rashti_weights_get(weights, a, b);
}
