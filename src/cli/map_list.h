/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise map --list. */
#ifndef NW_CLI_MAP_LIST_H
#define NW_CLI_MAP_LIST_H

#include "cli/command.h"

/* The algorithms, as a table or as JSON; the exit status. */
int nw_cli_map_list(const struct nw_common *common);

#endif
