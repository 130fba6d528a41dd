/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that the files of an OTF2 trace are complete. */
#ifndef NW_PATTERN_OTF2_FILES_H
#define NW_PATTERN_OTF2_FILES_H

#include <nodewise/status.h>
#include <stdint.h>

/* NW_EFORMAT if the file does not begin as OTF2 anchor files do. */
NW_MUST_CHECK nw_status nw_otf2_check_anchor(const char *anchor);
/* The first function checks the global definitions file that belongs to the
 * anchor file, the second function both files of one location: definitions and
 * events. NW_EFORMAT if a file is truncated, NW_EIO if it is not a regular
 * file. A missing file is not an error. */
NW_MUST_CHECK nw_status nw_otf2_check_definitions(const char *anchor);
NW_MUST_CHECK nw_status nw_otf2_check_location(const char *anchor,
                                               uint64_t location);

/* Returns the time limit for reading the trace, in seconds: 10, and 1 more per
 * MiB of the trace, which is about 100 times what reading needs. */
unsigned nw_otf2_seconds(const char *anchor);

#endif
