/* SPDX-License-Identifier: BSD-3-Clause */
/* One warning a process, whatever fails. */
#include "runtime/warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void nw_warn_once(const char *format, ...)
{
    static int warned;
    char line[1024] = "nodewise: ";
    size_t length = 10;
    va_list args;

    if (__atomic_exchange_n(&warned, 1, __ATOMIC_RELAXED))
        return;
    va_start(args, format);
    vsnprintf(line + length, sizeof line - length - 1, format, args);
    va_end(args);
    while (line[length])
        length++;
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0)
        return; // nothing more can be done
}
