/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fabric while it is read: hosts by name with their cards and the switches
 * these are joined to. Whoever reads a fabric (InfiniBand, Slurm) makes the
 * network itself; this makes the nodes.
 */
#ifndef NW_TOPOLOGY_NETWORK_FABRIC_H
#define NW_TOPOLOGY_NETWORK_FABRIC_H

#include "topology/topology.h"

struct nw_fabric_card {
    const char *name; /* "mlx5_0"; NULL where it has none; borrowed */
    int32_t at;       /* switch */
    int32_t class;    /* of the link to it */
    size_t origin;    /* the caller's own */
};

struct nw_fabric_host {
    const char *name; /* borrowed */
    const char *file; /* where it was named; borrowed */
    int line;
    int32_t first, count; /* cards */
};

struct nw_fabric {
    const char *file;            /* of the hosts that are added next */
    nw_topology *topology;       /* its network is taken already */
    bool cardless;               /* hosts are joined by themselves */
    struct nw_fabric_host *host; /* owned, as is `card` */
    size_t host_count, host_capacity;
    struct nw_fabric_card *card;
    size_t card_count, card_capacity;
};

/* Appends a card to the last host, or a host without cards. */
NW_MUST_CHECK nw_status nw_fabric_add_host(struct nw_fabric *fabric,
                                           const char *name, int line);
NW_MUST_CHECK nw_status nw_fabric_add_card(struct nw_fabric *fabric,
                                           const struct nw_fabric_card *card);
/* Makes the nodes, in the natural order of their names (n2 before n10), each
 * with one core, since a fabric does not say what is inside, and finishes the
 * topology. NW_EFORMAT names both lines where two hosts have one name. */
NW_MUST_CHECK nw_status nw_fabric_finish(struct nw_fabric *fabric,
                                         enum nw_elements elements);
/* The two halves of it: makes the nodes, after which host i is node i and its
 * card c has port port_first[i] + c; then finishes. */
NW_MUST_CHECK nw_status nw_fabric_place(struct nw_fabric *fabric);
NW_MUST_CHECK nw_status nw_fabric_close(const struct nw_fabric *fabric,
                                        enum nw_elements elements);
void nw_fabric_fini(struct nw_fabric *fabric);

/* True where a name can stand in a cluster file and in a list of hosts. */
bool nw_fabric_is_name(const char *name);

#endif
