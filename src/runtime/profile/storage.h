/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores the counts of this rank (its part, part.h) in memory, and writes them
 * to the part file. */
#ifndef NW_PROFILE_STORAGE_H
#define NW_PROFILE_STORAGE_H

#include "runtime/profile/part.h"

#include <stdbool.h>

/* Creates the part and its file `path`, which must not exist; `path` may be
 * NULL. Never fails: if the file cannot be created, the part is in memory only;
 * if memory is exhausted, it has no records. */
void nw_storage_open(const char *path, int rank, int rank_count);
struct nw_part_header *nw_storage_header(void);
/* Returns a new record, filled with zeros, and counts it in the header. NULL if
 * memory is exhausted. The caller must hold a lock. */
struct nw_part_record *nw_storage_next(void);
/* Returns the record with this index, which is below the record count. */
struct nw_part_record *nw_storage_at(size_t index);
/* Writes one record and the header to the file; nw_storage_save writes all
 * changed records and the header. */
void nw_storage_put(struct nw_part_record *record);
void nw_storage_save(void);
/* If there is a file: calls nw_storage_save() if the last call was more than a
 * second ago (or longer, if saving takes more than 10 ms). */
void nw_storage_save_at_times(void);
void nw_storage_close(bool remove);

#endif
