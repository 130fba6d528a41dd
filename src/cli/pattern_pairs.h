/* SPDX-License-Identifier: BSD-3-Clause */
/* The pairs of ranks that send most, and the pairs whose bytes differ between
 * two patterns, as tables. */
#ifndef NW_CLI_PATTERN_PAIRS_H
#define NW_CLI_PATTERN_PAIRS_H

#include <nodewise/pattern.h>

/* The `most` heaviest pairs, bytes of all kinds together. Messages of a rank to
 * itself do not count. The caller frees *out. */
NW_MUST_CHECK nw_status nw_cli_pattern_top(const nw_pattern *pattern,
                                           int32_t most, char **out);
/* The totals of `before` and `after`, and the `most` pairs that differ most. */
NW_MUST_CHECK nw_status nw_cli_pattern_diff(const nw_pattern *before,
                                            const nw_pattern *after,
                                            int32_t most, char **out);

#endif
