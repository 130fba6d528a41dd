/* SPDX-License-Identifier: BSD-3-Clause */
/* A region: a part of the run with a profile of its own. A copy of the counts
 * at its beginning is subtracted from those at its end. The profile of the
 * whole run does not change. */
#ifndef NW_PROFILE_REGION_H
#define NW_PROFILE_REGION_H

#include "runtime/profile/part.h"

#include <nodewise/status.h>
#include <stdbool.h>

/* Copies the current counts as those at the beginning of the region.
 * nw_region_drop_counts frees the copy. Local. */
NW_MUST_CHECK nw_status nw_region_keep_counts(void);
void nw_region_drop_counts(void);
/* Set and return whether the region's profile is being written. Counts are
 * subtracted only then. */
void nw_region_set_written(bool is_written);
bool nw_region_is_written(void);
/* Subtracts from `record` the counts of record `index` at the beginning of the
 * region. Does nothing unless the region's profile is being written. */
void nw_region_subtract(size_t index, struct nw_part_record *record);
/* Subtracts the counts at the beginning of the region for messages to processes
 * outside MPI_COMM_WORLD. */
void nw_region_subtract_outside(uint64_t *bytes, uint64_t *messages);

#endif
