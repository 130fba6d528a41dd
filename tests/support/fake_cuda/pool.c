/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the double that does not come from cuMemAlloc: memory of a pool,
 * and physical memory that is mapped piece by piece, as PyTorch's expandable
 * segments do. For such memory, the driver has no id, and a synchronous copy
 * returns before it is complete. The driver does not share the memory with
 * other processes. It returns the start and size only of the piece that
 * contains an address. */
#include "fake.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GRANULARITY = 65536, PAGE = 4096 };

API int cuMemAlloc_v2(uint64_t *pointer, size_t size);

API int cuMemAllocAsync(uint64_t *pointer, size_t size, struct stream *stream)
{
    int code;

    FAULT();
    (void)stream;
    code = cuMemAlloc_v2(pointer, size);
    if (!code)
        fake_make_bare(*pointer);
    return code;
}

/* CUmemAllocationProp in the layout of the real driver, as far as it is
 * read. */
struct properties {
    int kind, handles;
    struct {
        int kind, id;
    } location;
};

/* Physical memory (cuMemCreate). */
struct physical {
    int fd, gpu;
    size_t size;
};

API int cuMemGetAllocationGranularity(size_t *size,
                                      const struct properties *properties,
                                      int option)
{
    (void)properties;
    (void)option;
    *size = GRANULARITY;
    return SUCCESS;
}

API int cuMemCreate(struct physical **out, size_t size,
                    const struct properties *properties,
                    unsigned long long flags)
{
    struct physical *made;

    FAULT();
    if (flags || !size || size % GRANULARITY)
        return INVALID_VALUE;
    made = malloc(sizeof *made);
    if (!made)
        return OUT_OF_MEMORY;
    *made = (struct physical){memfd_create("fake-cuda-vmm", MFD_CLOEXEC),
                              properties->location.id, size};
    if (made->fd < 0 || ftruncate(made->fd, (off_t)size + PAGE)) {
        free(made);
        return OUT_OF_MEMORY;
    }
    *out = made;
    return SUCCESS;
}

API int cuMemRelease(struct physical *physical)
{
    close(physical->fd);
    free(physical);
    return SUCCESS;
}

API int cuMemAddressReserve(uint64_t *out, size_t size, size_t alignment,
                            uint64_t address, unsigned long long flags)
{
    (void)address;
    if (flags || !size || size % GRANULARITY || alignment > GRANULARITY)
        return INVALID_VALUE;
    *out = fake_reserve(size);
    return *out ? SUCCESS : OUT_OF_MEMORY;
}

API int cuMemAddressFree(uint64_t address, size_t size)
{
    (void)size;
    return address ? SUCCESS : INVALID_VALUE;
}

API int cuMemMap(uint64_t address, size_t size, size_t offset,
                 const struct physical *physical, unsigned long long flags)
{
    FAULT();
    if (flags || offset || size != physical->size)
        return INVALID_VALUE;
    return fake_map_at(address, size, physical->gpu,
                       fcntl(physical->fd, F_DUPFD_CLOEXEC, 0));
}

API int cuMemSetAccess(uint64_t address, size_t size, const void *access,
                       size_t count)
{
    (void)size;
    return address && access && count ? SUCCESS : INVALID_VALUE;
}

API int cuMemUnmap(uint64_t address, size_t size)
{
    return fake_unmap_at(address, size);
}
