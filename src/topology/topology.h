/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine as the subfolders see it. A node type is a tree of vertices
 * (node, package, NUMA node, cache, core, PCIe switch, GPU, network card) with
 * direct links beside it; nodes share types; a network joins the nodes.
 *
 * Links are numbered: first the network's, then node by node. Inside a node,
 * link v is the one from vertex v to its parent (v = 0: from the node to its
 * switch), then come the direct links, then one per network card to its
 * switch. So nothing is stored per node but three offsets.
 */
#ifndef NW_TOPOLOGY_TOPOLOGY_H
#define NW_TOPOLOGY_TOPOLOGY_H

#include "base/text.h"
#include <nodewise/topology.h>

#define NW_VERTEX_KIND_LIST(X)                                                 \
    X(NW_VERTEX_GROUP, "group")                                                \
    X(NW_VERTEX_NODE, "node")                                                  \
    X(NW_VERTEX_PACKAGE, "package")                                            \
    X(NW_VERTEX_DIE, "die")                                                    \
    X(NW_VERTEX_NUMA, "numa")                                                  \
    X(NW_VERTEX_L3, "l3")                                                      \
    X(NW_VERTEX_L2, "l2")                                                      \
    X(NW_VERTEX_CORE, "core")                                                  \
    X(NW_VERTEX_PU, "pu")                                                      \
    X(NW_VERTEX_BRIDGE, "pcie-switch")                                         \
    X(NW_VERTEX_BOARD, "board")                                                \
    X(NW_VERTEX_GPU, "gpu")                                                    \
    X(NW_VERTEX_NIC, "nic")                                                    \
    X(NW_VERTEX_GPU_SWITCH, "gpu-switch") /* NVSwitch: direct links only */

enum nw_vertex_kind {
#define NW_VERTEX_ENUM(name, text) name,
    NW_VERTEX_KIND_LIST(NW_VERTEX_ENUM)
#undef NW_VERTEX_ENUM
        NW_VERTEX_KIND_COUNT
};
const char *nw_vertex_kind_name(enum nw_vertex_kind kind);

/* Links with the same figures share a class: a million of them cost four
 * bytes each. */
struct nw_link_class {
    double bandwidth[2]; /* bytes/s; [0] towards the parent, or from a to b */
    double latency;      /* s */
    uint8_t kind;        /* enum nw_link_kind */
    bool half_duplex;
    bool assumed;
};

struct nw_direct_link {
    int32_t a, b;  /* vertices */
    int32_t class; /* parallel bricks are one link with their summed rate */
};

struct nw_device {
    char *name, *uuid, *pci; /* owned; NULL where not known */
};

struct nw_node_type {
    char *name;
    int32_t vertex_count;
    size_t capacity;
    int32_t *parent; /* parents before children; -1 for vertex 0 */
    uint8_t *kind;
    int32_t *class; /* of the link to the parent */
    int32_t *index; /* logical index among its kind */
    bool staged;    /* GPU messages to other nodes pass host memory */
    bool pxn;       /* they leave by the card of the destination's number */

    int32_t direct_count;
    size_t direct_capacity;
    struct nw_direct_link *direct;

    /* what nw_node_type_finish computes */
    uint8_t *depth;
    int32_t core_count, gpu_count, nic_count, package_count, pu_count;
    int32_t *core, *gpu, *nic, *package, *pu; /* vertices, in logical order */
    int32_t *nearest_nic; /* [vertex_count] index into nic, -1 */
    int32_t gpu_switch;   /* the only one, else -1 */
    int32_t end_count;    /* vertices with direct links */
    int32_t *end_of;      /* [vertex_count] number among them, or -1; or NULL */
    int32_t *next;        /* [end_count^2] direct link to take, or -1; NULL */
    int32_t element_count; /* cores or hardware threads, as asked */
    int32_t *element;      /* vertices; one of core, pu (borrowed) */

    /* before finish gpu_count and nic_count say how many devices these have;
     * finish adds nameless ones for the vertices behind them */
    struct nw_device *gpu_device; /* [gpu_count] or NULL */
    struct nw_device *nic_device; /* [nic_count] or NULL */
    /* numbers of the operating system, in logical order, NULL if unknown; the
     * threads of core c are pu_os[core_pu[c]] up to core_pu[c + 1], whether or
     * not they are vertices */
    int32_t *core_os, *core_pu, *pu_os;
};

struct nw_network;

