/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise channel reach. */
#ifndef NW_CLI_CHANNEL_REACH_H
#define NW_CLI_CHANNEL_REACH_H

#include "cli/command.h"

/* How the adapter of a provider, or of each that has adapters where it is NULL,
 * reaches GPU memory. The command's exit code. */
int nw_cli_channel_reach(const struct nw_common *common, const char *provider);

#endif
