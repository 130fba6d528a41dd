/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of cluster files. Its parts follow the order of the file. Reading
 * the result gives the same machine. */
#ifndef NW_TOPOLOGY_CLUSTER_WRITE_H
#define NW_TOPOLOGY_CLUSTER_WRITE_H

#include "base/text.h"
#include "topology/topology.h"

/* Appends a word, in quotes if YAML needs them. */
void nw_write_word(struct nw_text *text, const char *word);
/* Appends "{bandwidth: 12.5GB/s, latency: 500ns}", or a bandwidth only if the
 * rest is the default. */
void nw_write_figures(struct nw_text *text, const nw_topology *topology,
                      int32_t class, enum nw_link_kind kind);
/* Returns true if the class has the figures that are assumed for this kind. */
bool nw_write_is_assumed(const nw_topology *topology, int32_t class,
                         enum nw_link_kind kind);
/* Appends the names as a list in Slurm's form, in their order. */
NW_MUST_CHECK nw_status nw_write_names(struct nw_text *text,
                                       const char *const *names, size_t count);

NW_MUST_CHECK nw_status nw_write_type(struct nw_text *text,
                                      const nw_topology *topology,
                                      const struct nw_node_type *type);
NW_MUST_CHECK nw_status nw_write_network(struct nw_text *text,
                                         const nw_topology *topology);
/* Writes the forwarding tables of a graph that has them. */
NW_MUST_CHECK nw_status nw_write_tables(struct nw_text *text,
                                        const nw_topology *topology);
NW_MUST_CHECK nw_status nw_write_nodes(struct nw_text *text,
                                       const nw_topology *topology);
/* Writes the second level of NVLink domains, if there is one. */
NW_MUST_CHECK nw_status nw_write_domains(struct nw_text *text,
                                         const nw_topology *topology);

#endif
