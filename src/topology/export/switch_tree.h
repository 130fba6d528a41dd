/* SPDX-License-Identifier: BSD-3-Clause */
/* Any network as a tree of switches with each node at one switch, which is all
 * that schedulers know. */
#ifndef NW_TOPOLOGY_EXPORT_SWITCH_TREE_H
#define NW_TOPOLOGY_EXPORT_SWITCH_TREE_H

#include "topology/export/export.h"
#include "topology/export/groups.h"

struct nw_switch_tree {
    int32_t count;
    char **name;                   /* owned, each */
    int32_t *parent;               /* -1 at a top */
    int32_t *origin;               /* the switch of the network that names it */
    size_t capacity[3];            /* of these arrays */
    int32_t *node_at;              /* switch of each node of the topology */
    struct nw_groups below, nodes; /* switches and nodes of each switch */
};

/* A network that is not a tree loses its parallel switches: switches that
 * links of a level join are one switch above. NW_EUNSUPPORTED if the topology
 * has no network. The caller calls nw_switch_tree_fini also after a failure. */
NW_MUST_CHECK nw_status nw_switch_tree_make(struct nw_export *export,
                                            struct nw_switch_tree *out);
void nw_switch_tree_fini(struct nw_switch_tree *tree);

#endif
