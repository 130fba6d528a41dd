/* SPDX-License-Identifier: BSD-3-Clause */
/* A helper program for tests of processes that are started: its first argument
 * says how it behaves, for example "hang" or "preload"; by default it copies
 * its input to its output. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    int next;

    if (!strcmp(what, "crash"))
        (void)raise(SIGKILL);
    if (!strcmp(what, "deaf"))
        (void)close(STDOUT_FILENO);
    if (!strcmp(what, "hang") || !strcmp(what, "deaf"))
        for (;;)
            (void)pause();
    if (!strcmp(what, "preload"))
        fputs(getenv("LD_PRELOAD") ? "yes" : "no", stdout);
    else
        while ((next = getchar()) != EOF)
            putchar(next);
    return 0;
}
