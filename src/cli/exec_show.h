/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise exec --show: prints the resources of a rank. */
#ifndef NW_CLI_EXEC_SHOW_H
#define NW_CLI_EXEC_SHOW_H

#include <stdbool.h>
#include <stdint.h>

/* The CPUs and the memory this process has now and the variables that choose
 * its devices, in one line; the exit status. */
int nw_exec_show(int32_t rank, bool as_json);

#endif
