/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects NICs in networks of several unconnected parts, such as the rails of
 * nodes with several NICs. A message stays on one rail, so both ends must use
 * NICs of the same rail. */
#include "base/array.h"
#include "base/status.h"
#include "topology/topology.h"

#include <stdlib.h>

#define MAX_RAILS 64 /* number of bits in a set of rails */

/* Returns the rail (number of the connected part of the network) to which NIC
 * `card` of a node is connected. For a node without NICs, which is connected
 * itself, `card` is -1. */
static int32_t rail_of(const nw_topology *topology, int32_t node, int32_t card)
{
    return topology->network
        ->component[nw_topology_switch_of(topology, node, card)];
}

/* Returns the number of tree links from a vertex to a NIC. */
static int32_t links_to_card(const struct nw_node_type *type, int32_t vertex,
                             int32_t card)
{
    int32_t v = type->nic[card];

    return type->depth[vertex] + type->depth[v] -
           2 * type->depth[nw_node_type_common(type, vertex, v)];
}

/* Returns the NIC on a rail that has the fewest tree links to the end, the
 * first of several; -1 if the node has none on this rail. */
static int32_t card_on(const nw_topology *topology, struct nw_end end,
                       int32_t rail)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, end.node);
    int32_t best = -1, links = 0;

    for (int32_t c = 0; c < type->nic_count; c++) {
        int32_t here = links_to_card(type, end.vertex, c);

        if (rail_of(topology, end.node, c) != rail ||
            (best >= 0 && here >= links))
            continue;
        best = c;
        links = here;
    }
    return best;
}

/* The NICs of two ends on one rail (-1 for a node without NICs), and the number
 * of links from both ends to their NICs. `rail` is -1 if one end is not
 * connected to it. */
struct rails_choice {
    int32_t rail, card[2], links;
};

static struct rails_choice rails_choose(const nw_topology *topology,
                                        const struct nw_end end[2],
                                        int32_t rail)
{
    struct rails_choice choice = {.rail = rail};

    for (int i = 0; i < 2; i++) {
        const struct nw_node_type *type =
            nw_topology_type_of(topology, end[i].node);

        choice.card[i] = card_on(topology, end[i], rail);
        if (choice.card[i] >= 0)
            choice.links += links_to_card(type, end[i].vertex, choice.card[i]);
        else if (type->nic_count || rail_of(topology, end[i].node, -1) != rail)
            choice.rail = -1; /* this end has no NIC on the rail */
    }
    return choice;
}

void nw_rails_choose(const nw_topology *topology, struct nw_end *a,
                     struct nw_end *b)
{
    const struct nw_end end[2] = {*a, *b};
    int32_t rails = topology->network->component_count;
    int32_t own = rail_of(topology, a->node, nw_end_card(topology, *a));
    int32_t first = a->nic < -1 ? own : 0; /* tried first, so that stripes take
                                              different rails */
    struct rails_choice best = {.rail = -1};

    if (own == rail_of(topology, b->node, nw_end_card(topology, *b)))
        return;
    for (int32_t i = 0; i < rails; i++) {
        struct rails_choice choice =
            rails_choose(topology, end, (first + i) % rails);

        if (choice.rail >= 0 && (best.rail < 0 || choice.links < best.links))
            best = choice;
    }
    a->nic = best.card[0];
    b->nic = best.card[1];
}

static uint64_t rails_of(const nw_topology *topology, int32_t node)
{
    int32_t count = topology->port_first[node + 1] - topology->port_first[node];
    uint64_t rails = 0;

    for (int32_t c = 0; c < count; c++)
        rails |= (uint64_t)1 << rail_of(topology, node, c);
    return rails;
}

/* The different sets of rails to which nodes are connected (rails[], one bit
 * per rail), and one node of each set. */
struct rails_sets {
    uint64_t *rails;
    int32_t *node;
    size_t count, capacity[2];
};

static nw_status add_set(const nw_topology *topology, struct rails_sets *sets,
                         int32_t node)
{
    uint64_t rails = rails_of(topology, node);
    nw_status status;

    for (size_t i = 0; i < sets->count; i++)
        if (sets->rails[i] == rails)
            return NW_OK;
    for (size_t i = 0; i < sets->count; i++)
        if (!(sets->rails[i] & rails))
            return nw_fail(
                NW_EFORMAT, "no network joins node '%s' to node '%s'",
                topology->node_name[node], topology->node_name[sets->node[i]]);
    status = nw_grow(&sets->rails, &sets->capacity[0], sets->count + 1,
                     sizeof *sets->rails);
    if (!status)
        status = nw_grow(&sets->node, &sets->capacity[1], sets->count + 1,
                         sizeof *sets->node);
    if (status)
        return status;
    sets->rails[sets->count] = rails;
    sets->node[sets->count++] = node;
    return NW_OK;
}

nw_status nw_rails_check(const nw_topology *topology)
{
    struct rails_sets sets = {0};
    nw_status status = NW_OK;

    if (!topology->network || !topology->network->component)
        return NW_OK;
    if (topology->network->component_count > MAX_RAILS)
        return nw_fail(NW_EFORMAT, "%s: more than %d separate networks",
                       topology->name, MAX_RAILS);
    for (int32_t node = 0; !status && node < topology->node_count; node++)
        status = add_set(topology, &sets, node);
    free(sets.rails);
    free(sets.node);
    return status;
}
