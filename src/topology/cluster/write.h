/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of cluster files. Its parts follow the order of the file. Reading
 * the result gives the same machine. The writer returns NW_EUNSUPPORTED if the
 * links of one GPU switch have different figures, which the format cannot
 * express. Hierarchies and matrices have no cluster file (NW_EINVAL). */
#ifndef NW_TOPOLOGY_CLUSTER_WRITE_H
#define NW_TOPOLOGY_CLUSTER_WRITE_H

#include "base/text.h"
#include "topology/topology.h"

/* Appends a word, in double quotes unless it is certain that YAML does not need
 * them. */
void nw_write_word(struct nw_text *text, const char *word);
/* Appends the properties of a link class whose reader expects the kind `kind`.
 * Writes only the bandwidth (12.5GB/s) if the latency is the default and the
 * link has no other property. Otherwise writes a map such as {kind: xgmi,
 * bandwidth: 12.5GB/s, latency: 500ns} without the keys that would repeat
 * defaults. */
void nw_write_figures(struct nw_text *text, const nw_topology *topology,
                      int32_t class, enum nw_link_kind kind);
/* Returns true if the class is equal to nw_link_assumed(kind): also in its kind
 * and in being marked as assumed. */
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
