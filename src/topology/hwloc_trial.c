/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hwloc trusts the XML it is given: attributes left out make it follow null
 * pointers (2.9 does). Files come from users, so a child process tries first,
 * and only what it survives is loaded here.
 */
#include "base/status.h"
#include "topology/hwloc_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_SECONDS 60

static void be_quiet(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    const struct rlimit none = {0, 0};
    const struct rlimit time = {MOST_SECONDS, MOST_SECONDS};
    int null = open("/dev/null", O_RDWR);

    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &time);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
}

/* Never returns. The byte tells that the end was reached; an exit status
 * could be taken away by a program that reaps all its children. */
static void try_and_exit(const char *data, size_t length, int answer)
{
    hwloc_topology_t machine;

    be_quiet();
    if (hwloc_topology_init(&machine) ||
        hwloc_topology_set_io_types_filter(machine,
                                           HWLOC_TYPE_FILTER_KEEP_IMPORTANT) ||
        hwloc_topology_set_xmlbuffer(machine, data, (int)length + 1) ||
        hwloc_topology_load(machine))
        _exit(1);
    hwloc_topology_check(machine); /* asserts, and so may abort */
    _exit(write(answer, "y", 1) != 1);
}

static bool was_answered(int answer)
{
    char byte;
    ssize_t got;

    do
        got = read(answer, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

nw_status nw_hwloc_try_xml(const char *file, const char *data, size_t length)
{
    int ends[2];
    bool answered;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC))
        return nw_fail(NW_EIO, "%s:0: no pipe to try it: %s", file,
                       strerror(errno));
    child = fork();
    if (child == 0)
        try_and_exit(data, length, ends[1]);
    close(ends[1]);
    answered = child > 0 && was_answered(ends[0]);
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (child < 0)
        return nw_fail(NW_EIO, "%s:0: no process to try it: %s", file,
                       strerror(errno));
    if (!answered)
        return nw_fail(NW_EFORMAT,
                       "%s:1: hwloc can make no machine of this XML", file);
    return NW_OK;
}
