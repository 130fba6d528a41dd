/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader of cluster files, in the order of the file: figures of links,
 * node types (CPU side, devices, direct links), the network, the nodes. The
 * grammar is in nodewise-formats(5).
 */
#ifndef NW_TOPOLOGY_CLUSTER_CLUSTER_H
#define NW_TOPOLOGY_CLUSTER_CLUSTER_H

#include "base/hostlist.h"
#include "topology/topology.h"
#include "topology/parse/yaml.h"

#define NW_CLUSTER_MAX_PARTS (1 << 17) /* vertices of one node type */
#define NW_CLUSTER_MAX_CARDS 128       /* of a kind in one node type */
#define NW_CLUSTER_MAX_DIRECT 2048
#define NW_CLUSTER_MAX_SWITCHES (1 << 20)
#define NW_CLUSTER_MAX_LINKS (1 << 24)

/* A node type while it is read. */
struct nw_cluster_type {
    struct nw_node_type *type; /* the topology's */
    size_t port_count, port_capacity;
    int32_t *port; /* [cards] class of the link to the switch; -1: not said */
};

/* Where nodes go that name no switch: `each` to a switch, in order. With
 * `rails` to so many switches side by side, card c to number c modulo `rails`.
 */
struct nw_cluster_fill {
    int32_t each, switches; /* 0: they must name one */
    int32_t rails;          /* 0: all cards to the same switch */
};

/* How GPU messages leave a node: "direct" (neither), "staged" or "pxn". */
struct nw_cluster_messages {
    bool staged, pxn;
};

struct nw_cluster {
    const char *file;
    nw_topology *topology; /* owned until it is handed out */
    enum nw_elements elements;
    struct nw_cluster_messages messages;
    int32_t resize; /* nodes asked for by NAME:N, or 0 */
    const struct nw_yaml *root;
    size_t type_count;
    struct nw_cluster_type *type;
    struct nw_hostlist names;   /* of all nodes */
    struct nw_hostlist domains; /* that the items of nodes name */
    int32_t *entry_end;         /* names up to here are item i's of nodes */
    struct nw_cluster_fill fill;
    int32_t *switch_order; /* switches sorted by name */
};

struct nw_cluster_text {
    const char *file; /* what messages call it, where relative paths start */
    const char *text;
    size_t length;
    enum nw_elements elements;
    int32_t resize; /* > 0 sets the number of nodes */
};
NW_MUST_CHECK nw_status nw_cluster_read(const struct nw_cluster_text *text,
                                        nw_topology **out);

/* The class of the figures at `node`; NULL: assumed by kind. */
NW_MUST_CHECK nw_status nw_cluster_figures(struct nw_cluster *cluster,
                                           const struct nw_yaml *node,
                                           enum nw_link_kind kind,
                                           int32_t *class);
NW_MUST_CHECK nw_status nw_cluster_messages(
    const struct nw_yaml *node, struct nw_cluster_messages *messages);
/* Names as Slurm writes them, appended. */
NW_MUST_CHECK nw_status nw_cluster_names(const struct nw_yaml *node,
                                         struct nw_hostlist *names);

NW_MUST_CHECK nw_status nw_cluster_type(struct nw_cluster *cluster,
                                        const struct nw_yaml *node);
NW_MUST_CHECK nw_status nw_cluster_cpu(struct nw_cluster *cluster,
                                       const struct nw_yaml *node,
                                       const char *name,
                                       struct nw_node_type **out);
NW_MUST_CHECK nw_status nw_cluster_parts(struct nw_cluster *cluster,
                                         const struct nw_yaml *node,
                                         const char *name,
                                         struct nw_node_type **out);
/* The arrays that hold the information on the GPUs or cards of a type. */
struct nw_cluster_info {
    struct nw_device **device;
    int32_t *count;
};
NW_MUST_CHECK nw_status nw_cluster_device_info(const struct nw_yaml *list,
                                               const struct nw_node_type *type,
                                               enum nw_vertex_kind kind,
                                               struct nw_cluster_info *info);
NW_MUST_CHECK nw_status nw_cluster_devices(struct nw_cluster *cluster,
                                           const struct nw_yaml *node,
                                           struct nw_cluster_type *type);
/* Names the cards of a type, all of them. */
NW_MUST_CHECK nw_status nw_cluster_name_cards(const struct nw_yaml *node,
                                              struct nw_node_type *type);
NW_MUST_CHECK nw_status nw_cluster_direct(struct nw_cluster *cluster,
                                          const struct nw_yaml *node,
                                          struct nw_node_type *type);
/* NW_EFORMAT at `node` where the type cannot hold another vertex. */
NW_MUST_CHECK nw_status nw_cluster_room(const struct nw_yaml *node,
                                        const struct nw_node_type *type);
/* The vertex with number `index` of its kind, or -1. */
int32_t nw_cluster_find(const struct nw_node_type *type,
                        enum nw_vertex_kind kind, int32_t index);

NW_MUST_CHECK nw_status nw_cluster_network(struct nw_cluster *cluster,
                                           const struct nw_yaml *node);
/* One reader for each kind of network. */
NW_MUST_CHECK nw_status nw_cluster_fat_tree(struct nw_cluster *cluster,
                                            const struct nw_yaml *node);
NW_MUST_CHECK nw_status nw_cluster_torus(struct nw_cluster *cluster,
                                         const struct nw_yaml *node);
NW_MUST_CHECK nw_status nw_cluster_dragonfly(struct nw_cluster *cluster,
                                             const struct nw_yaml *node);
NW_MUST_CHECK nw_status nw_cluster_tree(struct nw_cluster *cluster,
                                        const struct nw_yaml *node);
NW_MUST_CHECK nw_status nw_cluster_graph(struct nw_cluster *cluster,
                                         const struct nw_yaml *node);
/* Forwarding tables of a graph whose nodes are placed. */
NW_MUST_CHECK nw_status nw_cluster_tables(struct nw_cluster *cluster,
                                          const struct nw_yaml *list);
/* Sorts the switches of the topology's network, for nw_cluster_find_switch. */
NW_MUST_CHECK nw_status nw_cluster_index_switches(struct nw_cluster *cluster,
                                                  const struct nw_yaml *node);
NW_MUST_CHECK nw_status nw_cluster_find_switch(const struct nw_cluster *cluster,
                                               const struct nw_yaml *node,
                                               const char *name, int32_t *out);

/* Reads the names first: networks may grow with their number. */
NW_MUST_CHECK nw_status nw_cluster_node_names(struct nw_cluster *cluster,
                                              const struct nw_yaml *nodes);
/* Names of nodes or domains; of NAME:N with the first range that long. */
NW_MUST_CHECK nw_status
nw_cluster_resized_names(const struct nw_cluster *cluster,
                         const struct nw_yaml *name, struct nw_hostlist *names);
/* Puts the nodes from `first` to before `end` into the domains of their item;
 * then, with all items read, numbers domains by their names. */
NW_MUST_CHECK nw_status nw_cluster_join_domains(struct nw_cluster *cluster,
                                                const struct nw_yaml *item,
                                                int32_t first, int32_t end);
NW_MUST_CHECK nw_status nw_cluster_number_domains(struct nw_cluster *cluster);
NW_MUST_CHECK nw_status nw_cluster_place_nodes(struct nw_cluster *cluster,
                                               const struct nw_yaml *nodes);

#endif
