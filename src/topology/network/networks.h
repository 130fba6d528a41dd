/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds all networks but trees: regular ones from a few numbers, and graphs
 * from their links. Each network has switches with names, links, routes and a
 * diameter. nodewise-topology(5) defines the numbering and the routes. The
 * caller checks that the numbers are in range, since it knows the file and line
 * for the error.
 */
#ifndef NW_TOPOLOGY_NETWORK_NETWORKS_H
#define NW_TOPOLOGY_NETWORK_NETWORKS_H

#include "topology/topology.h"

#define NW_FAT_TREE_MAX_LEVELS 8
#define NW_TORUS_MAX_DIMENSIONS 16
#define NW_GRAPH_MAX_SWITCHES 8192

/* An extended generalized fat tree. Level 0 has the leaf switches, to which the
 * nodes are connected. level[i] describes the links between levels i and i + 1.
 */
struct nw_fat_tree {
    int level_count;
    struct nw_fat_tree_level {
        int32_t down; /* switches of level i below one of level i + 1 */
        int32_t up;   /* switches of level i + 1 above one of level i */
        int32_t parallel;
        int32_t class;
    } level[NW_FAT_TREE_MAX_LEVELS];
};
/* The first two functions return the number of switches or links; -1 if it is
 * 2^30 or larger. The third returns the number of leaf switches, at most 2^30.
 */
int64_t nw_fat_tree_switches(const struct nw_fat_tree *shape);
int64_t nw_fat_tree_links(const struct nw_fat_tree *shape);
int32_t nw_fat_tree_leaves(const struct nw_fat_tree *shape);
NW_MUST_CHECK nw_status nw_network_fat_tree(const struct nw_fat_tree *shape,
                                            struct nw_network **out);

/* A torus or mesh. `wrap` says whether a dimension is a ring; `class` is the
 * link class of a dimension. */
struct nw_torus {
    int dimension_count;
    int32_t size[NW_TORUS_MAX_DIMENSIONS];
    bool wrap[NW_TORUS_MAX_DIMENSIONS];
    int32_t class[NW_TORUS_MAX_DIMENSIONS];
};
NW_MUST_CHECK nw_status nw_network_torus(const struct nw_torus *shape,
                                         struct nw_network **out);

/* A dragonfly of `groups` groups, each of `routers` routers. */
struct nw_dragonfly {
    int32_t groups, routers, global_links; /* global_links is the number for
                                              each router */
    int32_t local_class, global_class;
};
/* Returns the number of global links between two groups; 0 if there are too few
 * links to connect every pair of groups; 1 if there is only one group. */
int32_t nw_dragonfly_rounds(const struct nw_dragonfly *shape);
NW_MUST_CHECK nw_status nw_network_dragonfly(const struct nw_dragonfly *shape,
                                             struct nw_network **out);

/* Finishes any network from its switches and links, with shortest routes. Among
 * routes of equal length, the destination node selects one if `spread` is set;
 * otherwise the link that was added first is used. The network may be
 * disconnected; `component` then has the connected parts. Returns NW_EFORMAT if
 * it has more than NW_GRAPH_MAX_SWITCHES switches, or two connected ones more
 * than 253 links apart. */
NW_MUST_CHECK nw_status nw_network_finish_graph(struct nw_network *network,
                                                bool spread);

/* The switches of the nodes' ports. A forwarding table has one column for each
 * port, in this order. */
struct nw_graph_ports {
    int32_t *first; /* [nodes + 1] index into `at` */
    int32_t *at;    /* [count] switch of each port */
    int32_t nodes;
    size_t count;
};
/* Sets the routes of a finished graph by tables. via[switch x ports + port] is
 * the link that leads to this port, or -1 for the shortest route. Takes
 * ownership of `via` and of both arrays of *ports. Returns NW_EFORMAT if a
 * route does not reach its node. */
NW_MUST_CHECK nw_status nw_graph_set_tables(struct nw_network *network,
                                            struct nw_graph_ports *ports,
                                            int32_t *via);
/* Copies the topology's array of ports, for nw_graph_set_tables. The nodes must
 * be connected to their switches. The caller frees both arrays of *ports. */
NW_MUST_CHECK nw_status nw_graph_copy_ports(const nw_topology *topology,
                                            struct nw_graph_ports *ports);
/* Returns `via`, and sets *ports, as given to nw_graph_set_tables; borrowed.
 * Returns NULL if the graph has no tables. */
const int32_t *nw_graph_tables(const struct nw_network *network,
                               const struct nw_graph_ports **ports);
/* Returns the argument `spread` with which a graph was finished. */
bool nw_graph_spreads(const struct nw_network *network);
/* Sets *out to the links of a switch, in the order in which they were added;
 * borrowed. Returns their number. */
size_t nw_graph_links(const struct nw_network *network, int32_t s,
                      const int32_t **out);

/* Sets the name of switch `s`, formatted as by printf. */
NW_MUST_CHECK nw_status nw_network_name(struct nw_network *network, int32_t s,
                                        const char *format, ...)
    NW_PRINTF(3, 4);

#endif
