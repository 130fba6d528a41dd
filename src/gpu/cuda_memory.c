/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of NVIDIA GPUs, pinned host memory, and copies between them. */
#include "gpu/cuda.h"

#include "base/library.h"
#include "base/readable.h"
#include "base/status.h"
#include "base/text.h"

enum {
    HOST_PORTABLE = 1,
    HOST_MAPPED = 2,
    ABOUT_CONTEXT = 1,
    ABOUT_KIND = 2,
    ABOUT_SYNC = 6,
    ABOUT_ID = 7,
    ABOUT_GPU = 9,
    KIND_GPU = 2,
    KIND_UNIFIED = 4,
    DMA_BUF = 1,
    /* the driver's error for memory that it did not allocate */
    NOT_ITS_OWN = 1,
};

static nw_status cuda_memory_no_memory(int code, size_t bytes)
{
    size_t left = 0, all = 0;
    int gpu = 0;
    char asked[32], free[32], total[32];

    if (nw_cuda.memory_left(&left, &all) || nw_cuda.context_device(&gpu))
        return nw_cuda_check(code, "allocate memory");
    nw_format_quantity((double)bytes, NW_UNIT_BYTES, asked, sizeof asked);
    nw_format_quantity((double)left, NW_UNIT_BYTES, free, sizeof free);
    nw_format_quantity((double)all, NW_UNIT_BYTES, total, sizeof total);
    return nw_fail(NW_ENOMEM, "GPU %d cannot hold %s: %s of %s are free", gpu,
                   asked, free, total);
}

nw_status nw_cuda_alloc(size_t bytes, void **out)
{
    cu_memory memory = 0;
    int mode = nw_cuda_relax();
    int code = nw_cuda.alloc(&memory, bytes ? bytes : 1);

    nw_cuda_unrelax(mode);
    if (code == 2)
        return cuda_memory_no_memory(code, bytes);
    if (!code)
        *out = (void *)memory;
    return nw_cuda_check(code, "allocate memory");
}

/* Frees memory; the current context need not be that of the memory, because the
 * driver finds it by the address. Waits for the GPU if `waits` is true. */
static void memory_give_back(void *memory, bool waits)
{
    struct nw_cuda_stay stay;

    if (!memory)
        return;
    if (!nw_cuda_enter(&stay) &&
        (waits || nw_cuda.free_async((cu_memory)memory, stay.stream)))
        (void)nw_cuda.free((cu_memory)memory);
    nw_cuda_leave(&stay);
}

void nw_cuda_free(void *memory)
{
    memory_give_back(memory, true);
}

void nw_cuda_drop(void *memory)
{
    memory_give_back(memory, false);
}

nw_status nw_cuda_alloc_pinned(size_t bytes, void **out)
{
    struct nw_cuda_stay stay;
    int code = nw_cuda_enter(&stay);

    if (!code)
        code = nw_cuda.alloc_host(out, bytes ? bytes : 1,
                                  HOST_PORTABLE | HOST_MAPPED);
    nw_cuda_leave(&stay);
    return nw_cuda_check(code, "allocate pinned host memory");
}

void nw_cuda_free_pinned(void *memory)
{
    struct nw_cuda_stay stay;

    if (!memory)
        return;
    if (!nw_cuda_enter(&stay))
        (void)nw_cuda.free_host(memory);
    nw_cuda_leave(&stay);
}

nw_status nw_cuda_pin(void *memory, size_t bytes)
{
    struct nw_cuda_stay stay;
    int code = nw_cuda_enter(&stay);

    if (!code)
        code = nw_cuda.pin(memory, bytes, HOST_PORTABLE | HOST_MAPPED);
    nw_cuda_leave(&stay);
    return nw_cuda_check(code, "pin host memory");
}

void nw_cuda_unpin(void *memory)
{
    struct nw_cuda_stay stay;

    if (!nw_cuda_enter(&stay))
        (void)nw_cuda.unpin(memory); /* fails after a GPU reset */
    nw_cuda_leave(&stay);
}

/* Returns whether the memory is on a GPU. After a fatal error the driver no
 * longer recognises its memory. Memory that the CPU cannot read then still
 * counts as GPU memory, so that its use gives an error and not a crash. */
