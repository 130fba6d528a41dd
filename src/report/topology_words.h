/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of a machine's parts, for trees and pictures. */
#ifndef NW_REPORT_TOPOLOGY_WORDS_H
#define NW_REPORT_TOPOLOGY_WORDS_H

#include "base/text.h"
#include "topology/topology.h"

/* Appends ascending numbers as ranges, such as "0-3,8"; after a few ranges,
 * "..." replaces the rest. */
void nw_words_ranges(struct nw_text *text, const int32_t *values, size_t count);
/* Appends names as "n[001-128]"; "..." replaces the end of a long list. */
NW_MUST_CHECK nw_status nw_words_names(struct nw_text *text,
                                       const char *const *names, size_t count);
/* Writes "12.5 GB/s" to `out` and returns it; gives both directions if they
 * differ. */
const char *nw_words_bandwidth(const struct nw_link_class *class, char out[64]);
/* Appends counts such as "16 nodes, 256 cores, 64 GPUs" (or hardware threads,
 * if these are the topology's elements), and the number of NVLink domains on
 * each level if there are any. */
void nw_words_counts(struct nw_text *text, const nw_topology *topology);

#endif
