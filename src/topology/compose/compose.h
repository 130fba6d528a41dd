/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Composes one machine from several sources: the network from one, the inside
 * of its nodes from others, the links of GPUs from a third. If sources
 * disagree, a note names the sources and the difference.
 */
#ifndef NW_TOPOLOGY_COMPOSE_COMPOSE_H
#define NW_TOPOLOGY_COMPOSE_COMPOSE_H

#include "base/hostlist.h"
#include "base/text.h"
#include "topology/topology.h"

/* Names to be found by; both arrays are of `count`, the names borrowed. */
struct nw_host_index {
    char **name;
    int32_t *order;
    size_t count;
};
NW_MUST_CHECK nw_status nw_host_index_init(struct nw_host_index *hosts,
                                           char **name, size_t count);
void nw_host_index_fini(struct nw_host_index *hosts);
enum { NW_HOST_NONE = -1, NW_HOST_SEVERAL = -2 };
/* The one that nw_host_is_same as that; several long names may be one short
 * name's. */
int32_t nw_host_index_find(const struct nw_host_index *hosts, const char *host);

/* Nodes of one source. */
struct nw_inside {
    const char *source; /* borrowed from the caller */
    char *hosts;        /* owned; the list before '=', or NULL */
    nw_topology *topology;
    struct nw_hostlist names;           /* of `hosts` */
    struct nw_host_index nodes, listed; /* the topology's, and `names` */
};

/* A type made of a source's type and the cards the network knows of. */
struct nw_combined {
    int32_t inside, type, ports; /* source, its type, the network's type */
    int32_t result;              /* type of the whole */
    int32_t *port_of; /* owned; [cards] the network's port of each card */
    int32_t cards;
};

struct nw_compose {
    nw_topology *network;        /* its switches move to the whole */
    struct nw_host_index joined; /* its nodes */
    struct nw_inside *inside;
    size_t inside_count;
    nw_topology *gpus; /* or NULL */
    const char *gpus_source;
    nw_topology *whole;
    struct nw_combined *combined;
    size_t combined_count, combined_capacity;
    struct nw_text notes; /* a line each */
};

/* The class of the whole with the figures of another topology's. */
NW_MUST_CHECK nw_status nw_compose_class(struct nw_compose *compose,
                                         const nw_topology *from, int32_t class,
                                         int32_t *out);
/* A copy of a type for the whole, not finished; `drop` (or NULL) marks
 * vertices without children to leave out. */
NW_MUST_CHECK nw_status nw_compose_copy(struct nw_compose *compose,
                                        const nw_topology *from,
                                        const struct nw_node_type *type,
                                        const bool *drop,
                                        struct nw_node_type **out);
/* Adds the direct links of compose->gpus to a type of the whole machine. Adds
 * the GPUs if no node has any, and the network cards if the type is `cardless`
 * (neither its source nor the network has cards). `source` names the origin of
 * the type. NW_EFORMAT if the numbers of GPUs differ. */
NW_MUST_CHECK nw_status nw_compose_gpus(struct nw_compose *compose,
                                        struct nw_node_type *type,
                                        const char *source, bool cardless);

#endif