bool nw_cuda_holds(const void *memory, int32_t *gpu)
{
    unsigned kind = 0;
    int ordinal = -1;
    int code = nw_cuda.attribute(&kind, ABOUT_KIND, (cu_memory)memory);
    bool found = code && code != NOT_ITS_OWN
                     ? nw_is_out_of_reach(memory)
                     : !code && (kind == KIND_GPU || kind == KIND_UNIFIED);

    if (found && nw_cuda.attribute(&ordinal, ABOUT_GPU, (cu_memory)memory))
        ordinal = -1;
    if (gpu)
        *gpu = ordinal;
    return found;
}

/* Finds start and size of the allocation that contains an address. The driver
 * can tell them only in a thread that has a context. */
static int memory_range(cu_memory at, cu_memory *start, size_t *bytes)
{
    cu_context current = NULL;
    struct nw_cuda_stay stay;
    int code = nw_cuda.get_current(&current);

    if (!code && current)
        return nw_cuda.range(start, bytes, at);
    code = nw_cuda_enter(&stay);
    if (!code)
        code = nw_cuda.range(start, bytes, at);
    nw_cuda_leave(&stay);
    return code;
}

nw_status nw_cuda_range(const void *memory, struct nw_gpu_range *out)
{
    cu_memory at = (cu_memory)memory, start = 0;
    struct nw_gpu_range range = {0};
    int code = nw_cuda.attribute(&range.id, ABOUT_ID, at);

    if (!code)
        code = memory_range(at, &start, &range.bytes);
    range.start = (void *)start;
    if (!code)
        *out = range;
    return nw_cuda_check(code, "tell whose memory that is");
}

uint64_t nw_cuda_id(const void *memory)
{
    uint64_t id = 0;

    return nw_cuda.attribute(&id, ABOUT_ID, (cu_memory)memory) ? 0 : id;
}

/* Makes all synchronous copies into this allocation, also those of the program,
 * complete when they return. By default a copy from pageable memory may finish
 * later, and so after accesses that bypass the driver. */
nw_status nw_cuda_keep_in_step(void *memory)
{
    /* ids of allocations for which this was done; the index is the last bits of
     * an id */
    static uint64_t kept[1024];
    uint64_t id = nw_cuda_id(memory);
    uint64_t *at = &kept[id % (sizeof kept / sizeof *kept)];
    struct nw_cuda_stay stay;
    unsigned on = 1;
    int code;

    if (id && __atomic_load_n(at, __ATOMIC_RELAXED) == id)
        return NW_OK;
    code = nw_cuda_enter(&stay);
    if (!code)
        code = nw_cuda.set_attribute(&on, ABOUT_SYNC, (cu_memory)memory);
    nw_cuda_leave(&stay);
    if (!code)
        __atomic_store_n(at, id, __ATOMIC_RELAXED);
    return nw_cuda_check(code, "make copies of this memory synchronous");
}

/* Looks the function up here instead of in CUDA_SYMBOLS, since older drivers
 * lack it. */
nw_status nw_cuda_dmabuf(void *memory, size_t bytes, int *out)
{
    int (*get)(void *, cu_memory, size_t, int, unsigned long long) = NULL;
    const struct nw_symbol symbol = {"cuMemGetHandleForAddressRange", &get};
    int fd = -1;
    nw_status status =
        nw_library_load("libcuda.so.1", &symbol, 1, "for dma-bufs");

    if (!status)
        status = nw_cuda_check(get(&fd, (cu_memory)memory, bytes, DMA_BUF, 0),
                               "give a dma-buf");
    if (!status)
        *out = fd;
    return status;
}

/* --- synchronous copies --- */

/* Waits for the default stream of the context in which the memory was
 * allocated, if that is not the current context. The library's stream in the
 * current context is ordered only after the default stream of the same
 * context. */
static void memory_await(const void *gpu)
{
    cu_context theirs = NULL, ours = NULL;

    if (nw_cuda.attribute(&theirs, ABOUT_CONTEXT, (cu_memory)gpu) || !theirs ||
        nw_cuda.get_current(&ours) || theirs == ours ||
        nw_cuda.set_current(theirs))
        return;
    (void)nw_cuda.stream_wait(NULL);
    (void)nw_cuda.set_current(ours);
}

/* Copies between host and GPU memory. Uses the driver functions that name the
 * GPU side. They return an error for GPU memory that was freed, whereas the
 * general copy function would treat it as host memory. */
