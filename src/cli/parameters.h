/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise map --show-parameters: the tuned numbers of the mapping engine. */
#ifndef NW_CLI_PARAMETERS_H
#define NW_CLI_PARAMETERS_H

#include "cli/command.h"

/* Prints the parameters as text or as JSON; returns the exit status. */
int nw_cli_parameters(const struct nw_common *common);

#endif
