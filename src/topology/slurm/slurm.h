/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the readers of Slurm's network: switches, each with the switches
 * and nodes below it. The readers of topology.conf and topology.yaml both fill
 * it.
 */
#ifndef NW_TOPOLOGY_SLURM_SLURM_H
#define NW_TOPOLOGY_SLURM_SLURM_H

#include "base/hostlist.h"
#include "topology/network/fabric.h"
#include "topology/parse/yaml.h"

/* A switch or a block. */
struct nw_slurm_switch {
    char *name;       /* owned */
    const char *file; /* file in which the switch is defined */
    int line;
    struct nw_hostlist below, nodes;
    int32_t parent; /* the first switch that names this one as below it, or
                       "(top)"; -1: none */
    int32_t number; /* number in the network; `parent` has a lower one */
    uint8_t look;   /* state of the search for loops */
};

struct nw_slurm {
    const char *file; /* the file being read */
    nw_topology *topology;
    struct nw_hostlist included; /* names of included files, for messages */
    struct nw_slurm_switch *at;
    size_t count, capacity;
    int32_t *by_name;   /* indexes of the switches of the file, sorted by name
                         */
    size_t named_count; /* length of by_name, in which "(top)" is missing */
    size_t link_count;  /* may exceed the number of switches, since a switch may
                           have several parents */
};

/* Adds a switch. Takes ownership of `name`. */
NW_MUST_CHECK nw_status nw_slurm_add(struct nw_slurm *slurm, char *name,
                                     int line);
/* Returns true if `size` may follow the `count` block sizes, that is, if it is
 * a larger multiple of the last one or if `count` is 0. */
bool nw_slurm_size_fits(const int32_t *sizes, size_t count, int32_t size);
/* Groups the blocks, in order, under switches of sizes[1] / sizes[0] blocks
 * each, these under switches of sizes[2] / sizes[0] blocks each, and so on. If
 * several switches then have no switch above them, adds one that is above all
 * of them. */
NW_MUST_CHECK nw_status nw_slurm_group(struct nw_slurm *slurm,
                                       const int32_t *sizes, size_t count);
/* Makes the network, and the nodes of all switches. */
NW_MUST_CHECK nw_status nw_slurm_build(struct nw_slurm *slurm,
                                       enum nw_elements elements);
void nw_slurm_fini(struct nw_slurm *slurm);

/* nw_slurm_conf reads the text of a topology.conf, which it changes.
 * nw_slurm_yaml reads from a topology.yaml the topology `name`. If that is
 * NULL, it reads the default topology, or the first one if the file has no
 * default. */
NW_MUST_CHECK nw_status nw_slurm_conf(struct nw_slurm *slurm, char *text,
                                      enum nw_elements elements);
NW_MUST_CHECK nw_status nw_slurm_yaml(struct nw_slurm *slurm,
                                      const struct nw_yaml *root,
                                      const char *name,
                                      enum nw_elements elements);

/* nw_slurm_ring reads the 'ring' of a topology.yaml, or the same YAML values
 * made from the RingName lines of a topology.conf. nw_slurm_torus reads the
 * 'torus3d' of a topology.yaml. */
NW_MUST_CHECK nw_status nw_slurm_ring(struct nw_slurm *slurm,
                                      const struct nw_yaml *node,
                                      enum nw_elements elements);
NW_MUST_CHECK nw_status nw_slurm_torus(struct nw_slurm *slurm,
                                       const struct nw_yaml *node,
                                       enum nw_elements elements);

#endif
