/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The internal structure of a machine. A node type is a tree of vertices (node,
 * package, NUMA node, cache, core, PCIe switch, GPU, NIC) with direct links
 * between vertices. All nodes of the same type share one tree. A network
 * connects the nodes.
 *
 * Links are numbered: first those of the network, then node by node. Inside a
 * node, link v joins vertex v to its parent (v = 0: the node to its switch; not
 * used if it has NICs). The direct links follow, then one link from each NIC to
 * its switch. The number of the first link of a node is in link_first[], so
 * that the numbers of all its links can be computed. The uplinks of NVLink
 * domains have the last numbers.
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

/* The properties of a link. Links with the same properties share a class: a
 * link stores only the number of its class. */
struct nw_link_class {
    double bandwidth[2]; /* bytes/s; [0] towards the parent or, for links with
                            ends a and b, from a to b */
    double latency;      /* s */
    uint8_t kind;        /* enum nw_link_kind */
    bool half_duplex;
    bool assumed;
};

/* A link between two vertices of a node outside the tree, such as an NVLink. */
struct nw_direct_link {
    int32_t a, b;  /* vertices */
    int32_t class; /* link class; parallel links are one link with their total
                      bandwidth */
};

/* The names of a GPU or NIC. */
struct nw_device {
    char *name, *uuid, *pci; /* each is owned, and NULL if unknown */
};

/* The inside of a node. Arrays have [vertex_count] entries unless a comment
 * gives another length; `direct` has direct_count, and the lists core, gpu,
 * nic, package and pu have as many as there are vertices of the kind. */
struct nw_node_type {
    char *name;
    int32_t vertex_count;
    size_t capacity;
    int32_t *parent; /* parents have lower numbers than children; -1 for vertex
                        0 */
    uint8_t *kind;
    int32_t *class; /* link class of the link to the parent; -1: none */
    int32_t *index; /* logical index among vertices of its kind */
    bool staged;    /* GPU messages to other nodes are copied through host
                       memory */
    bool pxn;       /* a message between GPUs of two nodes leaves by the NIC
                       that has the same number as the destination's NIC, if
                       nw_pxn_sender finds a GPU for this (NCCL's PXN) */

    int32_t direct_count;
    size_t direct_capacity;
    struct nw_direct_link *direct;

    /* set by nw_node_type_finish */
    uint8_t *depth;
    int32_t core_count, gpu_count, nic_count, package_count, pu_count;
    int32_t *core, *gpu, *nic, *package, *pu; /* vertices, in logical order */
    int32_t stripe_count;  /* largest number of NICs over which a GPU of this
                              type stripes messages; 1 or more */
    int32_t *nearest_nic;  /* [vertex_count][stripe_count] index into `nic` of
                              the NIC that each stripe of a vertex uses; NULL
                              without NICs */
    int32_t gpu_switch;    /* vertex of the GPU switch; -1 unless there is
                              exactly one */
    int32_t end_count;     /* number of vertices with direct links */
    int32_t *end_of;       /* [vertex_count] number among the vertices with
                              direct links, or -1; NULL if the type has no
                              direct links */
    int32_t *next;         /* [end_count][end_count] first direct link of the
                              route from one vertex with direct links to another
                              (numbers of end_of), or -1; NULL if the type has
                              no direct links */
    int32_t element_count; /* number of the units on which ranks are placed:
                              cores or hardware threads */
    int32_t *element;      /* [element_count] their vertices; the same array as
                              `core` or `pu` */

    /* The names of GPUs and NICs, in the order of their vertices. Before
     * nw_node_type_finish, gpu_count and nic_count are the lengths of
     * gpu_device and nic_device. nw_node_type_finish extends both arrays by
     * devices without names, up to the numbers of GPU and NIC vertices. */
    struct nw_device *gpu_device; /* [gpu_count] or NULL */
    struct nw_device *nic_device; /* [nic_count] or NULL */
    /* The operating system's numbers of cores and hardware threads, in logical
     * order; NULL if unknown. The threads of core c are pu_os[core_pu[c]] to
     * pu_os[core_pu[c + 1] - 1], even if they have no vertices. */
    int32_t *core_os, *core_pu, *pu_os;
};

