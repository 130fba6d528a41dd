/* SPDX-License-Identifier: BSD-3-Clause */
/* Warnings on standard error. A failure inside Nodewise costs the program one
 * warning, never a wrong result. */
#ifndef NW_RUNTIME_WARN_H
#define NW_RUNTIME_WARN_H

#include <nodewise/status.h>

/* Writes "nodewise: ..." to standard error at the first call in this process;
 * later calls write nothing. */
void nw_warn_once(const char *format, ...) NW_PRINTF(1, 2);
/* Writes "nodewise: ..." to standard error at every call. */
void nw_warn(const char *format, ...) NW_PRINTF(1, 2);
/* Like nw_warn, for a line that the user has asked for. */
void nw_say(const char *format, ...) NW_PRINTF(1, 2);

#endif
