/* SPDX-License-Identifier: BSD-3-Clause */
/* A small process beside each rank reports the rank's death or standstill. MPI
 * cannot do so reliably: a library may end a survivor, even rank 0, over a
 * message to a dead rank. Of the launcher's files, the process keeps only
 * standard output open. */
#include "probe/figures.h"
#include "probe/job.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LOOK_MS 1000
#define STOPPED_LOOKS 2

static bool is_stopped(long process)
{
    char path[64], line[512], *end;
    bool stopped = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    file = fopen(path, "re");
    if (!file)
        return false;
    if (fgets(line, sizeof line, file) && (end = strrchr(line, ')')))
        stopped = end[1] == ' ' && (end[2] == 'T' || end[2] == 't');
    fclose(file);
    return stopped;
}

static void watch_tell(int32_t rank, const char *what)
{
    char line[128];
    int length = snprintf(line, sizeof line, "%s died %d %s\n", NW_PROBE_MARK,
                          rank, what);

    if (write(STDOUT_FILENO, line, (size_t)length) != length)
        _exit(1);
}

/* Waits until the rank reports its end, or its end of the pipe closes. */
static void watch(int from, long process)
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
    long process = (long)getpid();
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
    /* what the launcher gave the rank would look alive in our hands */
    dup2(ends[0], STDIN_FILENO);
    closefrom(3);
    prctl(PR_SET_NAME, "nodewise-watch");
    signal(SIGINT, SIG_IGN); /* it ends with the rank */
    signal(SIGTERM, SIG_IGN);
    watch(STDIN_FILENO, process);
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
