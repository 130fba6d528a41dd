/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the differences of rank numbers with the most traffic (strides), and
 * the coordinates of ranks that follow from them. */
#include "map/placement/rank_strides.h"
#include "base/array.h"

#include <stdlib.h>

#define STRIDES_MAX 6 /* most strides that are considered */

/* Adds to bytes[d] the bytes between processes whose numbers differ by d. */
static void rank_strides_weigh(const struct nw_placement *placement,
                               double *bytes)
{
    for (int32_t p = 0; p < placement->count; p++)
        for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++)
            bytes[abs(placement->arc[a].peer - p)] += placement->arc[a].out;
}

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

/* For each pair of strides of which one divides the other, lists the coordinate
 * p / step % size of processes p that it gives (rank_strides.h). */
static void rank_strides_list_strides(struct nw_rank_strides *strides,
                                      const int32_t *stride, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++)
            if (stride[k] % stride[i] == 0 && stride[k] > stride[i]) {
                strides->stride[strides->count].step = stride[i];
                strides->stride[strides->count++].size = stride[k] / stride[i];
            }
}

/* Computes every coordinate of every process once, because a division at each
 * use would be slow. */
static nw_status rank_strides_fill_coordinates(struct nw_rank_strides *strides,
                                               int32_t n)
{
    size_t total = (size_t)n * (size_t)strides->count;
    nw_status status =
        nw_alloc(total, sizeof *strides->memory, &strides->memory);

    for (int i = 0; !status && i < strides->count; i++) {
        int32_t step = strides->stride[i].step, size = strides->stride[i].size;
        int32_t *at = strides->memory + (size_t)i * (size_t)n;

        strides->stride[i].at = at;
        for (int32_t p = 0; p < n; p++)
            at[p] = p / step % size;
    }
    return status;
}

nw_status nw_rank_strides_find(const struct nw_placement *placement,
                               struct nw_rank_strides *out)
{
    int32_t stride[STRIDES_MAX + 1];
    struct nw_rank_strides strides = {.count = 0};
    double *bytes;
    int count;
    nw_status status =
        nw_alloc((size_t)placement->count + 1, sizeof *bytes, &bytes);

    if (status)
        return status;
    rank_strides_weigh(placement, bytes);
    bytes[0] = 0;
    count = rank_strides_choose(bytes, placement->count, stride);
    free(bytes);
    rank_strides_list_strides(&strides, stride, count);
    status = rank_strides_fill_coordinates(&strides, placement->count);
    if (!status)
        *out = strides;
    return status;
}

void nw_rank_strides_fini(struct nw_rank_strides *strides)
{
    free(strides->memory);
    *strides = (struct nw_rank_strides){.count = 0};
}
