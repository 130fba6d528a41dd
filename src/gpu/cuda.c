/* SPDX-License-Identifier: BSD-3-Clause */
/* NVIDIA GPUs by the driver alone, loaded when it is first needed: own
 * declarations, no header and no library of CUDA's. */
#include "gpu/gpu.h"

#include "base/library.h"
#include "base/status.h"

#include <stdbool.h>

/* The driver numbers its memory by integers of pointer size. */
typedef uintptr_t cu_memory;
typedef struct cu_context *cu_context;

#define CUDA_SYMBOLS(X)                                                        \
    X(init, "cuInit", (unsigned flags))                                        \
    X(get_count, "cuDeviceGetCount", (int *count))                             \
    X(get_device, "cuDeviceGet", (int *device, int ordinal))                   \
    X(retain, "cuDevicePrimaryCtxRetain", (cu_context * context, int device))  \
    X(set_current, "cuCtxSetCurrent", (cu_context context))                    \
    X(alloc, "cuMemAlloc_v2", (cu_memory * memory, size_t bytes))              \
    X(free, "cuMemFree_v2", (cu_memory memory))                                \
    X(copy_in, "cuMemcpyHtoD_v2",                                              \
      (cu_memory gpu, const void *host, size_t bytes))                         \
    X(copy_out, "cuMemcpyDtoH_v2", (void *host, cu_memory gpu, size_t bytes))

static struct {
#define CUDA_MEMBER(member, symbol, arguments) int(*member) arguments;
    CUDA_SYMBOLS(CUDA_MEMBER)
#undef CUDA_MEMBER
} cuda;

static nw_status check(int code, const char *what)
{
    return code ? nw_fail(NW_ECUDA, "the CUDA driver fails to %s: error %d",
                          what, code)
                : NW_OK;
}

static nw_status open_driver(int32_t *count)
{
    const struct nw_symbol symbols[] = {
#define CUDA_SYMBOL(member, symbol, arguments) {symbol, &cuda.member},
        CUDA_SYMBOLS(CUDA_SYMBOL)
#undef CUDA_SYMBOL
    };
    int n = 0, code;
    nw_status status =
        nw_library_load("libcuda.so.1", symbols,
                        sizeof symbols / sizeof *symbols, "to use GPUs");

    if (status)
        return status;
    code = cuda.init(0);
    if (!code)
        code = cuda.get_count(&n);
    if (code || n < 1)
        return nw_fail(NW_ENODEV, "the CUDA driver finds no GPU (error %d)",
                       code);
    *count = n;
    return NW_OK;
}

static nw_status select_gpu(int32_t gpu)
{
    cu_context context = NULL;
    int device = 0;
    int code = cuda.get_device(&device, gpu);

    if (!code)
        code = cuda.retain(&context, device);
    if (!code)
        code = cuda.set_current(context);
    return check(code, "select a GPU");
}

static nw_status alloc(size_t bytes, void **out)
{
    cu_memory memory = 0;
    nw_status status =
        check(cuda.alloc(&memory, bytes ? bytes : 1), "allocate memory");

    if (!status)
        *out = (void *)memory;
    return status;
}

static void free_memory(void *memory)
{
    if (memory)
        (void)cuda.free((cu_memory)memory);
}

static nw_status copy_in(void *gpu, const void *host, size_t bytes)
{
    return check(cuda.copy_in((cu_memory)gpu, host, bytes), "copy to a GPU");
}

static nw_status copy_out(void *host, const void *gpu, size_t bytes)
{
    return check(cuda.copy_out(host, (cu_memory)gpu, bytes), "copy from a GPU");
}

const struct nw_gpu nw_gpu_cuda = {
    .name = "cuda",
    .open = open_driver,
    .select = select_gpu,
    .alloc = alloc,
    .free = free_memory,
    .copy_in = copy_in,
    .copy_out = copy_out,
};
