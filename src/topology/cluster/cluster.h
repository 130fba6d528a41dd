/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader of cluster files. Its parts are: figures of links, node types
 * (CPUs, devices, direct links), the network, the nodes. nodewise-formats(5)
 * defines the grammar.
 */
#ifndef NW_TOPOLOGY_CLUSTER_CLUSTER_H
#define NW_TOPOLOGY_CLUSTER_CLUSTER_H

#include "base/hostlist.h"
#include "topology/topology.h"
#include "topology/parse/yaml.h"

#define NW_CLUSTER_MAX_PARTS (1 << 17) /* most vertices of a node type */
#define NW_CLUSTER_MAX_CARDS 128       /* most GPUs, and NICs, of a node type */
#define NW_CLUSTER_MAX_DIRECT 2048
#define NW_CLUSTER_MAX_SWITCHES (1 << 20)
#define NW_CLUSTER_MAX_LINKS (1 << 24)

/* The state of the reader for one node type. */
struct nw_cluster_type {
    struct nw_node_type *type; /* owned by the topology */
    size_t port_count, port_capacity;
    int32_t *port; /* [NICs] class of the link to the switch; -1: not given */
};

/* The rule for nodes that do not name a switch. Node i of the file, from 0,
 * belongs to group i / `each`. A group has one switch or, with `rails`, that
 * many adjacent switches; NIC c of its nodes is then connected to switch c
 * modulo `rails` of the group. */
struct nw_cluster_fill {
    int32_t each, switches; /* `switches` can have nodes; if `each` is 0, each
                               node must name its switch */
    int32_t rails;          /* 0: all NICs of a node are connected to the same
                               switch */
};

/* How GPU messages leave a node: "direct" (both false), "staged" or "pxn". */
struct nw_cluster_messages {
    bool staged, pxn;
};

/* The state of the reader. */
struct nw_cluster {
    const char *file;
    nw_topology *topology; /* the result; owned until it is returned */
    enum nw_elements elements;
    struct nw_cluster_messages messages;
    int32_t resize; /* number of nodes given by NAME:N, or 0 */
    const struct nw_yaml *root;
    size_t type_count;
    struct nw_cluster_type *type;
    struct nw_hostlist names;   /* names of all nodes, in the order of the file
                                 */
    struct nw_hostlist domains; /* NVLink domains that items of `nodes` name,
                                   with duplicates */
    int32_t *entry_end;         /* [items of 'nodes'] item i has the nodes from
                                   entry_end[i - 1] (0 for i = 0) to
                                   entry_end[i] - 1 */
    struct nw_cluster_fill fill;
    int32_t *switch_order; /* switch numbers sorted by name */
};

struct nw_cluster_text {
    const char *file; /* name for messages; relative paths start at its
                         folder */
    const char *text;
    size_t length;
    enum nw_elements elements;
    int32_t resize; /* number of nodes if > 0 */
};
NW_MUST_CHECK nw_status nw_cluster_read(const struct nw_cluster_text *text,
                                        nw_topology **out);

/* Finds or adds the link class of the properties that are written at `node`. A
 * property that is not written, or each one if `node` is NULL, is the assumed
 * one of the kind; the kind is `kind` unless it is written. */
NW_MUST_CHECK nw_status nw_cluster_figures(struct nw_cluster *cluster,
                                           const struct nw_yaml *node,
                                           enum nw_link_kind kind,
                                           int32_t *class);
NW_MUST_CHECK nw_status nw_cluster_messages(
    const struct nw_yaml *node, struct nw_cluster_messages *messages);
/* Appends the names of a list in Slurm's form. */
NW_MUST_CHECK nw_status nw_cluster_names(const struct nw_yaml *node,
                                         struct nw_hostlist *names);

NW_MUST_CHECK nw_status nw_cluster_type(struct nw_cluster *cluster,
                                        const struct nw_yaml *node);
NW_MUST_CHECK nw_status nw_cluster_parts(struct nw_cluster *cluster,
                                         const struct nw_yaml *node,
                                         const char *name,
                                         struct nw_node_type **out);
/* Where nw_cluster_device_info stores the names of a type's GPUs or NICs: the
 * array, and its length. */
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
/* Sets the names of all NICs of a type. */
NW_MUST_CHECK nw_status nw_cluster_name_cards(const struct nw_yaml *node,
                                              struct nw_node_type *type);
NW_MUST_CHECK nw_status nw_cluster_direct(struct nw_cluster *cluster,
                                          const struct nw_yaml *node,
                                          struct nw_node_type *type);
/* Returns NW_EFORMAT at `node` if the type cannot have another vertex. */
NW_MUST_CHECK nw_status nw_cluster_room(const struct nw_yaml *node,
                                        const struct nw_node_type *type);

NW_MUST_CHECK nw_status nw_cluster_network(struct nw_cluster *cluster,
                                           const struct nw_yaml *node);
/* Readers of the kinds of networks. */
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
/* Reads the forwarding tables of a graph. All nodes must be connected to their
 * switches before. */
NW_MUST_CHECK nw_status nw_cluster_tables(struct nw_cluster *cluster,
                                          const struct nw_yaml *list);
/* Sorts the names of the switches of the topology's network for
 * nw_cluster_find_switch. Returns NW_EFORMAT if two switches have one name. */
NW_MUST_CHECK nw_status nw_cluster_index_switches(struct nw_cluster *cluster,
                                                  const struct nw_yaml *node);
NW_MUST_CHECK nw_status nw_cluster_find_switch(const struct nw_cluster *cluster,
                                               const struct nw_yaml *node,
                                               const char *name, int32_t *out);

/* Reads the node names before the network, whose size may depend on their
 * number. */
NW_MUST_CHECK nw_status nw_cluster_node_names(struct nw_cluster *cluster,
                                              const struct nw_yaml *nodes);
/* Appends the names of nodes or domains. For NAME:N, the end of the first range
 * of the list is changed so that the range has N names; NW_EFORMAT if the list
 * does not have a range. */
NW_MUST_CHECK nw_status
nw_cluster_resized_names(const struct nw_cluster *cluster,
                         const struct nw_yaml *name, struct nw_hostlist *names);
/* nw_cluster_join_domains puts the nodes from `first` to `end` - 1 into the
 * NVLink domains that their item names. After all items were read,
 * nw_cluster_number_domains numbers the domains in the order in which their
 * names first occur; equal names are one domain. */
NW_MUST_CHECK nw_status nw_cluster_join_domains(struct nw_cluster *cluster,
                                                const struct nw_yaml *item,
                                                int32_t first, int32_t end);
NW_MUST_CHECK nw_status nw_cluster_number_domains(struct nw_cluster *cluster);
/* Reads `domains`, the list of upper domains (second level of NVLink). */
NW_MUST_CHECK nw_status nw_cluster_join_upper(struct nw_cluster *cluster,
                                              const struct nw_yaml *domains);
NW_MUST_CHECK nw_status nw_cluster_place_nodes(struct nw_cluster *cluster,
                                               const struct nw_yaml *nodes);

#endif
