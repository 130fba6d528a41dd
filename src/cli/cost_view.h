/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the costs of mappings in the same form for every command. */
#ifndef NW_CLI_COST_VIEW_H
#define NW_CLI_COST_VIEW_H

#include <nodewise/cost.h>
#include <nodewise/report.h>

#include "base/json.h"

/* One column of the cost table. Borrowed. */
struct nw_cost_column {
    const char *name;
    const struct nw_cost *cost;
};

/* Adds the keys hop_bytes, max_congestion (both also for host and GPU messages
 * alone), latency, time, remote_gpus and levels to the open JSON object. */
void nw_cli_cost_json(struct nw_json *json, const nw_topology *topology,
                      const struct nw_cost *cost);

/* Adds the key headline {metric, default, mapped, percent_less, verdict} to the
 * open JSON object. */
void nw_cli_headline_json(struct nw_json *json,
                          const struct nw_headline *headline);
/* Appends to `text` how the mapping compares with the default, and the two
 * costs compared, after "NAME: " if `name` is not NULL. */
NW_MUST_CHECK nw_status nw_cli_headline_add(struct nw_text *text,
                                            const char *name,
                                            const struct nw_headline *headline);

/* Makes a text with a table of costs, with one row per mapping, whose last
 * column is the improvement in the objective over the first mapping in percent.
 * A table of bytes by level and the most congested link of each mapping follow.
 * The caller frees *out. */
NW_MUST_CHECK nw_status nw_cli_cost_table(const nw_topology *topology,
                                          enum nw_objective objective,
                                          const struct nw_cost_column *columns,
                                          size_t count, char **out);

#endif
