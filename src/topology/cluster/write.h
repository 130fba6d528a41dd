/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of cluster files, in the order of the file; what it writes reads
 * back as the same machine. */
#ifndef NW_TOPOLOGY_CLUSTER_WRITE_H
#define NW_TOPOLOGY_CLUSTER_WRITE_H

#include "base/text.h"
#include "topology/topology.h"

/* A word, in quotes where YAML needs them. */
void nw_write_word(struct nw_text *text, const char *word);
/* "{bandwidth: 12.5GB/s, latency: 500ns}", or one bandwidth where that is all
 * there is to say. */
void nw_write_figures(struct nw_text *text, const nw_topology *topology,
                      int32_t class, enum nw_link_kind kind);
/* True where the class is what a link of that kind is assumed to be. */
bool nw_write_is_assumed(const nw_topology *topology, int32_t class,
                         enum nw_link_kind kind);
/* Names as a list of Slurm's, in order. */
NW_MUST_CHECK nw_status nw_write_names(struct nw_text *text,
                                       const char *const *names, size_t count);

NW_MUST_CHECK nw_status nw_write_type(struct nw_text *text,
                                      const nw_topology *topology,
                                      const struct nw_node_type *type);
NW_MUST_CHECK nw_status nw_write_network(struct nw_text *text,
                                         const nw_topology *topology);
/* Of a graph that has them. */
NW_MUST_CHECK nw_status nw_write_tables(struct nw_text *text,
                                        const nw_topology *topology);
NW_MUST_CHECK nw_status nw_write_nodes(struct nw_text *text,
                                       const nw_topology *topology);

#endif
