/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints after an error of usage. A hint says what to write instead. */
#ifndef NW_CLI_USAGE_HINT_H
#define NW_CLI_USAGE_HINT_H

#include "cli/command.h"

/* At the exit with NW_EXIT_USAGE a line on standard error names the place of a
 * forgotten --, or the known option that is nearest to an unknown one. Called
 * once, before the arguments are parsed; argv[0] is the command's name. */
void nw_cli_usage_hint(const struct nw_command *command, int argc, char **argv);

#endif
