/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads an OTF2 trace in a helper process, because libotf2 may crash on damaged
 * files. */
#ifndef NW_PATTERN_OTF2_HELPER_H
#define NW_PATTERN_OTF2_HELPER_H

#include "pattern/format.h"

/* Starts the program nodewise-reader, which reads the OTF2 trace `path`, and
 * returns the pattern or the error that the program printed. NW_EFORMAT if the
 * program crashes, prints nothing or runs longer than `seconds`; NW_EHELPER if
 * it is killed by SIGKILL, as the kernel does if memory runs out. */
NW_MUST_CHECK nw_status nw_otf2_helper_open(const char *path, unsigned seconds,
                                            nw_pattern **out);

/* Called by the program nodewise-reader: reads the trace in the calling process
 * and prints the pattern or the error on stdout. Returns 0, or 1 if printing
 * failed. */
int nw_otf2_helper_answer(const char *path);

#endif
