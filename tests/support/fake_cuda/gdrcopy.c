/* SPDX-License-Identifier: BSD-3-Clause */
/* A test double of GDRCopy, libgdrapi.so.2, for memory of the driver's double.
 * It pins whole pages of 64 KiB of one allocation, as the real GDRCopy does,
 * and aborts the program if a call names memory that is not pinned and mapped.
 * Copies to and from a mapping take the time that FAKE_CUDA_COSTS sets for the
 * kinds store and load. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum { PAGE = 65536, INVALID = 22, NO_MEMORY = 12 };

struct gdr_handle {
    unsigned long h;
};
/* Pinned memory; its handle is the address of this struct. */
struct pinned {
    char *host; /* address by which the host accesses the first byte */
    size_t bytes;
    bool mapped;
};

static int (*cuda_map)(uint64_t address, size_t bytes, void **out);
static void (*cuda_work)(const char *kind, size_t bytes);

API void *gdr_open(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);

    if (driver) {
        *(void **)&cuda_map = dlsym(driver, "fake_cuda_map");
        *(void **)&cuda_work = dlsym(driver, "fake_cuda_work");
    }
    return cuda_map && cuda_work ? (void *)&cuda_map : NULL;
}

API int gdr_close(void *session)
{
    return session ? 0 : INVALID;
}

API int gdr_pin_buffer(void *session, unsigned long address, size_t bytes,
                       uint64_t token, uint32_t space, struct gdr_handle *out)
{
    struct pinned *pinned;
    void *host = NULL;

    if (!session || token || space || address % PAGE || bytes % PAGE ||
        !bytes || cuda_map(address, 1, &host))
        return INVALID;
    pinned = malloc(sizeof *pinned);
    if (!pinned)
        return NO_MEMORY;
    *pinned = (struct pinned){host, bytes, false};
    out->h = (unsigned long)pinned;
    return 0;
}

API int gdr_unpin_buffer(void *session, struct gdr_handle handle)
{
    struct pinned *pinned = (struct pinned *)handle.h;

    if (!session || pinned->mapped)
        return INVALID;
    free(pinned);
    return 0;
}

API int gdr_map(void *session, struct gdr_handle handle, void **out,
                size_t bytes)
{
    struct pinned *pinned = (struct pinned *)handle.h;

    if (!session || pinned->mapped || bytes != pinned->bytes)
        return INVALID;
    pinned->mapped = true;
    *out = pinned->host;
    return 0;
}

API int gdr_unmap(void *session, struct gdr_handle handle, void *at,
                  size_t bytes)
{
    struct pinned *pinned = (struct pinned *)handle.h;

    if (!session || !pinned->mapped || at != pinned->host ||
        bytes != pinned->bytes)
        return INVALID;
    pinned->mapped = false;
    return 0;
}

/* Aborts the program if the bytes are not within mapped memory of the handle.
 * The real GDRCopy does not check this. */
static void check(struct gdr_handle handle, const void *at, size_t bytes)
{
    const struct pinned *pinned = (const struct pinned *)handle.h;
    size_t offset = (size_t)((const char *)at - pinned->host);

    if (pinned->mapped && offset <= pinned->bytes &&
        bytes <= pinned->bytes - offset)
        return;
    fprintf(stderr, "fake GDRCopy: %zu bytes at %p are not mapped\n", bytes,
            at);
    abort();
}

API int gdr_copy_to_mapping(struct gdr_handle handle, void *to,
                            const void *from, size_t bytes)
{
    check(handle, to, bytes);
    memcpy(to, from, bytes);
    cuda_work("store", bytes);
    return 0;
}

API int gdr_copy_from_mapping(struct gdr_handle handle, void *to,
                              const void *from, size_t bytes)
{
    check(handle, from, bytes);
    memcpy(to, from, bytes);
    cuda_work("load", bytes);
    return 0;
}
