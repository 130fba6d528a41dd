/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts items by their groups. */
#ifndef NW_TOPOLOGY_EXPORT_GROUPS_H
#define NW_TOPOLOGY_EXPORT_GROUPS_H

#include <nodewise/status.h>
#include <stddef.h>
#include <stdint.h>

/* Group g has the items item[first[g]] to item[first[g + 1] - 1]. */
struct nw_groups {
    int32_t *first, *item; /* owned */
};

/* Sorts `items` items into groups: item i is in group of[i], or in none if
 * of[i] is negative. The caller calls nw_groups_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_groups_make(const int32_t *of, int32_t items,
                                       int32_t groups, struct nw_groups *out);
void nw_groups_fini(struct nw_groups *groups);

static inline size_t nw_groups_count(const struct nw_groups *groups, int32_t g)
{
    return (size_t)(groups->first[g + 1] - groups->first[g]);
}

#endif
