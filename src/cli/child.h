/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts other programs, such as launchers, and waits for them. */
#ifndef NW_CLI_CHILD_H
#define NW_CLI_CHILD_H

#include <sys/types.h>

struct nw_child {
    const char *command; /* our command's name, for messages */
    char **argv;
    int out; /* file descriptor for standard output of the child; -1: that of
                this process */
    /* called in the child before execvp; may be NULL */
    void (*prepare)(void *user);
    void *user;
};

/* Runs the child, waits for its end and returns its exit status: 128 plus the
 * signal number if a signal ended it; 127 or 126, with a message, if it cannot
 * be started. Ctrl-C reaches the child through the terminal. This process
 * forwards SIGTERM and SIGHUP to the child, and survives them to clean up. */
int nw_child_run(const struct nw_child *child);
/* Returns the last signal that this process received during nw_child_run, or 0.
 * A launcher that a signal ends may still return 0. */
int nw_child_signal(void);
/* From now on, SIGTERM and SIGHUP end `child` and then this process. 0 restores
 * the previous signal handling. */
void nw_child_take_along(pid_t child);
/* Like fork(), but the child gets SIGTERM when this process ends, and ignores
 * Ctrl-C, so that only the parent handles it. */
pid_t nw_child_fork(void);
/* Called in a new child: the kernel sends it SIGTERM when `parent` ends, even
 * if SIGKILL ended `parent`. Ends the child if `parent` has already ended. */
void nw_child_follow(pid_t parent);
/* Waits for a child and returns its exit status as nw_child_run does. Sends it
 * SIGTERM after `seconds`, and SIGKILL 5 s later. */
int nw_child_end(pid_t child, int seconds);

#endif
