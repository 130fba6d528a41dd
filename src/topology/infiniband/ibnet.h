/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the reader of an InfiniBand subnet, as ibnetdiscover writes it:
 * nodes (switches and adapters) with the ports that have a cable. Strings are
 * borrowed from the file in memory.
 */
#ifndef NW_TOPOLOGY_INFINIBAND_IBNET_H
#define NW_TOPOLOGY_INFINIBAND_IBNET_H

#include "base/hostlist.h"
#include "topology/network/fabric.h"

/* A switch, adapter or router. */
struct nw_ib_node {
    char kind;             /* 'S': switch, 'H': host adapter, 'R': router */
    const char *id;        /* "S-0008f10500200b50" */
    char *text;            /* description of the node */
    uint64_t guid, system; /* `system` is the same for all adapters of one
                              device: the system image GUID or a number computed
                              from GUIDs; 0: unknown */
    int line;
    size_t first, count; /* its ports are port[first] to port[first + count -
                            1] */
    int32_t lid;         /* LID of a switch; -1: unknown */
    const char *name;    /* name of the switch or host, set by nw_ib_name; NULL
                            for an aggregation node, which is ignored */
    const char *device;  /* name of an adapter, such as mlx5_0, or NULL */
    int32_t number;      /* number of a switch in the network; -1: an adapter */
};

/* A port with a cable. */
struct nw_ib_port {
    int32_t number, peer_number;
    const char *peer; /* id of the node at the other end */
    int32_t node, peer_node;
    uint64_t guid; /* GUID of an adapter's port; 0: unknown */
    int32_t lid;   /* LID of an adapter's port; -1: unknown */
    double rate;   /* bytes/s; 0: unknown */
    int line;
    int32_t link; /* number of the network's link; -1: none */
};

/* All nodes and ports of a subnet. */
struct nw_ib_subnet {
    const char *file;
    struct nw_ib_node *node;
    size_t node_count, node_capacity;
    struct nw_ib_port *port;
    size_t port_count, port_capacity;
    int32_t *by_id;          /* node numbers sorted by id */
    struct nw_hostlist made; /* copies made by nw_ib_keep_id */
};

/* Reads the output of ibnetdiscover. `text` is changed and must outlive the
 * subnet. */
NW_MUST_CHECK nw_status nw_ib_parse(struct nw_ib_subnet *subnet, char *text);
/* nw_ib_is_ports returns true if a text is output of ibnetdiscover -p;
 * nw_ib_parse_ports reads it like nw_ib_parse. */
bool nw_ib_is_ports(const char *text);
NW_MUST_CHECK nw_status nw_ib_parse_ports(struct nw_ib_subnet *subnet,
                                          char *text);
/* Returns true for a message of the OFED tools, which are often in the same
 * file as their output: "ibwarn: [5] ...", "*** WARNING ***: ...",
 * "src/query.c:12; ...". */
bool nw_ib_is_warning(const char *line);
/* Copies an id; the copy lives as long as the subnet. */
NW_MUST_CHECK nw_status nw_ib_keep_id(struct nw_ib_subnet *subnet,
                                      const char *id, const char **out);
/* Adds a copy of a port of the node port->node. */
NW_MUST_CHECK nw_status nw_ib_add_port(struct nw_ib_subnet *subnet,
                                       const struct nw_ib_port *port);
/* Finds both ends of every cable, and gives both the lower of their rates.
 * Returns NW_EFORMAT for a port whose other end is missing, and for a node or
 * port that is described twice. */
NW_MUST_CHECK nw_status nw_ib_connect(struct nw_ib_subnet *subnet);
/* Sets the names of switches and hosts. `map` is a file of GUIDs and names, or
 * NULL. If it is a file, *map_text is set to its text, which the caller frees
 * after the subnet. */
NW_MUST_CHECK nw_status nw_ib_name(struct nw_ib_subnet *subnet, const char *map,
                                   char **map_text);
/* Returns the node with this id, or -1. */
int32_t nw_ib_find(const struct nw_ib_subnet *subnet, const char *id);
void nw_ib_fini(struct nw_ib_subnet *subnet);

/* Returns the port `number` of a node, or NULL. */
struct nw_ib_port *nw_ib_port(const struct nw_ib_subnet *subnet, int32_t node,
                              int32_t number);

/* An entry of a forwarding table: switch `node` sends messages for the adapter
 * port `port` through its own port number `out`. */
struct nw_ib_entry {
    int32_t node, out;
    size_t port; /* index into subnet->port; nw_ib_parse_traces stores another
                    number, which nw_ib_find_trace_ports replaces */
    int line;
};
/* The forwarding tables of all switches. */
struct nw_ib_tables {
    const char *file;
    struct nw_ib_entry *entry; /* owned */
    size_t count, capacity;
    bool is_dump; /* of whole tables, not of traced paths */
};
/* Reads forwarding tables as dump_lfts.sh, ibroute and OpenSM write them. */
NW_MUST_CHECK nw_status nw_ib_read_tables(const struct nw_ib_subnet *subnet,
                                          const char *file,
                                          struct nw_ib_tables *tables);
/* Sets the routes of the fabric's network to those of the tables.
 * nw_fabric_place must have made the nodes. */
NW_MUST_CHECK nw_status nw_ib_set_tables(const struct nw_ib_subnet *subnet,
                                         const struct nw_ib_tables *tables,
                                         const struct nw_fabric *fabric);

/* nw_ib_is_trace returns true if a text is output of ibtracert;
 * nw_ib_parse_traces reads the subnet from it, and its routes as forwarding
 * tables. nw_ib_find_trace_ports finds the ports of these tables after
 * nw_ib_connect. */
bool nw_ib_is_trace(const char *text);
NW_MUST_CHECK nw_status nw_ib_parse_traces(struct nw_ib_subnet *subnet,
                                           char *text,
                                           struct nw_ib_tables *tables);
NW_MUST_CHECK nw_status nw_ib_find_trace_ports(
    const struct nw_ib_subnet *subnet, struct nw_ib_tables *tables);

/* Reads a GUID of up to 16 hexadecimal digits, with or without "0x" before
 * them, and returns the text behind it. Returns NULL, and leaves *guid as it
 * was, if no GUID is there or a letter or digit follows it. */
const char *nw_ib_guid(const char *text, uint64_t *guid);

/* Returns the bytes/s of a word such as "4xQDR"; 0 if the word is not a
 * rate. */
double nw_ib_rate(const char *word);

/* nw_ibnet_load reads FILE[,map=FILE][,lft=FILE]; nw_ibnet_live runs commands
 * that read the fabric itself. */
NW_MUST_CHECK nw_status nw_ibnet_load(const char *what,
                                      enum nw_elements elements,
                                      nw_topology **out);
NW_MUST_CHECK nw_status nw_ibnet_live(enum nw_elements elements,
                                      nw_topology **out);

#endif
