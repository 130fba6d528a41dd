/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merges the records of all ranks into one pattern. Messages that both the
 * sender and the receiver recorded are matched by pair, tag and size.
 */
#ifndef NW_PROFILE_MERGE_RECORDS_H
#define NW_PROFILE_MERGE_RECORDS_H

#include "runtime/profile/part.h"

#include <nodewise/pattern.h>

struct nw_merge;

/* Creates an empty merge. `mixed` is true if any record is of class
 * NW_PART_SENT_GPU or NW_PART_RECEIVED_GPU. The caller frees *out by
 * nw_merge_free. */
NW_MUST_CHECK nw_status nw_merge_new(int32_t rank_count, bool mixed,
                                     struct nw_merge **out);
void nw_merge_free(struct nw_merge *merge); /* NULL is allowed */
/* Adds a record that `rank` has counted. Returns NW_EINVAL if the record is
 * invalid. */
NW_MUST_CHECK nw_status nw_merge_add(struct nw_merge *merge, int32_t rank,
                                     const struct nw_part_record *record);
/* Adds messages to processes outside MPI_COMM_WORLD, which the pattern's note
 * will mention. */
void nw_merge_add_outside(struct nw_merge *merge, uint64_t bytes,
                          uint64_t messages);
NW_MUST_CHECK nw_status nw_merge_build(struct nw_merge *merge,
                                       nw_pattern **out);

#endif
