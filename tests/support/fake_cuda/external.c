/* SPDX-License-Identifier: BSD-3-Clause */
/* The import of memory that another driver has exported. It is tested with the
 * memory of Mesa's software implementation of Vulkan, which is a file in memory
 * whose first page says where the contents begin. */
#include "fake.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* CUDA_EXTERNAL_MEMORY_HANDLE_DESC, in the layout of the real driver. */
struct handle_description {
    int type;
    union {
        int fd;
        void *words[2];
    } handle;
    unsigned long long size;
    unsigned flags, reserved[16];
};
/* CUDA_EXTERNAL_MEMORY_BUFFER_DESC, in the layout of the real driver. */
struct buffer_description {
    unsigned long long offset, size;
    unsigned flags, reserved[16];
};

enum { OPAQUE_FD = 1, PAGE = 4096 };

/* Imported memory: the file, and the part of it that is the memory. */
struct external {
    int fd;
    off_t start;
    size_t size;
};

/* Returns the offset in the file at which the memory begins. It is 0 if the
 * file has exactly the given size, and one page if the file begins with the
 * page of the other driver. Otherwise it is -1. */
static off_t start_of(int fd, unsigned long long size)
{
    struct stat file;
    uint64_t head[2] = {0};

    if (fstat(fd, &file) || (uint64_t)file.st_size < size)
        return -1;
    if ((uint64_t)file.st_size == size)
        return 0;
    return pread(fd, head, sizeof head, 0) == sizeof head &&
                   head[0] == (uint64_t)file.st_size && head[1] == PAGE &&
                   (uint64_t)file.st_size >= size + PAGE
               ? PAGE
               : -1;
}

API int cuImportExternalMemory(struct external **out,
                               const struct handle_description *description)
{
    struct external *external;
    off_t start;

    FAULT();
    if (!fake_current())
        return INVALID_CONTEXT;
    if (description->type != OPAQUE_FD || description->flags)
        return NOT_SUPPORTED;
    start = start_of(description->handle.fd, description->size);
    if (start < 0)
        return INVALID_VALUE;
    external = malloc(sizeof *external);
    if (!external)
        return OUT_OF_MEMORY;
    *external =
        (struct external){description->handle.fd, start, description->size};
    __atomic_add_fetch(&fake_live, 1, __ATOMIC_RELAXED);
    *out = external;
    return SUCCESS;
}

API int
cuExternalMemoryGetMappedBuffer(uint64_t *pointer, struct external *external,
                                const struct buffer_description *description)
{
    FAULT();
    if (description->flags || description->offset % PAGE ||
        description->offset + description->size > external->size)
        return INVALID_VALUE;
    return fake_adopt(external->fd,
                      external->start + (off_t)description->offset,
                      description->size, pointer);
}

API int cuDestroyExternalMemory(struct external *external)
{
    close(external->fd);
    free(external);
    __atomic_sub_fetch(&fake_live, 1, __ATOMIC_RELAXED);
    return SUCCESS;
}
