/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/child.h"

#include "base/clock.h"
#include "base/spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* `running` is the process ID of the child, or 0 if no child runs. `came` is
 * the last signal received during nw_child_run. Signal handlers use both
 * variables. */
static pid_t running;
static volatile sig_atomic_t came;

static void pass_on(int signal)
{
    came = signal;
    if (running > 0)
        kill(running, signal);
}

/* The terminal sends SIGINT and SIGQUIT to the child, too, so that this process
 * only stores their number. */
static void child_note(int signal)
{
    came = signal;
}

/* Ends the child, then this process by the same signal. */
static void take_along(int signal)
{
    if (running > 0)
        kill(running, SIGTERM);
    raise(signal); /* raised again when this handler returns; by then the
                      default action is set */
}

int nw_child_signal(void)
{
    return came;
}

/* A signal that is handled while a child runs. begin_guard sets the handlers,
 * but signals that the parent process ignores, as under nohup(1), stay ignored.
 * end_guard restores the former actions. */
struct guard {
    int signal, flags;
    void (*handler)(int);
    struct sigaction before;
};

static void begin_guard(struct guard *guard, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct sigaction action = {.sa_handler = guard[i].handler,
                                         .sa_flags = guard[i].flags};

        sigaction(guard[i].signal, NULL, &guard[i].before);
        if (guard[i].before.sa_handler != SIG_IGN)
            sigaction(guard[i].signal, &action, NULL);
    }
}

static void end_guard(const struct guard *guard, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sigaction(guard[i].signal, &guard[i].before, NULL);
}

void nw_child_take_along(pid_t child)
{
    static struct guard guard[] = {
        {SIGTERM, (int)SA_RESETHAND, take_along, {{0}}},
        {SIGHUP, (int)SA_RESETHAND, take_along, {{0}}}};

    running = child;
    if (child)
        begin_guard(guard, 2);
    else
        end_guard(guard, 2);
}

/* The signal is SIGTERM, because launchers then end their ranks. */
void nw_child_follow(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent)
        _exit(128 + SIGTERM);
}

/* Replaces the child process by the program; does not return. */
static void child_become(const struct nw_child *child, pid_t parent)
{
    int why;

    nw_child_follow(parent);
    if (child->prepare)
        child->prepare(child->user);
    if (child->out >= 0)
        dup2(child->out, STDOUT_FILENO);
    execvp(child->argv[0], child->argv);
    why = errno;
    fprintf(stderr, "nodewise %s: '%s' cannot be started: %s\n", child->command,
            child->argv[0], strerror(why));
    _exit(why == ENOENT ? 127 : 126);
}

pid_t nw_child_fork(void)
{
    pid_t parent = getpid(), child = fork();

    if (!child) {
        nw_child_follow(parent);
        signal(SIGINT, SIG_IGN);
    }
    return child;
}

/* Converts a state of waitpid() to an exit status: 128 plus the signal number
 * if a signal ended the process. */
static int child_status(int state)
{
    return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

int nw_child_end(pid_t child, int seconds)
{
    uint64_t until = nw_clock_ns() + (uint64_t)seconds * 1000000000u;
    int state = 0;
    bool ended = nw_spawn_await(child, until, &state);

    if (!ended) {
        kill(child, SIGTERM);
        ended = nw_spawn_await(child, until + UINT64_C(5000000000), &state);
    }
    if (!ended)
        kill(child, SIGKILL);
    while (!ended && waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    return child_status(state);
}

int nw_child_run(const struct nw_child *child)
{
    struct guard guard[] = {{SIGINT, SA_RESTART, child_note, {{0}}},
                            {SIGQUIT, SA_RESTART, child_note, {{0}}},
                            {SIGTERM, SA_RESTART, pass_on, {{0}}},
                            {SIGHUP, SA_RESTART, pass_on, {{0}}}};
    size_t count = sizeof guard / sizeof *guard;
    pid_t parent = getpid();
    int state = 0;

    came = 0;
    fflush(NULL);
    running = fork();
    if (!running)
        child_become(child, parent);
    if (running < 0) {
        fprintf(stderr, "nodewise %s: fork: %s\n", child->command,
                strerror(errno));
        return 127;
    }
    begin_guard(guard, count);
    while (waitpid(running, &state, 0) < 0 && errno == EINTR)
        ;
    running = 0;
    end_guard(guard, count);
    return child_status(state);
}
