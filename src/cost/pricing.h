/* SPDX-License-Identifier: BSD-3-Clause */
/* nw_cost_evaluate with a limit on the number of threads. */
#ifndef NW_COST_PRICING_H
#define NW_COST_PRICING_H

#include <nodewise/cost.h>

struct nw_pricing {
    const nw_topology *topology;
    const nw_pattern *pattern;
    const nw_mapping *mapping;
    int32_t threads; /* maximum number of threads; 0: that of
                        nw_parallel_size(0) */
};

/* Like nw_cost_evaluate; the result is the same to the last bit for any number
 * of threads. */
NW_MUST_CHECK nw_status nw_cost_price(const struct nw_pricing *pricing,
                                      struct nw_cost *out);
/* Copies a cost. The caller calls nw_cost_fini for *out. */
NW_MUST_CHECK nw_status nw_cost_copy(const struct nw_cost *cost,
                                     struct nw_cost *out);

/* Returns the number of exchanges that a cost sums up: the largest number of
 * messages of an edge; 1 without message counts, or if the pattern is one
 * training step. */
uint64_t nw_cost_exchanges(const nw_pattern *pattern,
                           const struct nw_cost *cost);

#endif
