/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of the part, and its copy in the part file. */
#ifndef NW_PROFILE_STORAGE_H
#define NW_PROFILE_STORAGE_H

#include "runtime/profile/part.h"

#include <stdbool.h>

/* Makes the file, which must not be there; `path` may be NULL. Always succeeds:
 * without a file, in memory; without memory, with a header alone. */
void nw_storage_open(const char *path, int rank, int rank_count);
struct nw_part_header *nw_storage_header(void);
/* A new zeroed record, counted in the header; NULL if memory is short.
 * One thread at a time. */
struct nw_part_record *nw_storage_next(void);
/* Any record that was given out. */
struct nw_part_record *nw_storage_at(size_t index);
/* Writes one record, or all that is new, to the file. */
void nw_storage_put(struct nw_part_record *record);
void nw_storage_save(void);
/* nw_storage_save(), if it was not called for a second. */
void nw_storage_save_at_times(void);
void nw_storage_close(bool remove);

#endif
