/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise-reader: reads a file with a library that damaged files can crash or
 * hang. It is a separate program so that the caller can continue. It prints
 * what the library has read. Nodewise's libraries start it, not users. */
#include "pattern/otf2_helper.h"
#include "topology/hwloc/trial.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static char *reader_take_all(FILE *from, size_t *length)
{
    char *data = NULL;
    size_t room = 0;
    ssize_t count = getdelim(&data, &room, '\0', from);

    *length = count > 0 ? (size_t)count : 0;
    return count > 0 ? data : NULL;
}

/* Reads an hwloc XML file from standard input and prints hwloc's messages. If
 * hwloc could read the file, then prints a line and the XML that hwloc writes,
 * and returns 0 if that succeeds. */
static int reader_try_hwloc(void)
{
    size_t length;
    char *data = reader_take_all(stdin, &length);

    (void)setenv("HWLOC_XML_VERBOSE", "1", 1);
    (void)dup2(STDOUT_FILENO, STDERR_FILENO);
    return data ? nw_hwloc_trial(data, length) : 1;
}

/* Prepares for a crash of the library: restores the default action of fatal
 * signals, turns core dumps off, and lets this process end with its parent. */
static void reader_expect_crashes(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        (void)signal(fatal[i], SIG_DFL); /* a sanitizer has handlers of its
                                            own */
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    (void)prctl(PR_SET_DUMPABLE, 0); /* also prevents core dumps that a
                                        program receives by a pipe */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int main(int count, char **words)
{
    int code = 2;

    reader_expect_crashes();
    if (count == 2 && !strcmp(words[1], "hwloc"))
        code = reader_try_hwloc();
    else if (count == 3 && !strcmp(words[1], "otf2"))
        code = nw_otf2_helper_answer(words[2]);
    else
        fputs("nodewise-reader is started by nodewise\n", stderr);
    _exit(code); /* exit handlers of the libraries are not run */
}
