/* SPDX-License-Identifier: BSD-3-Clause */
/* A launcher, started and waited for. */
#ifndef NW_CLI_CHILD_H
#define NW_CLI_CHILD_H

#include <sys/types.h>

struct nw_child {
    const char *command; /* of ours, for what is said */
    char **argv;
    int out; /* its standard output; -1: ours */
    /* called in the child before it becomes argv; may be NULL */
    void (*prepare)(void *user);
    void *user;
};

/* Its exit status: 128 more than a signal's number, 127 or 126 where it cannot
 * be started, which is said. Ctrl-C reaches it through the terminal, and
 * SIGTERM and SIGHUP are passed on: this process stays to clean up. */
int nw_child_run(const struct nw_child *child);
/* The last signal that came to end this process while it waited, 0 where none
 * did: a launcher that is told to end may say that all went well. */
int nw_child_signal(void);
/* From here on SIGTERM and SIGHUP end that child, and then this process; 0: no
 * child any more. */
void nw_child_take_along(pid_t child);
/* As fork(), of a child that ends when this process does, since it would wait
 * for us until its patience is over, and by this process alone: Ctrl-C, which
 * reaches both, is for us to answer. */
pid_t nw_child_fork(void);
/* Called in a new child: it ends when `parent` does, even if that is killed. */
void nw_child_follow(pid_t parent);
/* The same of what waitpid() says. */
int nw_child_status(int state);

#endif
