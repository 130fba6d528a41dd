/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs work that may crash or hang in another program: a helper of Nodewise or
 * a command of the system. The program is started without fork(2), and does not
 * inherit libraries that are preloaded into this process. */
#ifndef NW_BASE_SPAWN_H
#define NW_BASE_SPAWN_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The program to start. */
struct nw_spawn {
    const char *program;          /* name of the helper */
    const char *const *arguments; /* after the name, at most 8; NULL at the
                                     end */
    const char *input;            /* text for its standard input, or NULL */
    size_t length;                /* length of the input in bytes */
    unsigned seconds;             /* wall-clock limit in seconds; 0: none */
    bool from_path;               /* `program` is a command of the system, found
                                     on the PATH, or a path */
    /* Called at least ten times per second with the output so far. Returns
     * false to kill the program. May be NULL. */
    bool (*watch)(void *user, const struct nw_text *answer);
    void *user;
};

/* The program was killed, by the time limit or by `watch`. */
enum { NW_SPAWN_TIMED_OUT = -1 };

/* Appends the program's standard output to `answer`. *how is the status from
 * waitpid, or NW_SPAWN_TIMED_OUT, or 0 if another part of this process has
 * already waited for the program. Returns an error if the helper is not
 * installed or cannot be started. */
NW_MUST_CHECK nw_status nw_spawn_run(const struct nw_spawn *spawn,
                                     struct nw_text *answer, int *how);
/* Waits for a child process until nw_clock_ns() is `until_ns`. Returns the
 * result of waitpid: the process ID, 0 if the child still runs, or -1 if it is
 * not a child of this process any more. */
pid_t nw_spawn_await(pid_t pid, uint64_t until_ns, int *how);

#endif
