/* SPDX-License-Identifier: BSD-3-Clause */
/* Distinguishes host buffers from GPU buffers by asking the CUDA driver, which
 * is loaded at first use. No function changes the caller's current GPU. */
#include "channel/memory/memory.h"

#include "base/status.h"
#include "channel/memory/shared_gpu_copy.h"
#include "gpu/cuda.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

static const struct nw_gpu *const gpus = &nw_gpu_cuda;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool found;
static int32_t gpu_count;

static void memory_look(void)
{
    found = !gpus->open(&gpu_count);
}

bool nw_memory_open(void)
{
    (void)pthread_once(&once, memory_look);
    return found;
}

int32_t nw_memory_gpus(void)
{
    return gpu_count;
}

int32_t nw_memory_home(void)
{
    return nw_cuda_home();
}

int32_t nw_memory_gpu(const void *memory)
{
    int32_t gpu = -1;

    if (!memory || !nw_memory_open() || !gpus->holds(memory, &gpu))
        return -1;
    return gpu < 0 ? 0 : gpu;
}

struct memory_copy {
    int32_t gpu;
    bool out; /* true: out of GPU memory; false: into GPU memory */
    void *to;
    const void *from;
    size_t bytes;
};

static nw_status memory_copy(const struct memory_copy *copy)
{
    void *before = gpus->context();
    nw_status status = gpus->select(copy->gpu);

    if (!status && copy->out)
        status = gpus->copy_out(copy->to, copy->from, copy->bytes);
    else if (!status && nw_turns_serve(copy->gpu, copy->to, copy->bytes))
        status = nw_turns_copy_in(copy->gpu, copy->to, copy->from, copy->bytes);
    else if (!status)
        status = gpus->copy_in(copy->to, copy->from, copy->bytes);
    gpus->restore(before);
    return status;
}

nw_status nw_memory_copy_in(int32_t gpu, void *to, const void *from,
                            size_t bytes)
{
    return memory_copy(&(struct memory_copy){gpu, false, to, from, bytes});
}

nw_status nw_memory_copy_out(int32_t gpu, void *to, const void *from,
                             size_t bytes)
{
    return memory_copy(&(struct memory_copy){gpu, true, to, from, bytes});
}

nw_status nw_memory_copy_over(int32_t gpu, void *to, const void *from,
                              size_t bytes)
{
    void *before = gpus->context();
    nw_status status = gpus->select(gpu < 0 ? nw_memory_home() : gpu);

    if (!status && gpu < 0)
        status = gpus->copy_in(to, from, bytes);
    else if (!status)
        status = nw_cuda_copy_over(to, from, bytes);
    gpus->restore(before);
    return status;
}

struct nw_gpu_life nw_memory_life(int32_t gpu)
{
    void *before = gpus->context();
    struct nw_gpu_life life = {0, 0};

    if (!gpus->select(gpu))
        life = gpus->life();
    gpus->restore(before);
    return life;
}

bool nw_memory_lives(const struct nw_gpu_life *life)
{
    return gpus->lives(life);
}

nw_status nw_memory_range(const void *memory, struct nw_memory_range *out)
{
    struct nw_gpu_range range = {0};
    nw_status status = gpus->range(memory, &range);

    if (!status)
        *out = (struct nw_memory_range){range.start, range.bytes, range.id};
    return status;
}

nw_status nw_memory_keep_in_step(void *memory)
{
    return gpus->keep_in_step(memory);
}

nw_status nw_memory_offer(int32_t gpu, void *memory,
                          struct nw_memory_offer *out)
{
    void *before = gpus->context();
    struct nw_gpu_range range = {0};
    struct nw_gpu_handle handle;
    size_t offset = 0;
    nw_status status = gpus->select(gpu);

    if (!status)
        status = gpus->range(memory, &range);
    if (!status)
        status = gpus->memory_export(memory, &handle, &offset);
    gpus->restore(before);
    if (status)
        return status;
    memcpy(out->handle, handle.bytes, sizeof out->handle);
    out->offset = offset;
    out->id = range.id;
    out->bytes = range.bytes - offset;
    return NW_OK;
}

nw_status nw_memory_open_offer(int32_t at, const char handle[64], void **out)
{
    void *before = gpus->context();
    struct nw_gpu_handle words;
    nw_status status = gpus->select(at);

    memcpy(words.bytes, handle, sizeof words.bytes);
    if (!status)
        status = gpus->memory_import(&words, out);
    gpus->restore(before);
    return status;
}

void nw_memory_close(int32_t at, void *memory)
{
    void *before;

    if (!memory)
        return;
    before = gpus->context();
    if (!gpus->select(at))
        gpus->memory_close(memory);
    gpus->restore(before);
}

nw_status nw_memory_dmabuf(int32_t gpu, void *memory, size_t bytes, int *out)
{
    void *before = gpus->context();
    nw_status status = gpus->select(gpu);

    if (!status)
        status = nw_cuda_dmabuf(memory, bytes, out);
    gpus->restore(before);
    return status;
}

nw_status nw_memory_new(int32_t gpu, size_t bytes, void **out)
{
    void *before = gpus->context();
    nw_status status = gpus->select(gpu);

    if (!status)
        status = gpus->alloc(bytes, out);
    gpus->restore(before);
    return status;
}

/* Makes the GPU of the memory current during the call, so that it also works in
 * a thread without a current GPU. */
void nw_memory_free(void *memory)
{
    int32_t gpu = nw_memory_gpu(memory);
    void *before;

    if (gpu < 0)
        return;
    before = gpus->context();
    (void)!gpus->select(gpu);
    gpus->free(memory);
    gpus->restore(before);
}

/* Allocates pinned memory by mmap and registers it with the driver. Memory that
 * the driver allocates would vanish if the program resets the GPU. A head of
 * HEAD bytes before the memory holds its size. A forked child does not inherit
 * the memory: copy-on-write would move pages that the GPU still uses. */
enum { HEAD = 65536 }; /* at least a page on all machines */

static void *pinned_map(size_t bytes)
{
    void *head = bytes > SIZE_MAX - 2 * (size_t)HEAD
                     ? MAP_FAILED
                     : mmap(NULL, HEAD + bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (head == MAP_FAILED)
        return NULL;
    (void)madvise(head, HEAD + bytes, MADV_DONTFORK);
    *(size_t *)head = bytes;
    return (char *)head + HEAD;
}

nw_status nw_memory_pinned_new(size_t bytes, void **out)
{
    void *memory = pinned_map(bytes), *before;
    nw_status status = NW_OK;

    if (!memory)
        return nw_fail(NW_ENOMEM, "no memory for %zu bytes", bytes);
    if (nw_memory_open()) {
        before = gpus->context();
        status = gpus->select(nw_memory_home());
        if (!status)
            status = nw_cuda_pin(memory, bytes);
        gpus->restore(before);
    }
    if (status)
        (void)munmap((char *)memory - HEAD, HEAD + bytes);
    else
        *out = memory;
    return status;
}

void nw_memory_pinned_free(void *memory)
{
    char *head;

    if (!memory)
        return;
    if (nw_memory_open())
        nw_cuda_unpin(memory);
    head = (char *)memory - HEAD;
    (void)munmap(head, HEAD + *(size_t *)(void *)head);
}
