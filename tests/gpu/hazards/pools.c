/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers from cuMemAllocAsync (a pool) and from cuMemCreate and cuMemMap
 * (virtual memory management), as PyTorch's allocators use them. For both the
 * driver refuses CUDA IPC and SYNC_MEMOPS. */
#include "exchange.h"

/* CUmemAllocationProp and CUmemAccessDesc, as in cuda.h. */
struct property {
    int type, handle_types;
    struct {
        int type, id;
    } location;
    void *security;
    unsigned char flags[8];
};
struct access {
    struct {
        int type, id;
    } location;
    int flags;
};
enum { PINNED = 1, DEVICE = 1, MINIMUM = 0, READ_AND_WRITE = 3 };

static struct {
    int (*alloc)(uint64_t *memory, size_t bytes, void *stream);
    int (*granularity)(size_t *out, const struct property *property, int which);
    int (*create)(uint64_t *handle, size_t bytes,
                  const struct property *property, unsigned long long flags);
    int (*reserve)(uint64_t *address, size_t bytes, size_t alignment,
                   uint64_t at, unsigned long long flags);
    int (*map)(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
               unsigned long long flags);
    int (*allow)(uint64_t address, size_t bytes, const struct access *access,
                 size_t count);
} call;

static void find(void)
{
    *(void **)&call.alloc = dlsym(hazard.driver, "cuMemAllocAsync");
    *(void **)&call.granularity =
        dlsym(hazard.driver, "cuMemGetAllocationGranularity");
    *(void **)&call.create = dlsym(hazard.driver, "cuMemCreate");
    *(void **)&call.reserve = dlsym(hazard.driver, "cuMemAddressReserve");
    *(void **)&call.map = dlsym(hazard.driver, "cuMemMap");
    *(void **)&call.allow = dlsym(hazard.driver, "cuMemSetAccess");
}

static uint64_t from_pool(void)
{
    uint64_t memory = 0;

    hazard_must(call.alloc(&memory, EXCHANGE_MOST, NULL), "cuMemAllocAsync");
    hazard_must(hazard.wait(NULL), "cuStreamSynchronize");
    return memory;
}

static uint64_t mapped(void)
{
    struct property property = {.type = PINNED, .location = {DEVICE, 0}};
    struct access access = {.location = {DEVICE, 0}, .flags = READ_AND_WRITE};
    size_t grain = 0, bytes;
    uint64_t handle = 0, address = 0;

    hazard_must(call.granularity(&grain, &property, MINIMUM),
                "cuMemGetAllocationGranularity");
    bytes = (EXCHANGE_MOST + grain - 1) / grain * grain;
    hazard_must(call.create(&handle, bytes, &property, 0), "cuMemCreate");
    hazard_must(call.reserve(&address, bytes, 0, 0, 0), "cuMemAddressReserve");
    hazard_must(call.map(address, bytes, 0, handle, 0), "cuMemMap");
    hazard_must(call.allow(address, bytes, &access, 1), "cuMemSetAccess");
    return address;
}

int main(void)
{
    int tried = 0;
    long wrong = 0;

    hazard_begin("pools", MPI_THREAD_SINGLE);
    hazard_primary();
    find();
    if (call.alloc) {
        exchange_buffers(from_pool(), from_pool());
        wrong += exchange_all();
        tried++;
    }
    if (call.create && call.reserve && call.map && call.allow &&
        call.granularity) {
        exchange_buffers(mapped(), mapped());
        wrong += exchange_all();
        tried++;
    }
    if (!tried)
        hazard_absent("the driver has neither pools nor mapped memory");
    return hazard_end(wrong);
}
