/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An InfiniBand subnet while it is read, from what ibnetdiscover writes: nodes
 * (switches and adapters) with the ports that have a cable. Text is borrowed
 * from the file in memory.
 */
#ifndef NW_TOPOLOGY_INFINIBAND_IBNET_H
#define NW_TOPOLOGY_INFINIBAND_IBNET_H

#include "base/hostlist.h"
#include "topology/network/fabric.h"

struct nw_ib_node {
    char kind;             /* 'S'witch, 'H'ost adapter, 'R'outer */
    const char *id;        /* "S-0008f10500200b50" */
    char *text;            /* its description */
    uint64_t guid, system; /* system image: one box, 0 unknown */
    int line;
    size_t first, count; /* ports */
    int32_t lid;         /* a switch's; -1 unknown */
    const char *name;    /* of the switch or host, once found */
    const char *device;  /* an adapter's, such as mlx5_0; NULL */
    int32_t number;      /* among switches or hosts; -1 left out */
};

struct nw_ib_port {
    int32_t number, peer_number;
    const char *peer; /* id */
    int32_t node, peer_node;
    uint64_t guid; /* an adapter's port; 0 unknown */
    int32_t lid;   /* an adapter's port; -1 unknown */
    double rate;   /* bytes/s; 0 unknown */
    int line;
    int32_t link; /* of the network; -1 none */
};

struct nw_ib_subnet {
    const char *file;
    struct nw_ib_node *node;
    size_t node_count, node_capacity;
    struct nw_ib_port *port;
    size_t port_count, port_capacity;
    int32_t *by_id;          /* nodes sorted by id */
    struct nw_hostlist made; /* ids that are not in the text */
};

/* Reads what ibnetdiscover wrote. `text` is cut up in place and must outlive
 * the subnet. */
NW_MUST_CHECK nw_status nw_ib_parse(struct nw_ib_subnet *subnet, char *text);
/* Whether a text is what ibnetdiscover -p writes; reads such, as above. */
bool nw_ib_is_ports(const char *text);
NW_MUST_CHECK nw_status nw_ib_parse_ports(struct nw_ib_subnet *subnet,
                                          char *text);
/* A line that the tools of OFED write of themselves, often into the same file:
 * "ibwarn: [5] ...", "*** WARNING ***: ...", "src/query.c:12; ...". */
bool nw_ib_is_warning(const char *line);
/* Keeps a copy of an id as long as the subnet. */
NW_MUST_CHECK nw_status nw_ib_keep_id(struct nw_ib_subnet *subnet,
                                      const char *id, const char **out);
/* Finds both ends of every cable; NW_EFORMAT for a dangling port. */
NW_MUST_CHECK nw_status nw_ib_connect(struct nw_ib_subnet *subnet);
/* Names switches and hosts; `map` is a file of guids and names, or NULL. Its
 * text is kept in *map_text, which the caller frees. */
NW_MUST_CHECK nw_status nw_ib_name(struct nw_ib_subnet *subnet, const char *map,
                                   char **map_text);
/* The node of that id, or -1. */
int32_t nw_ib_find(const struct nw_ib_subnet *subnet, const char *id);
void nw_ib_fini(struct nw_ib_subnet *subnet);

/* The port of a node by its number, or NULL. */
struct nw_ib_port *nw_ib_port(const struct nw_ib_subnet *subnet, int32_t node,
                              int32_t number);

/* A switch sends what is for one port of an adapter out by this port. */
struct nw_ib_entry {
    int32_t node, out;
    size_t port; /* index into subnet->port */
    int line;
};
struct nw_ib_tables {
    const char *file;
    struct nw_ib_entry *entry; /* owned */
    size_t count, capacity;
};
/* Forwarding tables as dump_lfts.sh, ibroute and OpenSM write them. */
NW_MUST_CHECK nw_status nw_ib_read_tables(const struct nw_ib_subnet *subnet,
                                          const char *file,
                                          struct nw_ib_tables *tables);
/* Gives the network of a placed fabric those routes. */
NW_MUST_CHECK nw_status nw_ib_set_tables(const struct nw_ib_subnet *subnet,
                                         const struct nw_ib_tables *tables,
                                         const struct nw_fabric *fabric);

/* Whether a text is what ibtracert writes; reads such, ways as tables, whose
 * ports are found once the subnet is connected. */
bool nw_ib_is_trace(const char *text);
NW_MUST_CHECK nw_status nw_ib_parse_traces(struct nw_ib_subnet *subnet,
                                           char *text,
                                           struct nw_ib_tables *tables);
NW_MUST_CHECK nw_status nw_ib_find_trace_ports(
    const struct nw_ib_subnet *subnet, struct nw_ib_tables *tables);

/* Bytes/s of "4xQDR", 0 if the word is not a rate. */
double nw_ib_rate(const char *word);

/* FILE[,map=FILE][,lft=FILE]; and the fabric itself, by commands. */
NW_MUST_CHECK nw_status nw_ibnet_load(const char *what,
                                      enum nw_elements elements,
                                      nw_topology **out);
NW_MUST_CHECK nw_status nw_ibnet_live(enum nw_elements elements,
                                      nw_topology **out);

#endif
