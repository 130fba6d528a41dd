/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the real driver does not have, for the doubles of GDRCopy and
 * libfabric. They find the bytes of GPU memory in host memory. If
 * FAKE_CUDA_COSTS is set, they also take the time that the CPU or an adapter
 * needs to move the bytes. */
#include "fake.h"

#include <string.h>

API int fake_cuda_map(uint64_t address, size_t bytes, void **host)
{
    int gpu;

    if (fake_broken)
        return fake_broken;
    if (!fake_holds(address, bytes, &gpu) || gpu < 0)
        return INVALID_VALUE;
    *host = fake_real(address);
    return SUCCESS;
}

/* Makes the double behave like a GPU that was reset: every later call of this
 * process returns the code. */
API void fake_cuda_break(int code)
{
    fake_broken = code;
}

void fake_spend(enum cost kind, size_t bytes)
{
    double cost = fake_cost(kind, bytes), start;

    if (cost <= 0)
        return;
    start = fake_clock();
    while (fake_clock() - start < cost)
        continue;
}

API void fake_cuda_work(const char *kind, size_t bytes)
{
    for (int i = 0; i < COSTS; i++)
        if (!strcmp(kind, fake_cost_names[i]))
            fake_spend((enum cost)i, bytes);
}
