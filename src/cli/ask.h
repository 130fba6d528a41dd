/* SPDX-License-Identifier: BSD-3-Clause */
/* A program asked for its version. */
#ifndef NW_CLI_ASK_H
#define NW_CLI_ASK_H

#include <stdbool.h>
#include <stddef.h>

enum { NW_ASK_SECONDS = 20 }; /* some take many where much else runs */

/* What `NAME --version` prints, as far as there is room; "" where it cannot be
 * started. False where it does not end in time, and is ended. */
bool nw_cli_ask(const char *name, char *answer, size_t room);

#endif