/* How one kind of network counts and routes. Switches are numbered from 0. */
struct nw_network_ops {
    const char *name;
    /* links between two switches on the route to node `key` */
    int32_t (*distance)(const struct nw_network *network, int32_t from,
                        int32_t to, int32_t key);
    /* writes 2 x link + direction for each; returns the count. `key` is the
     * node a message goes to: parallel ways are chosen by it, so a pair of
     * nodes always takes the same one. */
    size_t (*route)(const struct nw_network *network, int32_t from, int32_t to,
                    int32_t key, uint32_t *hops);
    void (*free_state)(void *state); /* or NULL */
    /* the struct of network/networks.h that it was built from, or NULL: a tree
     * and a graph are their links. Borrowed */
    const void *(*shape)(const struct nw_network *network);
    /* hands over each link class of that shape; NULL without one */
    void (*visit)(struct nw_network *network,
                  void (*meet)(void *user, int32_t *class), void *user);
};

struct nw_network {
    const struct nw_network_ops *ops;
    void *state; /* the ops' own: owned */
    int32_t switch_count;
    char **switch_name; /* [switch_count] */
    int32_t link_count;
    size_t link_capacity;
    int32_t *link_a, *link_b, *link_class; /* [link_count] */
    int32_t diameter;                      /* most links between two switches */
    /* trees only: parent[s] before s, the link to it; -1 at a root */
    int32_t *parent, *uplink;
    uint8_t *depth;
    /* number of the connected part of each switch, from 0; NULL if all switches
     * are connected */
    int32_t *component;
    int32_t component_count;
    /* links to the nearest switch that holds a node, 0 for leaves; -1 if there
     * are no such switches. nw_topology_finish computes it */
    int32_t *level;
};

/* Longer ones are refused: sums of bytes times distances stay numbers. */
#define NW_DISTANCE_MOST 1e200

struct nw_topology {
    char *name;
    int32_t class_count;
    size_t class_capacity;
    struct nw_link_class *class;

    int32_t type_count;
    size_t type_capacity;
    struct nw_node_type **type;

    struct nw_network *network; /* NULL for a single node or a matrix */

    int32_t node_count;
    char **node_name;
    int32_t *node_type;
    /* switches: one per card, or one where the type has no card */
    int32_t *port_first; /* [node_count + 1] into port */
    int32_t *port;
    int32_t *port_class; /* of that card's link */
    /* NVLink domains: nodes that share their GPU switch. [node_count], -1 for
     * none; NULL if no node is in one */
    int32_t *domain;
    int32_t domain_count;
    char **domain_name;

    /* what nw_topology_finish computes; [node_count + 1] */
    int32_t *element_first, *gpu_first, *link_first;
    int32_t link_count;
    size_t route_max;
    int32_t *by_name; /* nodes sorted by name */

    /* plain hierarchies: the distance by depth of the common ancestor */
    double *depth_distance;
    int32_t depth_count;

    /* explicit matrix, row by row; NULL otherwise */
    double *matrix;
    bool integral;

    int32_t level_count;
    char **level_name;
    enum nw_elements elements;
    struct nw_text notes; /* a line each; see nw_topology_notes */
};

/* --- building, in this order: classes, types, network, nodes, finish --- */

NW_MUST_CHECK nw_status nw_topology_new(const char *name, nw_topology **out);
/* The class with these figures, made where it is new. */
NW_MUST_CHECK nw_status nw_topology_class(nw_topology *topology,
                                          const struct nw_link_class *figures,
                                          int32_t *out);
/* The documented default of a kind, marked assumed. */
struct nw_link_class nw_link_assumed(enum nw_link_kind kind);

/* A type with vertex 0, kind NODE; owned by the topology. */
NW_MUST_CHECK nw_status nw_node_type_new(nw_topology *topology,
                                         const char *name,
                                         struct nw_node_type **out);
/* Takes the newest type back, before any node has it. */
void nw_topology_drop_last_type(nw_topology *topology);
NW_MUST_CHECK nw_status nw_node_type_add(struct nw_node_type *type,
                                         int32_t parent,
                                         enum nw_vertex_kind kind,
                                         int32_t class, int32_t *vertex);
NW_MUST_CHECK nw_status nw_node_type_add_direct(struct nw_node_type *type,
                                                int32_t a, int32_t b,
                                                int32_t class);
/* Orders, depths, nearest cards, direct routes. NW_EFORMAT where the tree is
 * too deep. */
NW_MUST_CHECK nw_status nw_node_type_finish(struct nw_node_type *type,
                                            enum nw_elements elements);

/* GPU switches that a GPU is joined to side by side become one; gpu/switch.c */
NW_MUST_CHECK nw_status nw_node_type_merge_switches(nw_topology *topology,
                                                    struct nw_node_type *type);
/* Assumed PCIe links of cards get at least the rate of their ports. */
NW_MUST_CHECK nw_status nw_topology_raise_cards(nw_topology *topology);

