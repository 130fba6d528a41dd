/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds the messages that a rank sends in a collective operation. */
#include "pattern/collective.h"

nw_status nw_member_send(const struct nw_member *member, int32_t to,
                         uint64_t bytes)
{
    if (to == member->me)
        return NW_OK;
    return nw_pattern_builder_add(member->builder, member->me, to, NW_KIND_HH,
                                  bytes, 1);
}

/* Returns the member's rank relative to the root, which gets 0. In the binomial
 * tree, clearing the lowest set bit of a number gives its parent. So each child
 * of a number has one more bit set, below the number's lowest set bit. */
static int64_t from_root(const struct nw_member *member, int32_t root)
{
    return (member->me - (int64_t)root + member->ranks) % member->ranks;
}

nw_status nw_member_spread(const struct nw_member *member, int32_t root,
                           uint64_t bytes)
{
    int64_t place = from_root(member, root);
    nw_status status = NW_OK;

    for (int64_t bit = 1; !status && bit < member->ranks; bit <<= 1) {
        if (place & bit)
            break;
        if (place + bit < member->ranks)
            status = nw_member_send(
                member, (int32_t)((place + bit + root) % member->ranks), bytes);
    }
    return status;
}

nw_status nw_member_collect(const struct nw_member *member, int32_t root,
                            uint64_t bytes)
{
    int64_t place = from_root(member, root);
    int64_t parent = place & (place - 1);

    if (!place)
        return NW_OK;
    return nw_member_send(member, (int32_t)((parent + root) % member->ranks),
                          bytes);
}

nw_status nw_member_to_all(const struct nw_member *member, uint64_t bytes)
{
    nw_status status = NW_OK;

    for (int32_t to = 0; !status && to < member->ranks; to++)
        status = nw_member_send(member, to, bytes);
    return status;
}
