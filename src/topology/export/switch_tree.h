/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts any network to a tree of switches in which each node has one switch,
 * because schedulers know only trees. */
#ifndef NW_TOPOLOGY_EXPORT_SWITCH_TREE_H
#define NW_TOPOLOGY_EXPORT_SWITCH_TREE_H

#include "topology/export/export.h"
#include "topology/export/groups.h"

struct nw_switch_tree {
    int32_t count;
    char **name;                   /* each name is owned */
    int32_t *parent;               /* -1 at a root */
    int32_t *origin;               /* the switch of the network that gives the
                                      name */
    size_t capacity[3];            /* of name, parent and origin */
    int32_t *node_at;              /* [nodes] switch directly above the node */
    struct nw_groups below, nodes; /* switches and nodes directly below each
                                      switch */
};

/* Makes the tree. Parallel switches of a network become one: switches of one
 * level that are connected get one common switch above them. Returns
 * NW_EUNSUPPORTED if the topology has no network. The caller calls
 * nw_switch_tree_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_switch_tree_make(struct nw_export *export,
                                            struct nw_switch_tree *out);
void nw_switch_tree_fini(struct nw_switch_tree *tree);

#endif
