/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise exec --show: prints the resources of a rank. */
#ifndef NW_CLI_EXEC_SHOW_H
#define NW_CLI_EXEC_SHOW_H

#include <stdbool.h>
#include <stdint.h>

/* Prints in one line the CPUs and the memory nodes that this process may use,
 * and the variables that select its devices. Returns the exit status. */
int nw_exec_show(int32_t rank, bool as_json);

#endif
