/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts a launcher and waits for it. */
#ifndef NW_CLI_CHILD_H
#define NW_CLI_CHILD_H

#include <sys/types.h>

struct nw_child {
    const char *command; /* our command's name, for messages */
    char **argv;
    int out; /* its standard output; -1: ours */
    /* called in the child before it becomes argv; may be NULL */
    void (*prepare)(void *user);
    void *user;
};

/* Runs the child and returns its exit status: 128 plus the number of a signal;
 * 127 or 126, with a message, if it cannot be started. Ctrl-C reaches the child
 * through the terminal. This process passes SIGTERM and SIGHUP on and stays to
 * clean up. */
int nw_child_run(const struct nw_child *child);
/* The last signal that asked this process to end while it waited, or 0. A
 * launcher that a signal ends may still report success. */
int nw_child_signal(void);
/* From now on, SIGTERM and SIGHUP end this child and then this process; 0
 * stands for no child. */
void nw_child_take_along(pid_t child);
/* Like fork(), but the child ends when this process ends: it would otherwise
 * wait for us until a timeout. Only this process handles Ctrl-C, which reaches
 * both. */
pid_t nw_child_fork(void);
/* Called in a new child: it ends when `parent` does, even if that is killed. */
void nw_child_follow(pid_t parent);
/* The exit status for a state that waitpid() returned. */
int nw_child_status(int state);

#endif
