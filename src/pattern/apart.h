/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading with somebody else's library, in a process of its own. */
#ifndef NW_PATTERN_APART_H
#define NW_PATTERN_APART_H

#include "pattern/format.h"

/* What open(path) gives, or its error; NW_EFORMAT where it does not come back
 * within that much CPU time, for damaged files that bring the library down or
 * send it round in circles. */
NW_MUST_CHECK nw_status nw_open_apart(nw_pattern_opener *open, const char *path,
                                      unsigned seconds, nw_pattern **out);

#endif