struct nw_network;

/* The end of a route through the network: port number `port` of a node, which
 * is connected to switch `at`. The node selects one of parallel routes, so that
 * a pair of nodes always uses the same route; forwarding tables may have
 * another route for each port. */
struct nw_network_end {
    int32_t at, node, port;
};

/* Numbering and routing of one kind of network. Switches are numbered from
 * 0. */
struct nw_network_ops {
    const char *name;
    /* returns the number of links of the route from a switch to an end */
    int32_t (*distance)(const struct nw_network *network, int32_t from,
                        struct nw_network_end to);
    /* writes 2 x link + direction for each link of the route; returns the
     * number of links */
    size_t (*route)(const struct nw_network *network, int32_t from,
                    struct nw_network_end to, uint32_t *hops);
    /* makes the network's forwarding tables, which have a route for each port
     * (NIC) of the nodes, fit the ports that the topology has now: port p gets
     * the routes of the old port from[p]. NULL if routes do not depend on ports
     */
    nw_status (*move_ports)(const nw_topology *topology, const int32_t *from);
    void (*free_state)(void *state); /* frees `state`; may be NULL */
    /* returns the struct of network/networks.h that the network was built from,
     * borrowed; `shape` itself is NULL for a tree or a graph */
    const void *(*shape)(const struct nw_network *network);
    /* calls meet() for each link class in the struct that `shape` returns; may
     * be NULL */
    void (*visit)(struct nw_network *network,
                  void (*meet)(void *user, int32_t *class), void *user);
};

/* The network between nodes. */
struct nw_network {
    const struct nw_network_ops *ops;
    void *state; /* private to the ops; owned */
    int32_t switch_count;
    char **switch_name; /* [switch_count] */
    int32_t link_count;
    size_t link_capacity;
    int32_t *link_a, *link_b, *link_class; /* [link_count] */
    int32_t diameter;                      /* largest number of links of a route
                                              between two switches, or more */
    /* only in trees, else NULL: [switch_count] parent of each switch, which has
     * a lower number than the switch, and the link to this parent; -1 at a root
     */
    int32_t *parent, *uplink;
    uint8_t *depth;
    /* [switch_count] number of the connected part (rail) of each switch, from
     * 0; NULL if all switches are connected */
    int32_t *component;
    int32_t component_count;
    /* [switch_count] number of links from a switch to the nearest switch that
     * has a node: 0 for leaves, -1 if such a switch cannot be reached.
     * nw_topology_finish computes it */
    int32_t *level;
};

/* Larger distances are errors, so that sums of bytes times distances stay
 * finite. */
#define NW_DISTANCE_MOST 1e200

/* A machine. */
struct nw_topology {
    char *name;
    int32_t class_count;
    size_t class_capacity;
    struct nw_link_class *class;

    int32_t type_count;
    size_t type_capacity;
    struct nw_node_type **type;

    struct nw_network *network; /* NULL without a network: one node, a hierarchy
                                   or a matrix */

    int32_t node_count;
    char **node_name;
    int32_t *node_type;
    /* port[] has the switch of each NIC of a node, or one switch if the node
     * type has no NIC. port_first[n] is the index of node n's first entry */
    int32_t *port_first; /* [node_count + 1] */
    int32_t *port;
    int32_t *port_class; /* link class of this port */
    /* [node_count] NVLink domain of each node (nodes that share a GPU switch);
     * -1: none. NULL if no node is in a domain */
    int32_t *domain;
    int32_t domain_count;
    char **domain_name;
    /* [domain_count] upper domain (of the second level) of each NVLink domain,
     * and the link class of the domain's uplink, which stands for all links
     * from its GPU switch to the second level; -1: none. NULL if the machine
     * has one level. Upper domains are numbered in the order of their first
     * domain */
    int32_t *upper;
    int32_t *uplink_class;
    int32_t upper_count;
    char **upper_name;

