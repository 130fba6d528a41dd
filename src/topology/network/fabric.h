/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a reader of a fabric, such as an InfiniBand subnet or a Slurm
 * file: hosts by name with their NICs, and the switch of each NIC. The reader
 * makes the network; the functions declared here make the nodes.
 */
#ifndef NW_TOPOLOGY_NETWORK_FABRIC_H
#define NW_TOPOLOGY_NETWORK_FABRIC_H

#include "topology/topology.h"

/* A NIC of a host. */
struct nw_fabric_card {
    const char *name; /* "mlx5_0"; NULL if it has no name; borrowed */
    int32_t at;       /* switch to which the NIC is connected */
    int32_t class;    /* class of the link to this switch */
    size_t origin;    /* not used here; free for the caller */
};

/* A host of the fabric. */
struct nw_fabric_host {
    const char *name; /* borrowed */
    const char *file; /* file that defines it; borrowed */
    int line;
    int32_t first, count; /* its NICs are card[first] to card[first + count -
                             1] */
};

struct nw_fabric {
    const char *file;            /* file of the hosts that are added next */
    nw_topology *topology;       /* must already have its network */
    bool cardless;               /* the source names switches of hosts but no
                                    NICs */
    struct nw_fabric_host *host; /* owned, as is `card` */
    size_t host_count, host_capacity;
    struct nw_fabric_card *card;
    size_t card_count, card_capacity;
};

/* nw_fabric_add_host appends a host without NICs. nw_fabric_add_card appends a
 * NIC to the last host. */
NW_MUST_CHECK nw_status nw_fabric_add_host(struct nw_fabric *fabric,
                                           const char *name, int line);
NW_MUST_CHECK nw_status nw_fabric_add_card(struct nw_fabric *fabric,
                                           const struct nw_fabric_card *card);
/* Makes the nodes in the natural order of their names (n2 before n10), and
 * finishes the topology. Each node has one core, since a fabric does not
 * describe the inside. If two hosts have one name, `cardless` merges them;
 * otherwise returns NW_EFORMAT, with both lines. Returns NW_EFORMAT also
 * without hosts. */
NW_MUST_CHECK nw_status nw_fabric_finish(struct nw_fabric *fabric,
                                         enum nw_elements elements);
/* Adds the file's name and line 1 to NW_EFORMAT of a function that does not
 * know the file, because the fabric as a whole is invalid. Returns `status`. */
nw_status nw_fabric_blame(const char *file, nw_status status);
/* nw_fabric_finish in two steps. nw_fabric_place makes the nodes; host i then
 * is node i, and its NIC c has port port_first[i] + c. nw_fabric_close finishes
 * the topology. */
NW_MUST_CHECK nw_status nw_fabric_place(struct nw_fabric *fabric);
NW_MUST_CHECK nw_status nw_fabric_close(const struct nw_fabric *fabric,
                                        enum nw_elements elements);
void nw_fabric_fini(struct nw_fabric *fabric);

#endif
