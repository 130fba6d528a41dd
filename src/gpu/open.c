/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the GPU driver, and implements the public functions about GPUs. */
#include "gpu/gpu.h"

#include "base/status.h"

#include <stdio.h>

nw_status nw_gpu_open(const struct nw_gpu **out, int32_t *count)
{
    nw_status status = nw_gpu_cuda.open(count);
    char why[200];

    *out = &nw_gpu_cuda;
    if (!status)
        return NW_OK;
    snprintf(why, sizeof why, "%s", nw_error_text());
    *out = &nw_gpu_hip;
    if (!nw_gpu_hip.open(count))
        return NW_OK;
    *out = NULL;
    return nw_fail(status, "%s; %s", why, nw_error_text());
}

nw_status nw_gpu_count(int32_t *out)
{
    const struct nw_gpu *gpu;

    return nw_gpu_open(&gpu, out);
}

nw_status nw_gpu_describe(int32_t number, struct nw_gpu_properties *out)
{
    const struct nw_gpu *gpu;
    int32_t count = 0;
    nw_status status = nw_gpu_open(&gpu, &count);

    if (status)
        return status;
    if (number < 0 || number >= count)
        return nw_fail(
            NW_EINVAL,
            "GPU %d does not exist: this machine has %d, counted from 0",
            number, count);
    return gpu->properties(number, out);
}

bool nw_gpu_owns(const void *memory, int32_t *number)
{
    const struct nw_gpu *gpu;
    int32_t count, whose = -1;
    bool holds = !nw_gpu_open(&gpu, &count) && gpu->holds(memory, &whose);

    if (number)
        *number = holds ? whose : -1;
    return holds;
}
