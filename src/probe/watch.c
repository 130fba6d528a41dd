/* SPDX-License-Identifier: BSD-3-Clause */
/* A small process beside each rank reports that the rank has died or was
 * stopped. MPI cannot report this reliably: a library may end other ranks, even
 * rank 0, because of a message to a dead rank. Of the launcher's files, the
 * process keeps only standard output and standard error open. */
#include "probe/records.h"
#include "probe/job.h"

#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The process checks the rank every LOOK_MS milliseconds; a rank that is
 * stopped in STOPPED_LOOKS successive checks counts as failed. */
#define LOOK_MS 1000
#define STOPPED_LOOKS 2

/* Returns true if the process is stopped by a signal or a debugger. */
static bool is_stopped(pid_t process)
{
    char state = ' ';

    return nw_process_parent(process, &state) >= 0 &&
           (state == 'T' || state == 't');
}

static void watch_tell(int32_t rank, const char *what)
{
    char line[128];
    int length = snprintf(line, sizeof line, "%s died %d %s\n", NW_PROBE_MARK,
                          rank, what);

    if (write(STDOUT_FILENO, line, (size_t)length) != length)
        _exit(1);
}

/* Waits until the rank reports its end, or the pipe from the rank closes, and
 * prints a record if the rank did not report its end or was stopped. */
static void watch_process(int from, pid_t process)
{
    struct pollfd wait = {.fd = from, .events = POLLIN};
    int32_t rank, stood = 0;
    char last;

    if (read(from, &rank, sizeof rank) != sizeof rank)
        return;
    for (;;) {
        int ready = poll(&wait, 1, LOOK_MS);

        if (ready > 0)
            break;
        stood = is_stopped(process) ? stood + 1 : 0;
        if (stood == STOPPED_LOOKS)
            watch_tell(rank, "it was stopped");
    }
    if (read(from, &last, 1) != 1)
        watch_tell(rank, "it ended without a word");
}

int nw_probe_watch(void)
{
    pid_t process = getpid();
    int ends[2];
    pid_t watcher;

    if (pipe2(ends, O_CLOEXEC))
        return -1;
    watcher = fork();
    if (watcher > 0) {
        close(ends[0]);
        return ends[1];
    }
    if (watcher < 0) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    /* close the launcher's files: as long as they are open, the launcher takes
     * the rank for alive */
    dup2(ends[0], STDIN_FILENO);
    closefrom(3);
    prctl(PR_SET_NAME, "nodewise-watch");
    signal(SIGINT, SIG_IGN); /* the process ends when the rank ends */
    signal(SIGTERM, SIG_IGN);
    watch_process(STDIN_FILENO, process);
    _exit(0);
}

void nw_probe_watch_rank(int to, int32_t rank)
{
    if (to >= 0 && write(to, &rank, sizeof rank) != sizeof rank)
        close(to);
}

void nw_probe_watch_end(int to)
{
    if (to >= 0 && write(to, "", 1) == 1)
        close(to);
}
