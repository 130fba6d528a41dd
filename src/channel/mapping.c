/* SPDX-License-Identifier: BSD-3-Clause */
/* Which way past the driver is taken. GDRCopy's mapping is the fastest; what
 * the tests' double of the driver plays comes next, as it stands in for that
 * one. The others are used only if they are asked for: Vulkan's reaches nothing
 * but memory that we made through it, and the resident kernel lost to the
 * driver's copies in messages of every size on an H100
 * (bench/results/gpu-sharing-2026-11-26.txt). */
#include "channel/mapping.h"

#include "base/status.h"
#include "channel/memory.h"
#include "channel/vulkan.h"

#include <stdlib.h>
#include <string.h>

static const struct nw_mapping *const all[] = {
    &nw_mapping_gdrcopy, &nw_mapping_emulated, &nw_mapping_vulkan,
    &nw_mapping_resident};
enum { UNASKED = 2 }; /* of them, the first */

/* NULL: the best. */
static const char *asked(void)
{
    const char *name = getenv("NODEWISE_CHANNEL_MAPPING");

    return name && *name && strcmp(name, "auto") ? name : NULL;
}

const struct nw_mapping *nw_mapping_open(void)
{
    const char *name = asked();

    for (size_t i = 0; nw_memory_open() && i < sizeof all / sizeof *all; i++)
        if ((name ? !strcmp(name, all[i]->name) : i < UNASKED) &&
            all[i]->open())
            return all[i];
    return NULL;
}

bool nw_mapping_serves(const struct nw_mapping *mapping, const void *gpu)
{
    return mapping &&
           (mapping != &nw_mapping_vulkan || nw_vulkan_at(gpu, 1) != NULL);
}

bool nw_mapping_makes(void)
{
    const struct nw_mapping *mapping = nw_mapping_open();
    bool needed = mapping == &nw_mapping_vulkan;

    nw_mapping_close(mapping);
    return needed;
}

void nw_mapping_close(const struct nw_mapping *mapping)
{
    if (mapping && mapping->close)
        mapping->close();
}

void nw_mapping_prepare(const struct nw_mapping *mapping)
{
    if (mapping && mapping->prepare)
        mapping->prepare(nw_memory_home());
}

bool nw_mapping_is_asked_for(const struct nw_mapping *mapping)
{
    const char *name = asked();

    return name && !strcmp(name, mapping->name);
}

nw_status nw_mapping_store(const struct nw_mapping *mapping, void *gpu,
                           const void *from, size_t bytes)
{
    void *mapped = nw_vulkan_at(gpu, bytes);
    nw_status status = NW_OK;

    if (!mapped && !mapping->map)
        return mapping->store(gpu, from, bytes);
    if (!mapped)
        status = mapping->map(gpu, bytes, &mapped);
    if (status)
        return status;
    nw_stores(mapped, from, bytes);
    nw_mapping_stored(mapping, bytes);
    return NW_OK;
}

nw_status nw_mapping_load(const struct nw_mapping *mapping, void *to, void *gpu,
                          size_t bytes)
{
    void *mapped = NULL;
    nw_status status;

    if (!mapping->map)
        return mapping->load(to, gpu, bytes);
    status = mapping->map(gpu, bytes, &mapped);
    if (status)
        return status;
    nw_loads(to, mapped, bytes);
    nw_mapping_loaded(mapping, bytes);
    return NW_OK;
}

void nw_mapping_stored(const struct nw_mapping *mapping, size_t bytes)
{
    if (mapping->stored)
        mapping->stored(bytes);
}

void nw_mapping_loaded(const struct nw_mapping *mapping, size_t bytes)
{
    if (mapping->loaded)
        mapping->loaded(bytes);
}
