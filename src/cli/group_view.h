/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the traffic of a training step by kind of group (tensor, data,
 * ...). */
#ifndef NW_CLI_GROUP_VIEW_H
#define NW_CLI_GROUP_VIEW_H

#include "cli/cost_view.h"

/* Appends a table with the bytes on each level and the time for each kind of
 * group. Appends nothing if the pattern is no training step. */
NW_MUST_CHECK nw_status nw_cli_groups_add(struct nw_text *text,
                                          const nw_topology *topology,
                                          const struct nw_cost_column *column,
                                          size_t count);
/* Adds the key `groups` with the phases of `cost`. */
void nw_cli_groups_json(struct nw_json *json, const nw_topology *topology,
                        const struct nw_cost *cost);

#endif
