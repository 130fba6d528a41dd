/* SPDX-License-Identifier: BSD-3-Clause */
/* The strides of a pattern, heaviest first, and the coordinates they make. */
#include "map/placement/rank_strides.h"
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

static void list_stripes(struct nw_stripes *stripes, const int32_t *stride,
                         int count)
{
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++)
            if (stride[k] % stride[i] == 0 && stride[k] > stride[i]) {
                stripes->stripe[stripes->count].step = stride[i];
                stripes->stripe[stripes->count++].size = stride[k] / stride[i];
            }
}

/* Divisions once, not at each cut. */
static nw_status fill_coordinates(struct nw_stripes *stripes, int32_t n)
{
    size_t total = (size_t)n * (size_t)stripes->count;
    nw_status status =
        nw_alloc(total, sizeof *stripes->memory, &stripes->memory);

    for (int i = 0; !status && i < stripes->count; i++) {
        int32_t step = stripes->stripe[i].step, size = stripes->stripe[i].size;
        int32_t *at = stripes->memory + (size_t)i * (size_t)n;

        stripes->stripe[i].at = at;
        for (int32_t p = 0; p < n; p++)
            at[p] = p / step % size;
    }
    return status;
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
    free(bytes);
    list_stripes(&stripes, stride, count);
    status = fill_coordinates(&stripes, placing->count);
    if (!status)
        *out = stripes;
    return status;
}

void nw_stripes_fini(struct nw_stripes *stripes)
{
    free(stripes->memory);
    *stripes = (struct nw_stripes){.count = 0};
}
