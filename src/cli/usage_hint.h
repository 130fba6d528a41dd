/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints on standard error after wrong usage, which say what to write
 * instead. */
#ifndef NW_CLI_USAGE_HINT_H
#define NW_CLI_USAGE_HINT_H

#include "cli/command.h"

/* Registers a function that is called at exit. After exit with NW_EXIT_USAGE,
 * it prints where a "--" is missing, or which known option has a name similar
 * to an unknown one. Called once, before the arguments are parsed; argv[0] is
 * the command's name. */
void nw_cli_usage_hint(const struct nw_command *command, int argc, char **argv);

#endif
