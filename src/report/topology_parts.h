/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds the lines of the topology's tree: the network, the uplinks of NVLink
 * domains, and the contents of a node. */
#ifndef NW_REPORT_TOPOLOGY_PARTS_H
#define NW_REPORT_TOPOLOGY_PARTS_H

#include <nodewise/report.h>

#include "report/topology_words.h"

/* Adds switches, their links, and the nodes attached to them. */
NW_MUST_CHECK nw_status nw_parts_of_network(nw_table *table,
                                            const nw_topology *topology);
/* Adds a line for each link class of the uplinks of NVLink domains. */
NW_MUST_CHECK nw_status nw_parts_of_domains(nw_table *table,
                                            const nw_topology *topology);
/* Adds the contents of one node of type `type`, with its direct links. */
NW_MUST_CHECK nw_status nw_parts_of_type(nw_table *table,
                                         const nw_topology *topology,
                                         int32_t type);

/* Adds the cell with a count. If each of several parents has `each` items
 * (`count` is their sum), it says "N each", also for 1. If there is one parent,
 * it says N, and is empty for 1. */
void nw_parts_count(nw_table *table, size_t count, size_t each);

/* Adds the cells for the link, its bandwidth, its latency and a note, from a
 * link class. Adds nothing if `class` is -1. */
void nw_parts_figures(nw_table *table, const nw_topology *topology,
                      int32_t class);

#endif
