/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/c_locale.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t plain; /* the C locale; 0 if memory ran out: uselocale(0)
                          changes nothing */

/* Creates the C locale before the program can start threads. glibc returns a
 * static object, which need not be freed. */
__attribute__((constructor)) static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double nw_strtod(const char *word, char **end)
{
    locale_t before = uselocale(plain);
    double value = strtod(word, end);

    uselocale(before);
    return value;
}

int nw_vsnprintf(char *out, size_t size, const char *format, va_list args)
{
    locale_t before = uselocale(plain);
    int length = vsnprintf(out, size, format, args);

    uselocale(before);
    return length;
}

int nw_snprintf(char *out, size_t size, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = nw_vsnprintf(out, size, format, args);
    va_end(args);
    return length;
}

int nw_vasprintf(char **out, const char *format, va_list args)
{
    locale_t before = uselocale(plain);
    int length = vasprintf(out, format, args);

    uselocale(before);
    return length;
}
