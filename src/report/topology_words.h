/* SPDX-License-Identifier: BSD-3-Clause */
/* How a machine's parts are called, in trees and pictures alike. */
#ifndef NW_REPORT_TOPOLOGY_WORDS_H
#define NW_REPORT_TOPOLOGY_WORDS_H

#include "base/text.h"
#include "topology/topology.h"

/* "0-3,8" of ascending numbers, cut with "..." after a few ranges. */
void nw_words_ranges(struct nw_text *text, const int32_t *values, size_t count);
/* "n[001-128]", cut with "..." where long. */
NW_MUST_CHECK nw_status nw_words_names(struct nw_text *text,
                                       const char *const *names, size_t count);
/* "12.5 GB/s", both directions where they differ. Returns out. */
const char *nw_words_bandwidth(const struct nw_link_class *class, char out[64]);
/* "16 nodes, 256 cores, 64 GPUs". */
void nw_words_counts(struct nw_text *text, const nw_topology *topology);

#endif