    /* [node_count + 1] number of the first element (core or hardware thread),
     * GPU and link of each node; set by nw_topology_finish */
    int32_t *element_first, *gpu_first, *link_first;
    int32_t link_count;
    size_t route_max;
    int32_t *by_name; /* [node_count] nodes sorted by name */

    /* only in hierarchies: [depth_count] distance for each depth of the common
     * ancestor */
    double *depth_distance;
    int32_t depth_count;

    /* distance matrix, row by row; else NULL */
    double *matrix;
    bool integral;

    int32_t level_count;
    char **level_name;
    enum nw_elements elements;
    struct nw_text notes; /* one line each; see nw_topology_notes */
};

/* Returns the switch at the other end of a link of switch s. */
static inline int32_t nw_network_other_end(const struct nw_network *network,
                                           int32_t link, int32_t s)
{
    return network->link_a[link] == s ? network->link_b[link]
                                      : network->link_a[link];
}

/* Returns true if the topology has more than distances; a hierarchy or a matrix
 * has only distances. */
bool nw_topology_has_parts(const nw_topology *topology);

/* --- building, in the order classes, types, network, nodes, finish --- */

NW_MUST_CHECK nw_status nw_topology_new(const char *name, nw_topology **out);
/* Sets *out to the number of the link class with these figures, which is added
 * if it is new. */
NW_MUST_CHECK nw_status nw_topology_class(nw_topology *topology,
                                          const struct nw_link_class *figures,
                                          int32_t *out);
/* Returns the default figures of a kind of link, as documented in
 * nodewise-topology(5), marked as assumed. */
struct nw_link_class nw_link_assumed(enum nw_link_kind kind);
/* Sets *out to the class of a link of this kind with this bandwidth (bytes/s,
 * both directions). If it is 0, the assumed one is used. */
NW_MUST_CHECK nw_status nw_topology_class_of_rate(nw_topology *topology,
                                                  enum nw_link_kind kind,
                                                  double bandwidth,
                                                  int32_t *out);
/* Returns the bytes/s of one unit in hwloc's matrix of the bandwidths of direct
 * links of this kind. */
double nw_link_hwloc_unit(enum nw_link_kind kind);
/* Returns the bandwidth of one NVLink in one direction (bytes/s) of a GPU with
 * a compute capability such as 80 for 8.0. */
double nw_nvlink_rate(int32_t capability);

/* Makes a type with vertex 0 of kind NODE. The topology owns it. */
NW_MUST_CHECK nw_status nw_node_type_new(nw_topology *topology,
                                         const char *name,
                                         struct nw_node_type **out);
/* Removes the newest type, which no node may use yet. */
void nw_topology_drop_last_type(nw_topology *topology);
/* Adds a vertex below `parent`. `class` is the class of the link between them.
 * Stores the number of the vertex in *vertex. NW_EFORMAT: the type has too many
 * vertices. */
NW_MUST_CHECK nw_status nw_node_type_add(struct nw_node_type *type,
                                         int32_t parent,
                                         enum nw_vertex_kind kind,
                                         int32_t class, int32_t *vertex);
NW_MUST_CHECK nw_status nw_node_type_add_direct(struct nw_node_type *type,
                                                int32_t a, int32_t b,
                                                int32_t class);
/* Sorts the vertices, and computes depths, lists of each kind, nearest NICs and
 * direct routes. Returns NW_EFORMAT if the tree is too deep. */
NW_MUST_CHECK nw_status nw_node_type_finish(struct nw_node_type *type,
                                            enum nw_elements elements);

/* nw_node_type_count returns the number of vertices of a kind; nw_node_type_nth
 * returns the vertex with number `index` among them, or -1. */
int32_t nw_node_type_count(const struct nw_node_type *type,
                           enum nw_vertex_kind kind);
int32_t nw_node_type_nth(const struct nw_node_type *type,
                         enum nw_vertex_kind kind, int32_t index);

/* Merges GPU switches that are connected to the same GPU into one
 * (gpu/switch.c). This changes the numbers of vertices. */
