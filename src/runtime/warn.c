/* SPDX-License-Identifier: BSD-3-Clause */
/* One warning a process, whatever fails; what is no failure has its own. */
#include "runtime/warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void warn(const char *format, va_list args)
{
    char line[1024] = "nodewise: ";
    size_t length = 10;

    vsnprintf(line + length, sizeof line - length - 1, format, args);
    while (line[length])
        length++;
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0)
        return; // nothing more can be done
}

void nw_warn_once(const char *format, ...)
{
    static int warned;
    va_list args;

    if (__atomic_exchange_n(&warned, 1, __ATOMIC_RELAXED))
        return;
    va_start(args, format);
    warn(format, args);
    va_end(args);
}

void nw_warn(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    warn(format, args);
    va_end(args);
}
