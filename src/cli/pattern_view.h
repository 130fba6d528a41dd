/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a summary of a pattern as text or as JSON. */
#ifndef NW_CLI_PATTERN_VIEW_H
#define NW_CLI_PATTERN_VIEW_H

#include <nodewise/pattern.h>

/* Make the summary as a table or as JSON. `how` is a sentence that says how the
 * pattern was scaled, or NULL. The caller frees *out. */
NW_MUST_CHECK nw_status nw_cli_pattern_table(const nw_pattern *pattern,
                                             const char *how, char **out);
NW_MUST_CHECK nw_status nw_cli_pattern_json(const nw_pattern *pattern,
                                            const char *how, char **out);

#endif
