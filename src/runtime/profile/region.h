/* SPDX-License-Identifier: BSD-3-Clause */
/* A part of the run with a profile of its own: the counts at its beginning are
 * kept and taken off those at its end. The profile of the whole run does not
 * change. */
#ifndef NW_PROFILE_REGION_H
#define NW_PROFILE_REGION_H

#include "runtime/profile/part.h"

#include <nodewise/status.h>
#include <stdbool.h>

/* Copies the counts of now; drops the copy. Local. */
NW_MUST_CHECK nw_status nw_region_keep_counts(void);
void nw_region_drop_counts(void);
/* Whether a region is being written: only then is anything taken off. */
void nw_region_set_written(bool is_written);
bool nw_region_is_written(void);
/* Takes off what record `index` held when the region began; nothing unless a
 * region is being written. */
void nw_region_subtract(size_t index, struct nw_part_record *record);
/* The same for messages to processes outside MPI_COMM_WORLD. */
void nw_region_subtract_outside(uint64_t *bytes, uint64_t *messages);

#endif
