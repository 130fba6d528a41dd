/* SPDX-License-Identifier: BSD-3-Clause */
/* The strides of a pattern, heaviest first, and the coordinates they make. */
#include "map/stripes.h"
#include "base/array.h"

#include <stdlib.h>

#define STRIDES_MOST 6

/* Bytes by difference of rank. */
static void weigh(const struct nw_placing *placing, double *bytes)
{
    for (int32_t p = 0; p < placing->count; p++)
        for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++)
            bytes[abs(placing->arc[a].peer - p)] += placing->arc[a].out;
}

/* The heaviest differences, ascending, and at the end the count itself. */
static int choose(double *bytes, int32_t n, int32_t *stride)
{
    int count = 0;

    for (int k = 0; k < STRIDES_MOST; k++) {
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

nw_status nw_stripes_find(const struct nw_placing *placing,
                          struct nw_stripes *out)
{
    int32_t stride[STRIDES_MOST + 1];
    struct nw_stripes stripes = {.count = 0};
    double *bytes;
    int count;
    nw_status status =
        nw_alloc((size_t)placing->count + 1, sizeof *bytes, &bytes);

    if (status)
        return status;
    weigh(placing, bytes);
    bytes[0] = 0;
    count = choose(bytes, placing->count, stride);
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++)
            if (stride[k] % stride[i] == 0 && stride[k] > stride[i]) {
                stripes.stripe[stripes.count].step = stride[i];
                stripes.stripe[stripes.count++].size = stride[k] / stride[i];
            }
    free(bytes);
    *out = stripes;
    return NW_OK;
}
