/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache of the allocations that the driver reported last. Each thread has its
 * own, so that no thread waits for another. Old entries are harmless, since the
 * driver never reuses an id. */
#include "runtime/messages/pointer_cache.h"

#include "gpu/gpu.h"
#include "runtime/messages/staging.h"

enum { KEPT = 8 };

static _Thread_local struct {
    struct nw_pointer owner[KEPT];
    unsigned next;
} kept;

bool nw_pointer_holds(const struct nw_pointer *owner, const void *memory,
                      size_t bytes)
{
    uintptr_t offset = (uintptr_t)memory - owner->start;

    return offset < owner->bytes && bytes <= owner->bytes - offset;
}

/* Asks the driver for the allocation that contains `memory`, while the
 * allocation's GPU is current. Restores the current GPU afterwards. */
static void pointer_cache_ask(const void *memory, struct nw_pointer *out)
{
    void *before = nw_gpu_cuda.context();
    struct nw_gpu_range range = {0};
    int32_t gpu = 0;

    (void)nw_gpu_cuda.holds(memory, &gpu);
    *out = (struct nw_pointer){.gpu = gpu < 0 ? 0 : gpu,
                               .managed = nw_gpu_is_managed(memory)};
    if (!nw_gpu_cuda.select(out->gpu) && !nw_gpu_cuda.range(memory, &range)) {
        out->id = range.id;
        out->start = (uintptr_t)range.start;
        out->bytes = range.bytes;
    }
    nw_gpu_cuda.restore(before);
}

bool nw_pointer_find(const void *memory, struct nw_pointer *out)
{
    for (int i = 0; i < KEPT; i++)
        if (nw_pointer_holds(&kept.owner[i], memory, 1) &&
            nw_gpu_cuda.id(memory) == kept.owner[i].id) {
            *out = kept.owner[i];
            return true;
        }
    if (!nw_gpu_holds(memory))
        return false;
    *out = (struct nw_pointer){0};
    if (nw_messages_open_gpu())
        return true; // a later copy will report the error
    pointer_cache_ask(memory, out);
    if (out->id)
        kept.owner[kept.next++ % KEPT] = *out;
    return true;
}
