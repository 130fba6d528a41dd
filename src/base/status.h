/* SPDX-License-Identifier: BSD-3-Clause */
/* How the inside of the library says that something failed. */
#ifndef NW_BASE_STATUS_H
#define NW_BASE_STATUS_H

#include <nodewise/status.h>

/* Bytes of the longest sentence, its end included. */
#define NW_ERROR_MOST 1024

/* Stores the sentence for nw_error_text() and returns `status`. The first
 * function that knows of an error calls it; callers only pass it on. */
nw_status nw_fail(nw_status status, const char *format, ...) NW_PRINTF(2, 3);

#endif
