/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the pairs of ranks that send most, and of the pairs whose bytes
 * differ between two patterns. */
#ifndef NW_CLI_PATTERN_PAIRS_H
#define NW_CLI_PATTERN_PAIRS_H

#include <nodewise/pattern.h>

/* Makes a table of the `most` pairs of ranks with the most bytes, summed over
 * all kinds of memory. Messages of a rank to itself do not count. The caller
 * frees *out. */
NW_MUST_CHECK nw_status nw_cli_pattern_top(const nw_pattern *pattern,
                                           int32_t most, char **out);
/* Makes a table of the totals of `before` and `after`, and of the `most` pairs
 * that differ most. The caller frees *out. */
NW_MUST_CHECK nw_status nw_cli_pattern_diff(const nw_pattern *before,
                                            const nw_pattern *after,
                                            int32_t most, char **out);

#endif