NW_MUST_CHECK nw_status nw_node_type_merge_switches(nw_topology *topology,
                                                    struct nw_node_type *type);
/* Raises the assumed bandwidths of the PCIe links above each NIC to that of its
 * fastest network port on any node of the type, if that is higher. */
NW_MUST_CHECK nw_status nw_topology_raise_cards(nw_topology *topology);

/* The first function sorts the vertices of a type, unless a processor is below
 * a device in it; the second sorts the link classes, of which it removes unused
 * ones. The same machine then has the same order for every source. */
NW_MUST_CHECK nw_status nw_node_type_order(struct nw_node_type *type);
NW_MUST_CHECK nw_status nw_topology_order_classes(nw_topology *topology);

/* Takes ownership of `network` and frees the network that the topology had
 * before. The ops and arrays of `network` must be complete before
 * nw_topology_finish. */
void nw_topology_take_network(nw_topology *topology,
                              struct nw_network *network);
NW_MUST_CHECK nw_status nw_network_new(int32_t switch_count,
                                       struct nw_network **out);
NW_MUST_CHECK nw_status nw_network_add_link(struct nw_network *network,
                                            int32_t a, int32_t b, int32_t class,
                                            int32_t *link);
void nw_network_free(struct nw_network *network);
/* Completes a tree whose parent[] and uplink[] are set: sets depth, ops and
 * diameter. Returns NW_EFORMAT if the tree is too deep. */
NW_MUST_CHECK nw_status nw_network_finish_tree(struct nw_network *network);

/* Allocates the arrays of nodes and ports, filled with 0. The caller then sets
 * node_name[i] (owned), node_type[i] and, if there is a network, port_first,
 * port and port_class. */
NW_MUST_CHECK nw_status nw_topology_set_nodes(nw_topology *topology,
                                              int32_t node_count,
                                              int32_t port_count);
/* Completes the topology: sorts and finishes types and link classes, and
 * computes offsets, levels and the index of names. Returns NW_EFORMAT for
 * duplicate node names, too many links, a machine without cores, nodes that no
 * network joins, and invalid NVLink domains. */
NW_MUST_CHECK nw_status nw_topology_finish(nw_topology *topology,
                                           enum nw_elements elements);

/* --- queries, for the subfolders --- */

static inline const struct nw_node_type *
nw_topology_type_of(const nw_topology *topology, int32_t node)
{
    return topology->type[topology->node_type[node]];
}

/* Returns the NIC by which messages of an end leave its node, as an index among
 * the node's NICs; -1 if the node has none. */
int32_t nw_end_card(const nw_topology *topology, struct nw_end end);
/* Returns the end of part `stripe` of a message from or to `end`, whose nic
 * must be -1 if the message has several parts. */
static inline struct nw_end nw_end_stripe(struct nw_end end, int32_t stripe)
{
    end.nic -= stripe;
    return end;
}
/* Like nw_topology_route, for part `stripe` of a message from a to b. */
static inline size_t nw_stripe_route(const nw_topology *topology,
                                     struct nw_end a, struct nw_end b,
                                     int32_t stripe, uint32_t *hops)
{
    return nw_topology_route(topology, nw_end_stripe(a, stripe),
                             nw_end_stripe(b, stripe), hops);
}
/* Returns the bytes of part `stripe` of a message that is divided into `count`
 * parts. */
static inline uint64_t nw_stripe_bytes(uint64_t bytes, int32_t count,
                                       int32_t stripe)
{
    return bytes / (uint64_t)count +
           ((uint64_t)stripe < bytes % (uint64_t)count);
}
/* Returns the switch to which NIC `card` of the node is connected. If card is
 * -1, returns the switch of the node itself, which has no NICs. */
int32_t nw_topology_switch_of(const nw_topology *topology, int32_t node,
                              int32_t card);
/* Returns the next direct link of a message from vertex a to vertex b of a
 * node, or -1 if direct links do not join them. */
