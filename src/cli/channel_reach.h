/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise channel reach. */
#ifndef NW_CLI_CHANNEL_REACH_H
#define NW_CLI_CHANNEL_REACH_H

#include "cli/command.h"

/* Prints how the adapter of a libfabric provider accesses GPU memory; NULL
 * stands for every provider that has adapters. Fails if this machine has no
 * GPU. Returns the command's exit status. */
int nw_cli_channel_reach(const struct nw_common *common, const char *provider);

#endif
