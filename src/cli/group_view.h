/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the traffic of a training step by kind of group (tensor, data,
 * ...). */
#ifndef NW_CLI_GROUP_VIEW_H
#define NW_CLI_GROUP_VIEW_H

#include <nodewise/cost.h>

#include "cli/cost_view.h"

/* Costs of several mappings for the traffic of each kind of group alone. */
struct nw_cli_groups {
    struct nw_cost *cost[NW_PHASE_COUNT]; /* [count] costs of each mapping;
                                             NULL: no traffic */
    size_t count;                         /* number of mappings */
};

/* Evaluates `count` mappings for each kind of group of a pattern of
 * `generate:training` or of its file; other patterns have no groups. The caller
 * calls nw_cli_groups_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_cli_groups_price(const nw_topology *topology,
                                            const nw_pattern *pattern,
                                            nw_mapping *const *mapping,
                                            size_t count,
                                            struct nw_cli_groups *out);
/* Stores the groups that have traffic in `out`, for a report, and returns their
 * number. `out` points into `groups`. */
size_t nw_cli_groups_report(const struct nw_cli_groups *groups,
                            struct nw_report_group out[NW_PHASE_COUNT]);
void nw_cli_groups_fini(struct nw_cli_groups *groups);

/* Appends a table with the bytes on each level and the time for each kind of
 * group. Appends nothing if the pattern has no groups. */
NW_MUST_CHECK nw_status nw_cli_groups_add(struct nw_text *text,
                                          const nw_topology *topology,
                                          const struct nw_cli_groups *groups,
                                          const struct nw_cost_column *columns);
/* Adds the key `groups` for the mapping with index `mapping`. */
void nw_cli_groups_json(struct nw_json *json, const nw_topology *topology,
                        const struct nw_cli_groups *groups, size_t mapping);

#endif
