/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a program to learn its version. */
#ifndef NW_CLI_ASK_H
#define NW_CLI_ASK_H

#include <stdbool.h>
#include <stddef.h>

enum {
    NW_ASK_SECONDS = 20
}; /* seconds that nw_cli_ask waits; so long because a busy machine starts
      programs slowly */

/* Runs `NAME --version` and stores its output in `answer`, cut to `room` bytes;
 * "" if the program cannot be started. Returns false if the program does not
 * end in time; it is then killed. */
bool nw_cli_ask(const char *name, char *answer, size_t room);

#endif