/* One order for the same machine, whoever described it; of the vertices of a
 * type, and of the classes of all links (unused ones go). */
NW_MUST_CHECK nw_status nw_node_type_order(struct nw_node_type *type);
NW_MUST_CHECK nw_status nw_topology_order_classes(nw_topology *topology);

/* Takes `network`, whose ops and arrays are complete. */
void nw_topology_take_network(nw_topology *topology,
                              struct nw_network *network);
NW_MUST_CHECK nw_status nw_network_new(int32_t switch_count,
                                       struct nw_network **out);
NW_MUST_CHECK nw_status nw_network_add_link(struct nw_network *network,
                                            int32_t a, int32_t b, int32_t class,
                                            int32_t *link);
void nw_network_free(struct nw_network *network);
/* A tree from parent[] and uplink[]: fills depth, ops and diameter. */
NW_MUST_CHECK nw_status nw_network_finish_tree(struct nw_network *network);

/* Sizes the node arrays; then node_name[i] (owned), node_type[i] and, with a
 * network, the ports (port_first, port, port_class) are filled by the
 * caller. */
NW_MUST_CHECK nw_status nw_topology_set_nodes(nw_topology *topology,
                                              int32_t node_count,
                                              int32_t port_count);
/* Offsets, levels, the index of names. NW_EFORMAT for duplicate names. */
NW_MUST_CHECK nw_status nw_topology_finish(nw_topology *topology,
                                           enum nw_elements elements);

/* --- queries, for the subfolders --- */

static inline const struct nw_node_type *
nw_topology_type_of(const nw_topology *topology, int32_t node)
{
    return topology->type[topology->node_type[node]];
}

/* The card an end leaves its node by: index among the node's, -1 for none. */
int32_t nw_end_card(const nw_topology *topology, struct nw_end end);
/* The switch the node is joined to through that card (-1: its only one). */
int32_t nw_topology_switch_of(const nw_topology *topology, int32_t node,
                              int32_t card);
/* The direct link that a message from vertex a to vertex b of a node takes
 * next, or -1. */
static inline int32_t nw_node_type_next(const struct nw_node_type *type,
                                        int32_t a, int32_t b)
{
    if (!type->next || type->end_of[a] < 0 || type->end_of[b] < 0)
        return -1;
    return type->next[(size_t)type->end_of[a] * (size_t)type->end_count +
                      (size_t)type->end_of[b]];
}
/* Whether the ends, on two nodes, are GPUs at the GPU switch of one domain. */
bool nw_domain_joins(const nw_topology *topology, struct nw_end a,
                     struct nw_end b);
/* NW_EFORMAT if a node of a domain has GPUs, and no GPU switch or several. */
NW_MUST_CHECK nw_status nw_domain_check(const nw_topology *topology);
/* PXN: the vertex of a's node whose card a message to another node leaves by:
 * a's own, or the GPU near the card that has the number of b's card. */
int32_t nw_pxn_sender(const nw_topology *topology, struct nw_end a,
                      struct nw_end b);
/* Networks that nothing joins: gives both ends cards of one of them. The
 * network has components. */
void nw_rails_choose(const nw_topology *topology, struct nw_end *a,
                     struct nw_end *b);
/* Hands over every link class that the network names: of its links, and of the
 * shape it was built from. */
void nw_network_visit(struct nw_network *network,
                      void (*meet)(void *user, int32_t *class), void *user);
NW_MUST_CHECK nw_status nw_network_find_levels(nw_topology *topology);
/* NW_EFORMAT where two nodes have no network in common. */
NW_MUST_CHECK nw_status nw_rails_check(const nw_topology *topology);
/* Deepest common vertex of two vertices of a type. */
int32_t nw_node_type_common(const struct nw_node_type *type, int32_t a,
                            int32_t b);
/* Part of a route inside one node's tree: up from one vertex to a common one,
 * down to another. */
struct nw_span {
    int32_t node, from, top, to;
};
/* A route in pieces that can be summed before they are followed. */
struct nw_trail {
    double distance;
    int32_t level;
    int span_count;
    struct nw_span span[4];
    size_t hop_count; /* links outside trees: network, direct */
};
/* The distance, the level and the links of nw_topology_route, in any order.
 * `hops` must hold nw_topology_route_max() entries. */
void nw_topology_trail(const nw_topology *topology, const struct nw_end ends[2],
                       struct nw_trail *trail, uint32_t *hops);
/* Half-duplex links count both directions as 0. */
uint32_t nw_topology_hop(const nw_topology *topology, int32_t class,
                         int32_t link, int direction);
int32_t nw_topology_link_class_of(const nw_topology *topology, int32_t link);

#endif
