/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the differences of rank numbers with the most traffic (strides), and
 * the coordinates of ranks that follow from them. */
#include "map/placement/rank_strides.h"
#include "base/array.h"

#include <stdlib.h>

/* Chooses up to NW_RANK_STRIDES_MAX differences d with the largest bytes[d],
 * sorts them in ascending order in stride[] and appends n, the number of
 * processes. Returns the number of entries in stride[]. Sets bytes[] of the
 * chosen differences to 0. */
static int rank_strides_choose(double *bytes, int32_t n, int32_t *stride)
{
    int count = 0;

    for (int k = 0; k < NW_RANK_STRIDES_MAX; k++) {
        int32_t best = 0;
        int at = count;

        for (int32_t d = 1; d < n; d++)
            if (bytes[d] > bytes[best])
                best = d;
        if (!best)
            break;
        bytes[best] = 0;
        for (; at && stride[at - 1] > best; at--)
            stride[at] = stride[at - 1];
        stride[at] = best;
        count++;
    }
    stride[count++] = n;
    return count;
}

nw_status nw_rank_strides_find(const struct nw_placement *placement,
                               struct nw_rank_strides *out)
{
    int32_t stride[NW_RANK_STRIDES_MAX + 1], n = placement->count;
    double *bytes;
    nw_status status = nw_alloc((size_t)n + 1, sizeof *bytes, &bytes);
    int count;

    out->count = 0;
    if (status)
        return status;
    for (int32_t p = 0; p < n; p++)
        for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++)
            bytes[abs(placement->arc[a].peer - p)] += placement->arc[a].out;
    bytes[0] = 0;
    count = rank_strides_choose(bytes, n, stride);
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++)
            if (stride[k] % stride[i] == 0 && stride[k] != stride[i])
                out->coordinate[out->count++] = (struct nw_rank_coordinate){
                    stride[i], stride[k] / stride[i]};
    free(bytes);
    return NW_OK;
}
