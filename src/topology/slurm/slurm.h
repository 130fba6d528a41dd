/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slurm's view of the network while it is read: switches, each with the
 * switches and nodes below it. topology.conf and topology.yaml both become
 * this.
 */
#ifndef NW_TOPOLOGY_SLURM_SLURM_H
#define NW_TOPOLOGY_SLURM_SLURM_H

#include "base/hostlist.h"
#include "topology/network/fabric.h"
#include "topology/parse/yaml.h"

struct nw_slurm_switch {
    char *name;       /* owned */
    const char *file; /* where it is named */
    int line;
    struct nw_hostlist below, nodes;
    int32_t parent; /* first that named it, -1 at the top */
    int32_t number; /* in the network: parents before children */
    uint8_t look;   /* while loops are looked for */
};

struct nw_slurm {
    const char *file; /* the one that is read */
    nw_topology *topology;
    struct nw_hostlist included; /* names of files, for messages */
    struct nw_slurm_switch *at;
    size_t count, capacity;
    int32_t *by_name;
    size_t link_count; /* more than switches: some have several above */
};

/* Takes `name`. */
NW_MUST_CHECK nw_status nw_slurm_add(struct nw_slurm *slurm, char *name,
                                     int line);
/* Whether `size` may stand behind those: a larger block is of whole smaller
 * ones. */
bool nw_slurm_size_fits(const int32_t *sizes, size_t count, int32_t size);
/* Groups blocks, in order, under switches of sizes[i] / sizes[0] blocks. */
NW_MUST_CHECK nw_status nw_slurm_group(struct nw_slurm *slurm,
                                       const int32_t *sizes, size_t count);
/* The network and the nodes of all switches. */
NW_MUST_CHECK nw_status nw_slurm_build(struct nw_slurm *slurm,
                                       enum nw_elements elements);
void nw_slurm_fini(struct nw_slurm *slurm);

/* topology.conf, cut up in place; topology.yaml, the topology named or the
 * default one. */
NW_MUST_CHECK nw_status nw_slurm_conf(struct nw_slurm *slurm, char *text,
                                      enum nw_elements elements);
NW_MUST_CHECK nw_status nw_slurm_yaml(struct nw_slurm *slurm,
                                      const struct nw_yaml *root,
                                      const char *name,
                                      enum nw_elements elements);

/* The 'ring' and 'torus3d' of a topology.yaml. */
NW_MUST_CHECK nw_status nw_slurm_ring(struct nw_slurm *slurm,
                                      const struct nw_yaml *node,
                                      enum nw_elements elements);
NW_MUST_CHECK nw_status nw_slurm_torus(struct nw_slurm *slurm,
                                       const struct nw_yaml *node,
                                       enum nw_elements elements);

#endif
