/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages that one rank sends in a collective operation of all ranks, if a
 * trace only names the operation. nodewise-pattern(1) describes these simple
 * models. */
#ifndef NW_PATTERN_COLLECTIVE_H
#define NW_PATTERN_COLLECTIVE_H

#include <nodewise/pattern.h>

struct nw_member {
    nw_pattern_builder *builder;
    int32_t ranks, me;
};

/* One message, none where it is to itself. */
NW_MUST_CHECK nw_status nw_member_send(const struct nw_member *member,
                                       int32_t to, uint64_t bytes);
/* Down a binomial tree from the root: to each child of mine. */
NW_MUST_CHECK nw_status nw_member_spread(const struct nw_member *member,
                                         int32_t root, uint64_t bytes);
/* Up the same tree: to my parent. */
NW_MUST_CHECK nw_status nw_member_collect(const struct nw_member *member,
                                          int32_t root, uint64_t bytes);
/* To each other rank. */
NW_MUST_CHECK nw_status nw_member_to_all(const struct nw_member *member,
                                         uint64_t bytes);

#endif
