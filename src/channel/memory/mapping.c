/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the GPU mapping, by which the CPU copies to and from GPU memory
 * without the driver: GDRCopy, unless the user asks for another. Vulkan reaches
 * only memory that Vulkan allocated. The resident kernel was slower
 * than the driver's copies for every message size on an H100
 * (bench/results/gpu-sharing-2026-11-26.txt). */
#include "channel/memory/mapping.h"

#include "base/status.h"
#include "channel/memory/memory.h"
#include "channel/memory/vulkan.h"

#include <stdlib.h>
#include <string.h>

static const struct nw_gpu_mapping *const all[] = {
    &nw_gpu_mapping_gdrcopy, &nw_gpu_mapping_vulkan, &nw_gpu_mapping_resident};

/* Returns the name of the mapping that the user asked for; NULL for the
 * default, GDRCopy. */
static const char *mapping_asked(void)
{
    const char *name = getenv("NODEWISE_CHANNEL_MAPPING");

    return name && *name && strcmp(name, "auto") ? name : NULL;
}

const struct nw_gpu_mapping *nw_gpu_mapping_open(void)
{
    const char *name = mapping_asked();

    for (size_t i = 0; nw_memory_open() && i < sizeof all / sizeof *all; i++)
        if (!strcmp(name ? name : nw_gpu_mapping_gdrcopy.name, all[i]->name) &&
            all[i]->open())
            return all[i];
    return NULL;
}

bool nw_gpu_mapping_serves(const struct nw_gpu_mapping *mapping,
                           const void *gpu)
{
    return mapping &&
           (mapping != &nw_gpu_mapping_vulkan || nw_vulkan_at(gpu, 1) != NULL);
}

bool nw_gpu_mapping_makes(void)
{
    const struct nw_gpu_mapping *mapping = nw_gpu_mapping_open();
    bool needed = mapping == &nw_gpu_mapping_vulkan;

    nw_gpu_mapping_close(mapping);
    return needed;
}

void nw_gpu_mapping_close(const struct nw_gpu_mapping *mapping)
{
    if (mapping && mapping->close)
        mapping->close();
}

void nw_gpu_mapping_prepare(const struct nw_gpu_mapping *mapping)
{
    if (mapping && mapping->prepare)
        mapping->prepare(nw_memory_home());
}

nw_status nw_gpu_mapping_store(const struct nw_gpu_mapping *mapping, void *gpu,
                               const void *from, size_t bytes)
{
    void *at = nw_vulkan_at(gpu, bytes);
    struct nw_mapped mapped;
    nw_status status;

    if (at) {
        nw_stores(at, from, bytes);
        return NW_OK;
    }
    if (!mapping->map)
        return mapping->store(gpu, from, bytes);
    status = mapping->map(gpu, bytes, &mapped);
    if (!status) {
        nw_mapped_write(mapping, &mapped, mapped.at, from, bytes);
        nw_mapped_release(mapping, &mapped);
    }
    return status;
}

nw_status nw_gpu_mapping_load(const struct nw_gpu_mapping *mapping, void *to,
                              void *gpu, size_t bytes)
{
    struct nw_mapped mapped;
    nw_status status;

    if (!mapping->map)
        return mapping->load(to, gpu, bytes);
    status = mapping->map(gpu, bytes, &mapped);
    if (!status) {
        nw_mapped_read(mapping, &mapped, to, mapped.at, bytes);
        nw_mapped_release(mapping, &mapped);
    }
    return status;
}

void nw_mapped_release(const struct nw_gpu_mapping *mapping,
                       const struct nw_mapped *mapped)
{
    if (mapping->release)
        mapping->release(mapped);
}

void nw_mapped_write(const struct nw_gpu_mapping *mapping,
                     const struct nw_mapped *mapped, void *to, const void *from,
                     size_t bytes)
{
    if (mapping->write)
        mapping->write(mapped, to, from, bytes);
    else
        nw_stores(to, from, bytes);
}

void nw_mapped_read(const struct nw_gpu_mapping *mapping,
                    const struct nw_mapped *mapped, void *to, const void *from,
                    size_t bytes)
{
    if (mapping->read)
        mapping->read(mapped, to, from, bytes);
    else
        nw_loads(to, from, bytes);
}
