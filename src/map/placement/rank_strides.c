/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the differences of rank numbers with the most traffic (strides), and
 * the coordinates of ranks that follow from them. */
#include "map/placement/rank_strides.h"
#include "base/array.h"

#include <stdlib.h>

#define STRIDES_MAX 6 /* most strides that are considered */
/* Most pairs of these strides and the number of processes. */
#define PAIRS_MAX ((STRIDES_MAX + 1) * STRIDES_MAX / 2)

/* Chooses up to STRIDES_MAX differences d with the largest bytes[d], sorts them
 * in ascending order in stride[] and appends n, the number of processes.
 * Returns the number of entries in stride[]. Sets bytes[] of the chosen
 * differences to 0. */
static int rank_strides_choose(double *bytes, int32_t n, int32_t *stride)
{
    int count = 0;

    for (int k = 0; k < STRIDES_MAX; k++) {
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

/* Computes a coordinate of every process for each pair of strides of which one
 * divides the other (rank_strides.h). They are computed once, because a
 * division at each use would be slow. */
static void rank_strides_fill_coordinates(struct nw_rank_strides *strides,
                                          int32_t n, const int32_t *stride,
                                          int count)
{
    int32_t *at = strides->at;

    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++) {
            if (stride[k] % stride[i] || stride[k] == stride[i])
                continue;
            strides->count++;
            for (int32_t p = 0; p < n; p++)
                *at++ = p / stride[i] % (stride[k] / stride[i]);
        }
}

nw_status nw_rank_strides_find(const struct nw_placement *placement,
                               struct nw_rank_strides *out)
{
    int32_t stride[STRIDES_MAX + 1], n = placement->count;
    double *bytes = NULL;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY((size_t)n + 1, bytes),
                                    NW_ARRAY((size_t)n * PAIRS_MAX, out->at));

    out->count = 0;
    if (!status) {
        for (int32_t p = 0; p < n; p++)
            for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++)
                bytes[abs(placement->arc[a].peer - p)] += placement->arc[a].out;
        bytes[0] = 0;
        rank_strides_fill_coordinates(out, n, stride,
                                      rank_strides_choose(bytes, n, stride));
    }
    free(bytes);
    return status;
}
