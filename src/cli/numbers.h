/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files with one number a line: loads of ranks, speeds of elements. */
#ifndef NW_CLI_NUMBERS_H
#define NW_CLI_NUMBERS_H

#include <nodewise/status.h>
#include <stddef.h>
#include <stdint.h>

/* Read a file with exactly `count` numbers: loads, which are integers, or
 * speeds, which are at least 0. The caller frees *out. */
NW_MUST_CHECK nw_status nw_cli_read_weights(const char *path, size_t count,
                                            uint64_t **out);
NW_MUST_CHECK nw_status nw_cli_read_speeds(const char *path, size_t count,
                                           double **out);

#endif
