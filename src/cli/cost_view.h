/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of a mapping as every command shows them. */
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

/* hop_bytes, max_congestion, their layer twins, latency, remote_gpus and
 * levels, as keys of the object that is open. */
void nw_cli_cost_json(struct nw_json *json, const nw_topology *topology,
                      const struct nw_cost *cost);

/* headline {metric, default, mapped, percent_less, verdict} in the object that
 * is open. */
void nw_cli_headline_json(struct nw_json *json,
                          const struct nw_headline *headline);
/* The verdict and its figures at the end of `text`; with a name, that of the
 * mapping comes first. */
NW_MUST_CHECK nw_status nw_cli_headline_add(struct nw_text *text,
                                            const char *name,
                                            const struct nw_headline *headline);

/* The figures side by side, one row a mapping; the last column is the
 * improvement in the objective over the first row, in percent. The caller
 * frees *out. */
NW_MUST_CHECK nw_status nw_cli_cost_table(const nw_topology *topology,
                                          enum nw_objective objective,
                                          const struct nw_cost_column *columns,
                                          size_t count, char **out);

#endif
