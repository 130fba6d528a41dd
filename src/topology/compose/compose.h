/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes one machine from several sources: the network comes from one source,
 * the inside of nodes from others, the GPU links from a third. If sources
 * disagree, a note names the sources and the difference.
 */
#ifndef NW_TOPOLOGY_COMPOSE_COMPOSE_H
#define NW_TOPOLOGY_COMPOSE_COMPOSE_H

#include "base/hostlist.h"
#include "base/text.h"
#include "topology/topology.h"

/* An index of host names, for searching. `name` is borrowed; both arrays have
 * `count` entries. `order` has the indexes of names in sorted order. */
struct nw_host_index {
    char **name;
    int32_t *order;
    size_t count;
};
NW_MUST_CHECK nw_status nw_host_index_init(struct nw_host_index *hosts,
                                           char **name, size_t count);
void nw_host_index_fini(struct nw_host_index *hosts);
enum { NW_HOST_NONE = -1, NW_HOST_SEVERAL = -2 };
/* Returns the index of the host that is the same as `host` according to
 * nw_host_is_same. Returns NW_HOST_NONE if no host is the same, and
 * NW_HOST_SEVERAL if `host` is a short name of several hosts. */
int32_t nw_host_index_find(const struct nw_host_index *hosts, const char *host);

/* A source that describes the inside of nodes. */
struct nw_inside {
    const char *source; /* borrowed from the caller of nw_topology_compose */
    char *hosts;        /* owned; the list of hosts before '=', or NULL */
    nw_topology *topology;
    struct nw_hostlist names;           /* expanded names of `hosts` */
    struct nw_host_index nodes, listed; /* indexes of the topology's nodes and
                                           of `names` */
};

/* A node type of the result, made of a source's type and the NICs of the
 * network's type. */
struct nw_combined {
    int32_t inside, type, ports; /* index of the source, type in this source,
                                    type in the network */
    int32_t result;              /* type in the result */
    int32_t *port_of; /* owned; [cards] for each NIC, the index of its port
                         among the ports of a host of the network */
    int32_t cards;
};

/* The state while sources are combined. */
struct nw_compose {
    nw_topology *network;        /* source of the network, whose switches are
                                    moved to the result */
    struct nw_host_index joined; /* index of the network's nodes */
    bool is_alike; /* all hosts get the node type of the only source */
    struct nw_inside *inside;
    size_t inside_count;
    nw_topology *gpus; /* the source of GPU links, or NULL */
    const char *gpus_source;
    nw_topology *whole;
    struct nw_combined *combined;
    size_t combined_count, combined_capacity;
    struct nw_text notes; /* one line for each difference between the sources */
};

/* Sets *out to the link class of the result, which is added if it is new, with
 * the figures of class `class` of `from`; to -1 if `class` is -1. */
NW_MUST_CHECK nw_status nw_compose_class(struct nw_compose *compose,
                                         const nw_topology *from, int32_t class,
                                         int32_t *out);
/* Copies a type to the result, without the tables that nw_node_type_finish
 * computes. `drop` marks vertices without children that are not copied; it may
 * be NULL. */
NW_MUST_CHECK nw_status nw_compose_copy(struct nw_compose *compose,
                                        const nw_topology *from,
                                        const struct nw_node_type *type,
                                        const bool *drop,
                                        struct nw_node_type **out);
/* Replaces the direct links between GPUs of a type of the result by those of
 * compose->gpus, if that has any. Adds the GPUs if no node type of any source
 * has GPUs; if only this type has none, does nothing. Adds the NICs if the type
 * is `cardless` (neither its source nor the network has NICs). `source` names
 * the origin of the type. Returns NW_EFORMAT if the numbers of GPUs differ. */
NW_MUST_CHECK nw_status nw_compose_gpus(struct nw_compose *compose,
                                        struct nw_node_type *type,
                                        const char *source, bool cardless);

#endif
