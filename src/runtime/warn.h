/* SPDX-License-Identifier: BSD-3-Clause */
/* The one sentence that a failure of ours may cost the application. */
#ifndef NW_RUNTIME_WARN_H
#define NW_RUNTIME_WARN_H

#include <nodewise/status.h>

/* Writes "nodewise: ..." to standard error, the first time only. */
void nw_warn_once(const char *format, ...) NW_PRINTF(1, 2);
/* The same each time. */
void nw_warn(const char *format, ...) NW_PRINTF(1, 2);

#endif
