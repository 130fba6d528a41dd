/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a launcher to learn its version. */
#ifndef NW_CLI_LAUNCHER_VERSION_H
#define NW_CLI_LAUNCHER_VERSION_H

#include <stdbool.h>
#include <stddef.h>

enum {
    NW_ASK_SECONDS = 20
}; /* seconds that nw_cli_ask waits; so long because a busy machine starts
      programs slowly */

/* Runs `NAME --version` and stores as much of the output as fits into `answer`,
 * and a NUL. `answer` is "" if the launcher cannot be started. If the program
 * does not end in time, kills it and returns false. */
bool nw_cli_ask(const char *name, char *answer, size_t room);

#endif
