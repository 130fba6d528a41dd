/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the helper nodewise-reader that tries to load hwloc XML. */
#ifndef NW_TOPOLOGY_HWLOC_TRIAL_H
#define NW_TOPOLOGY_HWLOC_TRIAL_H

#include <stddef.h>

/* Loads the XML text `data` (NUL-terminated) with hwloc in this process, which
 * may crash or abort. On success, prints a line and the machine as XML of the
 * installed hwloc, and returns 0. Returns 1 if hwloc refuses the text or if
 * printing fails. */
int nw_hwloc_trial(const char *data, size_t length);

#endif
