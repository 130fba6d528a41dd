/* SPDX-License-Identifier: BSD-3-Clause */
/* Are the files of an OTF2 trace whole? */
#ifndef NW_PATTERN_OTF2_FILES_H
#define NW_PATTERN_OTF2_FILES_H

#include <nodewise/status.h>
#include <stdint.h>

/* NW_EFORMAT where the file does not begin like an anchor file. */
NW_MUST_CHECK nw_status nw_otf2_check_anchor(const char *anchor);
/* NW_EFORMAT where the file of global definitions beside the anchor file, or
 * one of a location's files, is cut off. */
NW_MUST_CHECK nw_status nw_otf2_check_definitions(const char *anchor);
NW_MUST_CHECK nw_status nw_otf2_check_location(const char *anchor,
                                               uint64_t location);

/* Time that reading the trace may take at most: ten seconds, and one more
 * for each MB, a hundred times what it takes. */
unsigned nw_otf2_seconds(const char *anchor);

#endif
