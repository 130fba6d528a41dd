/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts messages and calls. The records of all threads are in the rank's part
 * (part.h), in memory and in a file. Each thread has a table by which it finds
 * its record of a partner. Only one thread writes a record; any thread may read
 * it at any time.
 */
#ifndef NW_PROFILE_COUNT_H
#define NW_PROFILE_COUNT_H

#include "runtime/profile/part.h"

#include <nodewise/pattern.h>
#include <nodewise/status.h>
#include <stdbool.h>

/* The key that identifies a record of this rank. Its fields are those of struct
 * nw_part_record. */
struct nw_count_key {
    int32_t peer;
    int16_t tag;
    uint8_t class, inward, origin;
    uint16_t phase; /* nw_count_add sets it */
};

/* Opens the part (the counts) of this rank in memory, and also in a new file
 * `path`, unless `path` is NULL or the file cannot be created. */
void nw_count_open(const char *path, int rank, int rank_count);
/* Adds `messages` messages of `bytes` bytes each. If memory is exhausted,
 * reports no error but marks the profile as partial. */
void nw_count_add(struct nw_count_key key, uint64_t bytes, uint64_t messages);
/* Sets the phase of all later counts. Counting begins with phase 0. */
void nw_count_set_phase(uint16_t phase);
/* Adds `messages` messages of `bytes` each to a process outside
 * MPI_COMM_WORLD. */
void nw_count_add_outside(uint64_t bytes, uint64_t messages);
/* The `id` by which nw_count_add_time counts the time of the whole run. */
enum { NW_CALL_RUN = -1 };
/* Adds one call of `ns` nanoseconds to the MPI function `name`; `id` is its
 * number in this process. */
void nw_count_add_time(int id, const char *name, uint64_t ns);
struct nw_part_header *nw_count_header(void);
/* Stores whether this rank is running or how it ended, and writes all counts to
 * the file. */
void nw_count_set_state(enum nw_part_state state);
size_t nw_count_count(void);
const struct nw_part_record *nw_count_record(size_t index);
/* Returns true if memory ran out, so that some calls were not counted. */
bool nw_count_is_short(void);
/* Discards all counts. Before this, deletes the file if `remove` is true;
 * otherwise writes all counts to it. */
void nw_count_close(bool remove);

#endif
