/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between two cores of one node, nearly all of them: where every core
 * of a node is equally deep and nothing but the tree joins them, the common
 * vertex says distance, level and latency. So a message is noted at that vertex
 * and where it ends, and everything else is found once for each vertex.
 */
#ifndef NW_COST_NEAR_H
#define NW_COST_NEAR_H

#include "topology/topology.h"

struct nw_near_types {
    bool *is_even; /* [types] cores are as said above */
};
NW_MUST_CHECK nw_status nw_near_types_init(struct nw_near_types *types,
                                           const nw_topology *topology);
void nw_near_types_fini(struct nw_near_types *types);

/* By link number, the vertex's own. */
struct nw_near {
    const nw_topology *topology;
    const struct nw_near_types *types;
    uint64_t *bytes, *messages; /* [links] that turn at a vertex */
    uint64_t *begun, *ended;    /* [links] bytes */
    bool overflows;
};

NW_MUST_CHECK nw_status nw_near_init(struct nw_near *near,
                                     const nw_topology *topology,
                                     const struct nw_near_types *types);
void nw_near_fini(struct nw_near *near);
void nw_near_merge(struct nw_near *to, const struct nw_near *from);

/* False where it is not for this: not inside one node, or of one core. */
static inline bool nw_near_suits(const struct nw_near *near, struct nw_end a,
                                 struct nw_end b)
{
    return a.node == b.node && a.vertex != b.vertex &&
           near->types->is_even[near->topology->node_type[a.node]];
}

static inline void nw_near_sum(uint64_t *to, uint64_t amount, bool *overflows)
{
    *overflows |= __builtin_add_overflow(*to, amount, to);
}

/* A message that suits, but for its bytes in `begun`, which are the caller's to
 * add. `amount` is its bytes and its messages. */
static inline void nw_near_add(struct nw_near *near, struct nw_end a,
                               struct nw_end b, const uint64_t amount[2])
{
    const int32_t *parent = nw_topology_type_of(near->topology, a.node)->parent;
    int32_t first = near->topology->link_first[a.node];
    int32_t u = a.vertex, v = b.vertex;

    do {
        u = parent[u];
        v = parent[v];
    } while (u != v);
    nw_near_sum(&near->bytes[first + u], amount[0], &near->overflows);
    nw_near_sum(&near->messages[first + u], amount[1], &near->overflows);
    nw_near_sum(&near->ended[first + b.vertex], amount[0], &near->overflows);
}

#endif
