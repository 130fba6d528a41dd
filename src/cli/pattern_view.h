/* SPDX-License-Identifier: BSD-3-Clause */
/* Summary of a pattern as text and as JSON. */
#ifndef NW_CLI_PATTERN_VIEW_H
#define NW_CLI_PATTERN_VIEW_H

#include <nodewise/pattern.h>

/* `how` says how the pattern was scaled, or is NULL. The caller frees *out. */
NW_MUST_CHECK nw_status nw_cli_pattern_table(const nw_pattern *pattern,
                                             const char *how, char **out);
NW_MUST_CHECK nw_status nw_cli_pattern_json(const nw_pattern *pattern,
                                            const char *how, char **out);

#endif
