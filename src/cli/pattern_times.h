/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints two more parts of a profile: the bytes by kind of call, and the time
 * that the ranks spent in MPI. */
#ifndef NW_CLI_PATTERN_TIMES_H
#define NW_CLI_PATTERN_TIMES_H

#include "base/json.h"

#include <nodewise/pattern.h>

/* Appends the traffic by kind of call, such as "point-to-point 3 MB in 4
 * messages, collective 1 MB in 2 messages". Appends nothing if the pattern does
 * not distinguish the kinds of calls. */
void nw_cli_add_traffic(const nw_pattern *pattern, struct nw_text *text);
/* Appends the time that a rank spent in MPI, such as "mean 1.2 s (40.0 % of 3
 * s), min 1 s, max 1.4 s"; appends nothing if the pattern has no times. */
void nw_cli_add_mpi_time(const nw_pattern *pattern, struct nw_text *text);
/* Appends a table of the first `most` MPI calls of the pattern, which lists
 * them by descending time; appends nothing if the pattern has no times. */
NW_MUST_CHECK nw_status nw_cli_add_call_times(const nw_pattern *pattern,
                                              size_t most,
                                              struct nw_text *text);
/* Adds the keys "traffic" and "time", if the pattern has them. */
void nw_cli_times_json(const nw_pattern *pattern, struct nw_json *json);

#endif
