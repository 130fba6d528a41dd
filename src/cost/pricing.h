/* SPDX-License-Identifier: BSD-3-Clause */
/* nw_cost_evaluate with a limit on the number of threads. */
#ifndef NW_COST_PRICING_H
#define NW_COST_PRICING_H

#include <nodewise/cost.h>

struct nw_pricing {
    const nw_topology *topology;
    const nw_pattern *pattern;
    const nw_mapping *mapping;
    int32_t threads; /* at most; 0: those that are here, see base/parallel.h */
    const struct nw_pattern_phases *phases; /* the pattern's; NULL: none */
};

/* As nw_cost_evaluate; the same to the last bit on any number of threads. */
NW_MUST_CHECK nw_status nw_cost_price(const struct nw_pricing *pricing,
                                      struct nw_cost *out);
/* A copy that the caller calls nw_cost_fini on. */
NW_MUST_CHECK nw_status nw_cost_copy(const struct nw_cost *cost,
                                     struct nw_cost *out);

/* The exchanges that a cost adds up: the largest number of messages of an edge;
 * 1 without message counts, or if the pattern is one training step. */
uint64_t nw_cost_exchanges(const nw_pattern *pattern,
                           const struct nw_cost *cost);

#endif
