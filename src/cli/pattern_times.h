/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints two more parts of a profile: the bytes by kind of call, and the time
 * that the ranks spent in MPI. */
#ifndef NW_CLI_PATTERN_TIMES_H
#define NW_CLI_PATTERN_TIMES_H

#include "base/json.h"

#include <nodewise/pattern.h>

/* "point-to-point 3 MB in 4 messages, collective 1 MB in 2"; nothing if the
 * pattern has no such figures. */
void nw_cli_add_traffic(const nw_pattern *pattern, struct nw_text *text);
/* "1.2 s of 3 s (40 %), of all ranks 1 s to 1.4 s"; nothing likewise. */
void nw_cli_add_mpi_time(const nw_pattern *pattern, struct nw_text *text);
/* The `most` calls that take longest as a table; nothing likewise. */
NW_MUST_CHECK nw_status nw_cli_add_call_times(const nw_pattern *pattern,
                                              size_t most,
                                              struct nw_text *text);
/* The keys "traffic" and "time", if the pattern has them. */
void nw_cli_times_json(const nw_pattern *pattern, struct nw_json *json);

#endif