static int memory_move(void *gpu, void *host, size_t bytes, bool in)
{
    struct nw_cuda_stay stay;
    int code = nw_cuda_enter(&stay);

    if (!code)
        memory_await(gpu);
    if (!code && in)
        code = nw_cuda.copy_in((cu_memory)gpu, host, bytes, stay.stream);
    else if (!code)
        code = nw_cuda.copy_out(host, (cu_memory)gpu, bytes, stay.stream);
    if (!code)
        code = nw_cuda.stream_wait(stay.stream);
    nw_cuda_leave(&stay);
    return code;
}

nw_status nw_cuda_copy_in(void *gpu, const void *host, size_t bytes)
{
    return nw_cuda_check(memory_move(gpu, (void *)host, bytes, true),
                         "copy to a GPU");
}

nw_status nw_cuda_copy_out(void *host, const void *gpu, size_t bytes)
{
    return nw_cuda_check(memory_move((void *)gpu, host, bytes, false),
                         "copy from a GPU");
}

nw_status nw_cuda_copy_over(void *to, const void *from, size_t bytes)
{
    struct nw_cuda_stay stay;
    int code = nw_cuda_enter(&stay);

    if (!code) {
        memory_await(from);
        memory_await(to);
        code = nw_cuda.copy((cu_memory)to, (cu_memory)from, bytes, stay.stream);
    }
    if (!code)
        code = nw_cuda.stream_wait(stay.stream);
    nw_cuda_leave(&stay);
    return nw_cuda_check(code, "copy");
}

nw_status nw_cuda_copy(void *to, const void *from, size_t bytes,
                       nw_gpu_stream stream)
{
    return nw_cuda_check(
        nw_cuda.copy((cu_memory)to, (cu_memory)from, bytes, stream), "copy");
}

static struct cu_side side_of(const void *at, size_t row, size_t plane)
{
    return (struct cu_side){
        .kind = KIND_UNIFIED,
        .memory = (cu_memory)at,
        .pitch = row,
        .height = row ? plane / row : 0,
    };
}

/* Leaves out axes with one row or plane. The driver refuses rows that are 2 GiB
 * apart or more, even if only one is copied. Planes may be farther apart, so
 * they do not become rows then. */
static struct nw_gpu_copy memory_without_axes(const struct nw_gpu_copy *box)
{
    struct nw_gpu_copy copy = *box;

    if (copy.rows == 1 &&
        (copy.planes == 1 || (copy.to_plane | copy.from_plane) >> 31 == 0)) {
        copy.rows = copy.planes;
        copy.planes = 1;
        copy.to_row = copy.to_plane;
        copy.from_row = copy.from_plane;
    }
    if (copy.rows == 1 && copy.planes == 1)
        copy.to_row = copy.from_row = copy.row_bytes;
    if (copy.planes == 1) {
        copy.to_plane = copy.to_row * copy.rows;
        copy.from_plane = copy.from_row * copy.rows;
    }
    return copy;
}

nw_status nw_cuda_copy_box(const struct nw_gpu_copy *box, nw_gpu_stream stream)
{
    const struct nw_gpu_copy whole = memory_without_axes(box), *copy = &whole;
    struct cu_copy how = {
        .from = side_of(copy->from, copy->from_row, copy->from_plane),
        .to = side_of(copy->to, copy->to_row, copy->to_plane),
        .row_bytes = copy->row_bytes,
        .rows = copy->rows,
        .planes = copy->planes,
    };
    cu_context from = NULL, to = NULL;
    int code;

    if (copy->to_gpu == copy->from_gpu)
        return nw_cuda_check(nw_cuda.copy_box(&how, stream), "copy a box");
    code = nw_cuda_context(copy->from_gpu, &from);
    if (!code)
        code = nw_cuda_context(copy->to_gpu, &to);
    how.from.kind = how.to.kind = KIND_GPU;
    how.from.context = from;
    how.to.context = to;
    if (!code)
        code = nw_cuda.copy_peer(&how, stream);
    return nw_cuda_check(code, "copy a box to another GPU");
}

nw_status nw_cuda_fill(void *to, int byte, size_t bytes, nw_gpu_stream stream)
{
    return nw_cuda_check(
        nw_cuda.fill((cu_memory)to, (unsigned char)byte, bytes, stream),
        "fill memory");
}
