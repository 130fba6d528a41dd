/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts items by their group number in linear time; the items of a group stay
 * in order. */
#include "topology/export/groups.h"
#include "base/array.h"

#include <stdlib.h>

nw_status nw_groups_make(const int32_t *of, int32_t items, int32_t groups,
                         struct nw_groups *out)
{
    nw_status status =
        nw_alloc((size_t)groups + 2, sizeof *out->first, &out->first);
    int32_t *next;

    if (!status)
        status = nw_alloc((size_t)items, sizeof *out->item, &out->item);
    if (status)
        return status;
    next = out->first + 1; /* next[g] is the position of the next item of group
                              g; at the end it is first[g + 1] */
    for (int32_t i = 0; i < items; i++)
        if (of[i] >= 0)
            next[of[i] + 1]++;
    for (int32_t g = 0; g < groups; g++)
        next[g + 1] += next[g];
    for (int32_t i = 0; i < items; i++)
        if (of[i] >= 0)
            out->item[next[of[i]]++] = i;
    return NW_OK;
}

void nw_groups_fini(struct nw_groups *groups)
{
    free(groups->first);
    free(groups->item);
}
