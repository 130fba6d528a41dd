/* SPDX-License-Identifier: BSD-3-Clause */
/* The traffic of a training step by kind of group. */
#ifndef NW_CLI_GROUP_VIEW_H
#define NW_CLI_GROUP_VIEW_H

#include <nodewise/cost.h>

#include "cli/cost_view.h"

/* Costs of the traffic of one group at a time. */
struct nw_cli_groups {
    struct nw_cost *cost[NW_PHASE_COUNT]; /* [count], or NULL: no traffic */
    size_t count;                         /* mappings */
};

/* Prices the groups of a pattern of `generate:training` or of its file. Other
 * patterns have none. The caller calls nw_cli_groups_fini, also after a
 * failure. */
NW_MUST_CHECK nw_status nw_cli_groups_price(const nw_topology *topology,
                                            const nw_pattern *pattern,
                                            nw_mapping *const *mapping,
                                            size_t count,
                                            struct nw_cli_groups *out);
/* The groups that have traffic, for a report. Borrows `groups`; returns their
 * count. */
size_t nw_cli_groups_report(const struct nw_cli_groups *groups,
                            struct nw_report_group out[NW_PHASE_COUNT]);
void nw_cli_groups_fini(struct nw_cli_groups *groups);

/* A table of the bytes on each level and of the time by group; nothing without
 * groups. */
NW_MUST_CHECK nw_status nw_cli_groups_add(struct nw_text *text,
                                          const nw_topology *topology,
                                          const struct nw_cli_groups *groups,
                                          const struct nw_cost_column *columns);
/* The key `groups` of the mapping with this index. */
void nw_cli_groups_json(struct nw_json *json, const nw_topology *topology,
                        const struct nw_cli_groups *groups, size_t mapping);

#endif
