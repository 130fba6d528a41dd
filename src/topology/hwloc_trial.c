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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_SECONDS 60
#define MOST_WORDS 160

static const char reached[] = "nodewise: reached\n";

/* What it says of the file goes to the parent; nothing where the parent has
 * loaded XML before, since hwloc looks at the variable once. */
static void be_quiet(int answer)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    const struct rlimit none = {0, 0};
    const struct rlimit time = {MOST_SECONDS, MOST_SECONDS};

    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &time);
    setenv("HWLOC_XML_VERBOSE", "1", 1);
    dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
    dup2(answer, STDERR_FILENO);
}

/* Never returns. The last line tells that the end was reached; an exit status
 * could be taken away by a program that reaps all its children. */
static void try_and_exit(const char *data, size_t length, int answer)
{
    hwloc_topology_t machine;

    be_quiet(answer);
    if (hwloc_topology_init(&machine) ||
        hwloc_topology_set_io_types_filter(machine,
                                           HWLOC_TYPE_FILTER_KEEP_IMPORTANT) ||
        hwloc_topology_set_xmlbuffer(machine, data, (int)length + 1) ||
        hwloc_topology_load(machine))
        _exit(1);
    hwloc_topology_check(machine); /* asserts, and so may abort */
    _exit(write(answer, reached, sizeof reached - 1) < 0);
}

/* Words of hwloc that are no cause. */
static bool is_remark(const char *words)
{
    return !strncmp(words, "ignoring", 8) || !strncmp(words, "Loading", 7) ||
           strstr(words, "discovery failed");
}

static bool is_hwlocs(const char *line)
{
    return !strncmp(line, "hwloc: ", 7) || !strncmp(line, "xmlbuffer: ", 11);
}

/* Whether the end was reached; else what hwloc said last of the file itself,
 * behind the name that it has for all. */
static bool was_answered(int answer, char why[MOST_WORDS])
{
    FILE *stream = fdopen(answer, "r");
    char *line = NULL;
    size_t room = 0;
    bool answered = false;

    *why = '\0';
    if (!stream)
        (void)close(answer);
    while (stream && !answered && getline(&line, &room, stream) > 0) {
        const char *words = strstr(line, ": ");

        answered = !strcmp(line, reached);
        line[strcspn(line, "\n")] = '\0';
        if (words && is_hwlocs(line) && !is_remark(words + 2))
            snprintf(why, MOST_WORDS, "%s", words + 2);
    }
    free(line);
    if (stream)
        (void)fclose(stream);
    return answered;
}

static nw_status refuse(const char *file, const char *why, int how)
{
    int signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;

    if (signal == SIGXCPU || signal == SIGKILL)
        why = "it works on it for more than a minute";
    else if (signal == SIGABRT)
        why = "its parts contradict each other";
    else if (signal)
        why = "it falls over what is missing in it";
    return nw_fail(NW_EFORMAT,
                   "%s:1: hwloc can make no machine of this XML%s%s", file,
                   *why ? ": " : "", why);
}

nw_status nw_hwloc_try_xml(const char *file, const char *data, size_t length)
{
    char why[MOST_WORDS];
    int ends[2], how = 0, trouble;
    bool answered;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC))
        return nw_fail(NW_EIO, "%s:0: no pipe to try it: %s", file,
                       strerror(errno));
    child = fork();
    trouble = errno;
    if (child == 0)
        try_and_exit(data, length, ends[1]);
    close(ends[1]);
    answered = was_answered(ends[0], why) && child > 0;
    while (child > 0 && waitpid(child, &how, 0) < 0 && errno == EINTR)
        ;
    if (child < 0)
        return nw_fail(NW_EIO, "%s:0: no process to try it: %s", file,
                       strerror(trouble));
    return answered ? NW_OK : refuse(file, why, how);
}
