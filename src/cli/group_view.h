/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the traffic of a training step of a neural network for each kind of
 * group of ranks (tensor, data, ...). */
#ifndef NW_CLI_GROUP_VIEW_H
#define NW_CLI_GROUP_VIEW_H

#include "cli/cost_view.h"

/* Appends a table with the bytes of each kind of group on each level of the
 * machine, and its time, for each mapping. Appends nothing if the pattern is
 * not a training step. */
NW_MUST_CHECK nw_status nw_cli_groups_add(struct nw_text *text,
                                          const nw_topology *topology,
                                          const struct nw_cost_column *column,
                                          size_t count);
/* Adds the key `groups` to the open JSON object, with the costs of each phase
 * of `cost`; adds nothing if the pattern is not a training step. */
void nw_cli_groups_json(struct nw_json *json, const nw_topology *topology,
                        const struct nw_cost *cost);

#endif