static inline int32_t nw_node_type_next(const struct nw_node_type *type,
                                        int32_t a, int32_t b)
{
    if (!type->next || type->end_of[a] < 0 || type->end_of[b] < 0)
        return -1;
    return type->next[(size_t)type->end_of[a] * (size_t)type->end_count +
                      (size_t)type->end_of[b]];
}
/* Returns the level of NVLink that joins two ends on two nodes. The level is 1
 * if both are GPUs, and the GPU switch of their common domain joins them. It is
 * 2 if the uplinks of their domains join them, and 0 if NVLink does not join
 * them. */
int nw_domain_joins(const nw_topology *topology, struct nw_end a,
                    struct nw_end b);
/* Returns the number of the link from an NVLink domain to its upper domain. The
 * machine must have upper domains. */
static inline int32_t nw_domain_uplink(const nw_topology *topology,
                                       int32_t domain)
{
    return topology->link_first[topology->node_count] + domain;
}
/* Returns the highest level of endpoints that NVLink joins, in the numbers of
 * nw_topology_level. The levels of endpoints that switches of the network join
 * follow. */
static inline int32_t nw_domain_last_level(const nw_topology *topology)
{
    return NW_VERTEX_KIND_COUNT + (topology->upper ? 2 : 1);
}
/* Returns NW_EFORMAT if a node of an NVLink domain has GPUs but not exactly one
 * GPU switch. */
NW_MUST_CHECK nw_status nw_domain_check(const nw_topology *topology);
/* Returns the vertex that sends a message from `a` to b, an end on another
 * node. Under PXN between GPUs, it is the first GPU of a's node whose NIC has
 * the number of b's NIC, if direct links lead to this GPU. It is a's own vertex
 * otherwise, and also if the NICs of both ends have the same number or switch.
 */
int32_t nw_pxn_sender(const nw_topology *topology, struct nw_end a,
                      struct nw_end b);
/* For a network of several unconnected parts (rails): if the NICs of the two
 * ends are on different rails, sets both to NICs of one rail, else changes
 * nothing. It is the rail with the fewest tree links, inside the two nodes,
 * between the ends and their NICs. network->component must be set. */
void nw_rails_choose(const nw_topology *topology, struct nw_end *a,
                     struct nw_end *b);
/* Calls meet() for every link class in the network: those of its links, and
 * those of the struct of network/networks.h from which it was built. */
void nw_network_visit(struct nw_network *network,
                      void (*meet)(void *user, int32_t *class), void *user);
/* Computes network->level. */
NW_MUST_CHECK nw_status nw_network_find_levels(nw_topology *topology);
/* Returns NW_EFORMAT if two nodes have no rail in common, or if there are more
 * than 64 rails. */
NW_MUST_CHECK nw_status nw_rails_check(const nw_topology *topology);
/* Returns the deepest common ancestor of two vertices of a type. */
int32_t nw_node_type_common(const struct nw_node_type *type, int32_t a,
                            int32_t b);
/* The part of a route inside one node's tree: from a vertex up to the common
 * ancestor `top`, then down to another vertex. */
struct nw_segment {
    int32_t node, from, top, to;
};
/* A route as segments inside node trees and as single links elsewhere. Costs of
 * segments can be summed without following each link. */
struct nw_path {
    double distance;
    int32_t level;
    int segment_count;
    struct nw_segment segment[4];
    size_t hop_count; /* number of links outside segments: network and direct
                         links */
};
/* Computes distance and level of the route from ends[0] to ends[1], and its
 * links as segments and hops, in any order. `hops` must have space for
 * nw_topology_route_max() entries. */
void nw_topology_path(const nw_topology *topology, const struct nw_end ends[2],
                      struct nw_path *path, uint32_t *hops);
/* Returns the entry of a route, 2 x link + direction. The direction of a
 * half-duplex link is always 0. `class` is the class of the link, or -1. */
uint32_t nw_topology_hop(const nw_topology *topology, int32_t class,
                         int32_t link, int direction);
int32_t nw_topology_link_class_of(const nw_topology *topology, int32_t link);

#endif
