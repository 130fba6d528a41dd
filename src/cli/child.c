/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t running;

static void pass_on(int signal)
{
    if (running > 0)
        kill(running, signal);
}

static void become(const struct nw_child *child)
{
    if (child->prepare)
        child->prepare(child->user);
    if (child->out >= 0)
        dup2(child->out, STDOUT_FILENO);
    execvp(child->argv[0], child->argv);
    fprintf(stderr, "nodewise %s: '%s' cannot be started: %s\n", child->command,
            child->argv[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

int nw_child_status(int state)
{
    return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

int nw_child_run(const struct nw_child *child)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction forward = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    int state = 0;

    fflush(NULL);
    running = fork();
    if (!running)
        become(child);
    if (running < 0) {
        fprintf(stderr, "nodewise %s: fork: %s\n", child->command,
                strerror(errno));
        return 127;
    }
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGQUIT, &ignore, NULL);
    sigaction(SIGTERM, &forward, NULL);
    sigaction(SIGHUP, &forward, NULL);
    while (waitpid(running, &state, 0) < 0 && errno == EINTR)
        ;
    running = 0;
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    return nw_child_status(state);
}
