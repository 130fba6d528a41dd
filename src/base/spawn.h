/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that may crash or never end, in a helper program of ours or in a command
 * of the system. The process that asks is not forked, and no other process
 * inherits its preloads. */
#ifndef NW_BASE_SPAWN_H
#define NW_BASE_SPAWN_H

#include "base/text.h"

#include <stdbool.h>

struct nw_spawn {
    const char *program;          /* name of the helper */
    const char *const *arguments; /* after the name; NULL at the end */
    const char *input;            /* its standard input, or NULL */
    size_t length;                /* of the input */
    unsigned seconds;             /* wall-clock limit */
    bool from_path;               /* a command of the system, found by PATH */
};

enum { NW_SPAWN_TIMED_OUT = -1 };

/* Appends the helper's standard output to `answer`. `how` is what waitpid says,
 * 0 if the program took that answer away, or NW_SPAWN_TIMED_OUT. An error if
 * the helper is not installed or cannot be started. */
NW_MUST_CHECK nw_status nw_spawn_run(const struct nw_spawn *spawn,
                                     struct nw_text *answer, int *how);

#endif
