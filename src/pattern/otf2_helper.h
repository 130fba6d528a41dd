/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading with somebody else's library, in a process of its own. */
#ifndef NW_PATTERN_OTF2_HELPER_H
#define NW_PATTERN_OTF2_HELPER_H

#include "pattern/format.h"

/* The pattern of an OTF2 trace, or the error, from the helper nodewise-reader.
 * NW_EFORMAT if the helper crashes, or takes longer than that. */
NW_MUST_CHECK nw_status nw_otf2_helper_open(const char *path, unsigned seconds,
                                            nw_pattern **out);

/* The helper's part: reads the trace in this process and prints the answer.
 * 0, or 1 if it cannot be printed. */
int nw_otf2_helper_answer(const char *path);

#endif
