/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where calls are counted. Each thread has a table of its own that finds the
 * record of a partner; the records of all threads lie in the rank's part.
 * A record has one writer and may be read at any time.
 */
#ifndef NW_PROFILE_COUNT_H
#define NW_PROFILE_COUNT_H

#include "runtime/profile/part.h"

#include <nodewise/pattern.h>
#include <nodewise/status.h>
#include <stdbool.h>

/* The key of a record. */
struct nw_count_key {
    int32_t peer;
    int16_t tag;
    uint8_t class, inward, origin;
    uint16_t phase; /* filled by nw_count_add */
};

/* Opens the part of this rank: in memory, and in a new file `path` unless that
 * is NULL or cannot be made. */
void nw_count_open(const char *path, int rank, int rank_count);
/* Adds `messages` messages of `bytes` each. Quiet where memory is short: the
 * profile then says that it is partial. */
void nw_count_add(struct nw_count_key key, uint64_t bytes, uint64_t messages);
/* Sets the phase of all later counts. The first phase is 0. */
void nw_count_set_phase(uint16_t phase);
/* Adds messages to a partner outside MPI_COMM_WORLD. */
void nw_count_add_outside(uint64_t bytes, uint64_t messages);
/* The id of the whole run, which is no function. */
enum { NW_CALL_RUN = -1 };
/* Adds one call of the MPI function `name`, which `id` identifies within this
 * process. */
void nw_count_add_time(int id, const char *name, uint64_t ns);
struct nw_part_header *nw_count_header(void);
/* How the rank ends; all is in the file then. */
void nw_count_set_state(enum nw_part_state state);
size_t nw_count_count(void);
const struct nw_part_record *nw_count_record(size_t index);
/* True if something could not be counted. */
bool nw_count_is_short(void);
/* Forgets everything; unlinks the file where `remove`. */
void nw_count_close(bool remove);

#endif
