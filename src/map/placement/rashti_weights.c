/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure 1 of the paper: d1 > d2 > d3 > d4 = 1, where d1 is inside a socket, d2
 * between sockets, d3 between the closest nodes and d4 between the farthest. */
#include "map/placement/rashti_weights.h"
#include "topology/topology.h"

#include <math.h>

/* Where its messages leave a node. */
static struct nw_end door_of(const struct nw_places *places, int32_t place)
{
    const nw_topology *topology = places->topology;
    struct nw_end end = places->end[place];
    int32_t card = nw_end_card(topology, end);

    end.vertex =
        card < 0 ? 0 : nw_topology_type_of(topology, end.node)->nic[card];
    return end;
}

/* Links of the network alone; a matrix knows no nodes, only distances. */
static double one_way(const struct nw_places *places, int32_t a, int32_t b)
{
    if (places->topology->matrix)
        return nw_places_distance(places, a, b);
    return nw_topology_distance(places->topology, door_of(places, a),
                                door_of(places, b));
}

/* A load is one for both directions. */
static double hops(const struct nw_places *places, int32_t a, int32_t b)
{
    return one_way(places, a, b) / 2 + one_way(places, b, a) / 2;
}

static bool same_node(const struct nw_places *places, int32_t a, int32_t b)
{
    return !places->topology->matrix &&
           places->end[a].node == places->end[b].node;
}

static void find_hops(struct nw_loads *loads)
{
    const struct nw_places *places = loads->places;

    for (int32_t a = 0; a < places->count; a++)
        for (int32_t b = 0; b < places->count; b++) {
            double far;

            if (a == b || same_node(places, a, b))
                continue;
            far = hops(places, a, b);
            loads->farthest = fmax(loads->farthest, far);
            loads->nearest =
                loads->nearest > 0 ? fmin(loads->nearest, far) : far;
        }
}

struct nw_loads nw_loads_of(const struct nw_places *places)
{
    struct nw_loads loads = {.places = places};

    find_hops(&loads);
    for (int32_t a = 0; a < places->count; a++)
        for (int32_t b = 0; b < places->count; b++) {
            int64_t load = a == b ? 0 : nw_loads_get(&loads, a, b);

            loads.largest = load > loads.largest ? load : loads.largest;
        }
    return loads;
}

int64_t nw_loads_get(const struct nw_loads *loads, int32_t a, int32_t b)
{
    const struct nw_places *places = loads->places;
    double top = fmin(fmax(1, ceil(loads->farthest)), 1e6), share = 1;
    const struct nw_node_type *type;

    if (!same_node(places, a, b)) {
        if (loads->farthest > loads->nearest)
            share = (loads->farthest - hops(places, a, b)) /
                    (loads->farthest - loads->nearest);
        return 1 + (int64_t)round(share * (top - 1));
    }
    type = nw_topology_type_of(places->topology, places->end[a].node);
    return (int64_t)top + 1 +
           type->depth[nw_node_type_common(type, places->end[a].vertex,
                                           places->end[b].vertex)];
}

int64_t nw_loads_length(const struct nw_loads *loads, int32_t a, int32_t b)
{
    return loads->largest + 1 - nw_loads_get(loads, a, b);
}
