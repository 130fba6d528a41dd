/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the helper nodewise-reader that tries hwloc. */
#ifndef NW_TOPOLOGY_HWLOC_TRIAL_H
#define NW_TOPOLOGY_HWLOC_TRIAL_H

#include <stddef.h>

/* Lets hwloc load these bytes (NUL-terminated) in this process, which may crash
 * or abort. If it does not, prints a line and the machine as XML of the hwloc
 * here. 0, or 1 if hwloc refuses them. */
int nw_hwloc_trial(const char *data, size_t length);

#endif
