/* SPDX-License-Identifier: BSD-3-Clause */
/* The two halves of the tree: the network, and the contents of a node. */
#ifndef NW_REPORT_TOPOLOGY_PARTS_H
#define NW_REPORT_TOPOLOGY_PARTS_H

#include <nodewise/report.h>

#include "report/topology_words.h"

/* Switches, their links, and the nodes below them. */
NW_MUST_CHECK nw_status nw_parts_of_network(nw_table *table,
                                            const nw_topology *topology);
/* The inside of one node of that type, with direct links. */
NW_MUST_CHECK nw_status nw_parts_of_type(nw_table *table,
                                         const nw_topology *topology,
                                         int32_t type);

/* Adds the cell of a count: empty for one, with "each" if several parents have
 * that many. */
void nw_parts_count(nw_table *table, size_t count, size_t each);

/* The cells link, bandwidth, latency, note of a link class; -1 leaves them
 * empty. */
void nw_parts_figures(nw_table *table, const nw_topology *topology,
                      int32_t class);

#endif
