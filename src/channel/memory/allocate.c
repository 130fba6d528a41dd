/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates and copies memory for a program's messages, in host or GPU memory.
 * GPU memory comes from Vulkan if the user has selected the Vulkan mapping. */
#include "channel/memory/mapping.h"
#include "channel/memory/memory.h"
#include "channel/memory/vulkan.h"

#include "base/array.h"
#include "base/status.h"

#include <nodewise/channel.h>

#include <stdlib.h>
#include <string.h>

/* If the memory comes from CUDA and the calling thread has no current CUDA
 * context, the thread gets that of the GPU that holds the memory. */
nw_status nw_channel_memory_new(bool gpu, size_t bytes, void **out)
{
    void *host = NULL;
    int32_t home;
    nw_status status;

    if (!gpu)
        return nw_alloc(bytes, 1, out);
    if (!nw_memory_open())
        return nw_fail(NW_ENODEV, "no GPU found");
    home = nw_memory_home();
    if (nw_gpu_mapping_makes() && !nw_vulkan_new(home, bytes, out, &host))
        return NW_OK;
    status = nw_gpu_cuda.context() ? NW_OK : nw_gpu_cuda.select(home);
    return status ? status : nw_memory_new(home, bytes, out);
}

void nw_channel_memory_free(bool gpu, void *memory)
{
    if (!gpu)
        free(memory);
    else if (!nw_vulkan_free(memory))
        nw_memory_free(memory);
}

nw_status nw_channel_memory_copy(void *to, const void *from, size_t bytes)
{
    int32_t gpu = nw_memory_gpu(to);

    if (gpu >= 0)
        return nw_memory_copy_in(gpu, to, from, bytes);
    gpu = nw_memory_gpu(from);
    if (gpu >= 0)
        return nw_memory_copy_out(gpu, to, from, bytes);
    memcpy(to, from, bytes);
    return NW_OK;
}
