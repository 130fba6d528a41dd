/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that parse and print numbers with a decimal point as in the C
 * locale, even if the program has called setlocale(). Each does otherwise what
 * the function of the C library without the prefix nw_ does. */
#ifndef NW_BASE_C_LOCALE_H
#define NW_BASE_C_LOCALE_H

#include <nodewise/status.h>
#include <stdarg.h>
#include <stddef.h>

double nw_strtod(const char *word, char **end);
int nw_vsnprintf(char *out, size_t size, const char *format, va_list args)
    NW_PRINTF(3, 0);
int nw_snprintf(char *out, size_t size, const char *format, ...)
    NW_PRINTF(3, 4);
int nw_vasprintf(char **out, const char *format, va_list args) NW_PRINTF(2, 0);

#endif
