/* SPDX-License-Identifier: BSD-3-Clause */
/* nw_cli_ask: a launcher may hang if its file system or daemon does not answer,
 * so it gets limited time to print its version. Then it is killed with all
 * processes that it started. */
#include "cli/launcher_version.h"

#include "base/clock.h"
#include "base/spawn.h"
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

/* Replaces this process by `name --version`, with standard output to the file
 * descriptor `out`. The process leads a new process group, so that
 * launcher_version_end() can kill it together with its children. */
static _Noreturn void ask_become(const char *name, int out)
{
    static char version[] = "--version";
    char *argv[] = {(char *)name, version, NULL};
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)setpgid(0, 0);
    dup2(nowhere, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execvp(name, argv);
    _exit(127);
}

/* Returns the time until the clock value `until` (ns), in ms; 0 if it has
 * passed. */
static int left_ms(uint64_t until)
{
    uint64_t now = nw_clock_ns();

    return now < until ? (int)((until - now) / 1000000) + 1 : 0;
}

/* Reads from the file descriptor `from` until its end or until the time
 * `until`. Stores as much as fits into `answer`, and a NUL. Reads and discards
 * the rest, because a full pipe would block the program. */
static void listen_to(int from, uint64_t until, char *answer, size_t room)
{
    struct pollfd wait = {.fd = from, .events = POLLIN};
    char bytes[4096];
    size_t length = 0;
    ssize_t count = 1;

    while (count && left_ms(until)) {
        int ready = poll(&wait, 1, left_ms(until));

        count = ready > 0 ? read(from, bytes, sizeof bytes) : -1;
        if (count < 0 && ready > 0 && errno != EINTR)
            break;
        for (ssize_t i = 0; i < count && length < room - 1; i++)
            answer[length++] = bytes[i];
    }
    answer[length] = '\0';
}

/* Kills the program and its process group. Waits at most 1 s for the end, since
 * a process that is blocked in the kernel does not end at once even after
 * SIGKILL. */
static void launcher_version_end(pid_t child)
{
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    (void)nw_spawn_await(child, nw_clock_ns() + 1000000000u, NULL);
}

bool nw_cli_ask(const char *name, char *answer, size_t room)
{
    uint64_t until = nw_clock_ns() + NW_ASK_SECONDS * 1000000000ull;
    int ends[2];
    pid_t child;
    bool ended = true;

    answer[0] = '\0';
    if (pipe2(ends, O_CLOEXEC))
        return true;
    child = nw_child_fork();
    if (!child)
        ask_become(name, ends[1]);
    (void)close(ends[1]);
    if (child > 0) {
        listen_to(ends[0], until, answer, room);
        ended = nw_spawn_await(child, until, NULL) != 0;
    }
    (void)close(ends[0]);
    if (!ended) {
        launcher_version_end(child);
        answer[0] = '\0';
    }
    return ended;
}
