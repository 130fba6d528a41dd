/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes warnings and reports. If standard error is a pipe whose reader has
 * ended, the lines are lost, and the program goes on. */
#include "runtime/warn.h"

#include "base/file.h"

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Tells `nodewise profile`, which listens to an abstract Unix socket on this
 * host, that a warning was written. Then the command does not report the
 * missing profile a second time. */
static void warn_notify(void)
{
    const char *name = getenv("NODEWISE_RECORD_SAID");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t length = name ? strlen(name) : 0;
    int wire;

    if (!length || length >= sizeof to.sun_path)
        return;
    memcpy(to.sun_path + 1, name, length);
    wire = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (wire < 0)
        return;
    (void)sendto(
        wire, "", 1, MSG_NOSIGNAL, (const struct sockaddr *)&to,
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length));
    (void)close(wire);
}

static bool warn_print(const char *format, va_list args)
{
    char line[1024] = "nodewise: ";
    size_t length = 10;

    vsnprintf(line + length, sizeof line - length - 1, format, args);
    while (line[length])
        length++;
    line[length++] = '\n';
    return nw_file_write_without(SIGPIPE, STDERR_FILENO, line, length) > 0;
}

void nw_warn_once(const char *format, ...)
{
    static int warned;
    va_list args;

    if (__atomic_exchange_n(&warned, 1, __ATOMIC_RELAXED))
        return;
    va_start(args, format);
    if (warn_print(format, args))
        warn_notify();
    va_end(args);
}

void nw_warn(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (warn_print(format, args))
        warn_notify();
    va_end(args);
}

void nw_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)warn_print(format, args);
    va_end(args);
}
