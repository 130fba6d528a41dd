/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds the messages that a rank sends in a collective operation of all ranks,
 * for traces that only name the operation. nodewise-pattern(1) describes the
 * models. */
#ifndef NW_PATTERN_COLLECTIVE_H
#define NW_PATTERN_COLLECTIVE_H

#include <nodewise/pattern.h>

/* One rank (`me`) of an operation of `ranks` ranks, and the builder that gets
 * the messages that this rank sends. */
struct nw_member {
    nw_pattern_builder *builder;
    int32_t ranks, me;
};

/* Adds one message from the member's rank to rank `to`, or nothing if both are
 * the same rank. */
NW_MUST_CHECK nw_status nw_member_send(const struct nw_member *member,
                                       int32_t to, uint64_t bytes);
/* Adds the sends of the member's rank in a broadcast over a binomial tree: one
 * message of `bytes` to each child of the rank. */
NW_MUST_CHECK nw_status nw_member_spread(const struct nw_member *member,
                                         int32_t root, uint64_t bytes);
/* Adds the send of the member's rank in a reduction over the same binomial
 * tree: one message of `bytes` to the rank's parent; the root sends nothing. */
NW_MUST_CHECK nw_status nw_member_collect(const struct nw_member *member,
                                          int32_t root, uint64_t bytes);
/* Adds one message of `bytes` from the member's rank to each other rank. */
NW_MUST_CHECK nw_status nw_member_to_all(const struct nw_member *member,
                                         uint64_t bytes);

#endif
