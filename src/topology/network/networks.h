/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Networks that follow a rule, built from a few numbers. Each fills a network
 * of switches with its names, links, routes and diameter. The rules are
 * written in nodewise-topology(5); the numbers must be in range (the reader of
 * the file knows the line to blame).
 */
#ifndef NW_TOPOLOGY_NETWORK_NETWORKS_H
#define NW_TOPOLOGY_NETWORK_NETWORKS_H

#include "topology/topology.h"

#define NW_FAT_TREE_MAX_LEVELS 8
#define NW_TORUS_MAX_DIMENSIONS 16
#define NW_GRAPH_MAX_SWITCHES 8192

/* An extended generalized fat tree. Level 0 are the leaves, which hold the
 * nodes; level[i] joins level i to level i + 1. */
struct nw_fat_tree {
    int level_count;
    struct nw_fat_tree_level {
        int32_t down; /* switches of level i below one of level i + 1 */
        int32_t up;   /* switches of level i + 1 above one of level i */
        int32_t parallel;
        int32_t class;
    } level[NW_FAT_TREE_MAX_LEVELS];
};
/* Switches and links there will be; -1 where one is past 2^30. */
int64_t nw_fat_tree_switches(const struct nw_fat_tree *shape);
int64_t nw_fat_tree_links(const struct nw_fat_tree *shape);
int32_t nw_fat_tree_leaves(const struct nw_fat_tree *shape);
NW_MUST_CHECK nw_status nw_network_fat_tree(const struct nw_fat_tree *shape,
                                            struct nw_network **out);

struct nw_torus {
    int dimension_count;
    int32_t size[NW_TORUS_MAX_DIMENSIONS];
    bool wrap[NW_TORUS_MAX_DIMENSIONS];
    int32_t class[NW_TORUS_MAX_DIMENSIONS];
};
NW_MUST_CHECK nw_status nw_network_torus(const struct nw_torus *shape,
                                         struct nw_network **out);

struct nw_dragonfly {
    int32_t groups, routers, global_links; /* links of each router */
    int32_t local_class, global_class;
};
/* Links between two groups: 0 where some pair would have none. */
int32_t nw_dragonfly_rounds(const struct nw_dragonfly *shape);
NW_MUST_CHECK nw_status nw_network_dragonfly(const struct nw_dragonfly *shape,
                                             struct nw_network **out);

/* Any network whose switches and links are there: shortest routes, ties spread
 * by the destination node or the first link declared. It may fall apart:
 * `component` then says how. NW_EFORMAT where it is too large. */
NW_MUST_CHECK nw_status nw_network_finish_graph(struct nw_network *network,
                                                bool spread);

/* The ports of nodes, by which tables are ordered. */
struct nw_graph_ports {
    int32_t *first; /* [nodes + 1] into at */
    int32_t *at;    /* switch */
    int32_t nodes;
    size_t count;
};
/* Routes of a finished graph that follow tables: via[switch x ports + port] is
 * the link taken, -1 where the shortest way is. Takes both arrays of *ports
 * and `via`. NW_EFORMAT where a way has no end. */
NW_MUST_CHECK nw_status nw_graph_set_tables(struct nw_network *network,
                                            struct nw_graph_ports *ports,
                                            int32_t *via);
/* The ports of placed nodes, to be handed to nw_graph_set_tables. */
NW_MUST_CHECK nw_status nw_graph_copy_ports(const nw_topology *topology,
                                            struct nw_graph_ports *ports);
/* NULL without tables; borrowed. */
const int32_t *nw_graph_tables(const struct nw_network *network,
                               const struct nw_graph_ports **ports);
/* Whether ties of a graph are spread. */
bool nw_graph_spreads(const struct nw_network *network);
/* The links of a switch, in the order declared; returns their count. */
size_t nw_graph_links(const struct nw_network *network, int32_t s,
                      const int32_t **out);

/* Gives switch `s` its name from a format. */
NW_MUST_CHECK nw_status nw_network_name(struct nw_network *network, int32_t s,
                                        const char *format, ...)
    NW_PRINTF(3, 4);

#endif
